//! Identifies the caller of a request by its credential. A [`Caller`] is cached until the org's change number moves.
//!
//! The change number is read before the rows, so a cached caller never counts as newer than its rows.

mod agent;
mod key;
mod session;
pub(crate) mod sql;

use std::sync::Arc;

use base::secret::SecretHash;
use base::{Principal, ProjectId, ProjectView, SessionId, Timestamp};
use policy::Compiled;
use store::Row;

use crate::guard::Guard;
use crate::rate::{Allowance, UnderWay};
use crate::refusal::Refusal;

pub(crate) use key::Presented;

/// The prefix of every API key.
pub(crate) const KEY_PREFIX: &str = "rsk_";

/// The name of the instance admin's rate bucket in an org.
const INSTANCE_BUCKET: &str = "instance";

/// The cache key of a caller: its credential and the door.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum CredentialKey {
    Session(SecretHash, SessionId),
    Token(SecretHash),
}

/// A principal, and the deadlines that are checked on every request.
pub struct Caller {
    principal: Principal,
    change_number: u64,
    /// When the credential expires (401).
    credential_expires_at: Option<Timestamp>,
    /// When the session expires (410).
    session_expires_at: Option<Timestamp>,
    allowance: Allowance,
    policies: Arc<Compiled>,
}

impl Caller {
    /// Who it is.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// The org's change number when this caller was read. Data derived from the caller may be cached while it stays the same.
    pub fn change_number(&self) -> u64 {
        self.change_number
    }

    /// The policies that apply to it.
    pub fn policies(&self) -> &Compiled {
        &self.policies
    }

    /// Charges `calls` to the rate limits of the caller and its org, all or none for each.
    pub async fn take(&self, calls: u32) -> Result<(), Refusal> {
        self.allowance.take(calls).await
    }

    /// Charges one call and takes a slot, before the request's body is read.
    pub async fn begin(&self) -> Result<UnderWay, Refusal> {
        self.allowance.take(1).await?;
        self.allowance.enter()
    }
}

/// The project that a session or an agent is in.
fn project_from_row(row: &Row<'_>) -> base::Result<ProjectView> {
    let root = row.get::<Option<String>>("root")?;
    Ok(ProjectView {
        id: ProjectId::from_row(row.text("project_id")?),
        has_code: root.is_some() || row.get("has_files")?,
        root: root.map(Arc::from),
        memory_enabled: row.get("memory_enabled")?,
        graph_enabled: row.get("graph_enabled")?,
    })
}

impl Guard {
    /// The cached caller, if the org has not changed since.
    async fn remembered(&self, credential: &CredentialKey) -> Result<Option<Arc<Caller>>, Refusal> {
        let Some(caller) = self.callers.get(credential) else {
            return Ok(None);
        };
        if self.store.change_number(&caller.principal.org).await? != caller.change_number {
            return Ok(None);
        }
        self.still_good(&caller).map(|()| Some(caller))
    }

    /// Checks the deadlines, because expiry does not move the change number.
    fn still_good(&self, caller: &Caller) -> Result<(), Refusal> {
        let now = self.clock.now();
        if caller.credential_expires_at.is_some_and(|expires_at| expires_at <= now) {
            return Err(Refusal::Unauthorized);
        }
        if caller.session_expires_at.is_some_and(|expires_at| expires_at <= now) {
            return Err(Refusal::SessionEnded);
        }
        Ok(())
    }
}

/// The token of an `Authorization: Bearer …` header.
pub(crate) fn bearer(authorization: Option<&str>) -> Result<&str, Refusal> {
    let (scheme, secret) = authorization.and_then(|value| value.trim().split_once(' ')).ok_or(Refusal::Unauthorized)?;
    let secret = secret.trim();
    if scheme.eq_ignore_ascii_case("bearer") && !secret.is_empty() { Ok(secret) } else { Err(Refusal::Unauthorized) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bearer_header_is_parsed() {
        assert_eq!(bearer(Some("Bearer abc")).ok(), Some("abc"));
        assert_eq!(bearer(Some("bearer  abc ")).ok(), Some("abc"));
        for bad in [None, Some(""), Some("Bearer"), Some("Bearer "), Some("Basic abc"), Some("abc")] {
            assert!(bearer(bad).is_err(), "{bad:?}");
        }
    }
}
