//! Who a request is: from the credential it presents to a [`Caller`], remembered until the org's change number moves.
//!
//! The number is read before the rows, so a cached caller can only ever be too old, never wrongly fresh.

mod agent;
mod forbidden;
mod key;
mod session;
pub(crate) mod sql;

use std::sync::Arc;

use base::secret::SecretHash;
use base::{Principal, SessionId, Timestamp};
use policy::Compiled;

use crate::guard::Guard;
use crate::rate::{Allowance, UnderWay};
use crate::refusal::Refusal;

pub(crate) use key::Presented;

/// What every API key begins with.
pub(crate) const KEY_PREFIX: &str = "rsk_";

/// The bucket that the instance admin draws on in an org.
const INSTANCE_BUCKET: &str = "instance";

/// A caller is remembered by what it presented, and where.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum CredentialKey {
    Session(SecretHash, SessionId),
    Token(SecretHash),
}

/// A principal, and what the door must look at again on every request.
pub struct Caller {
    principal: Principal,
    change_number: u64,
    /// When the credential stops being one (401).
    credential_expires_at: Option<Timestamp>,
    /// When the session ends by itself (410).
    session_expires_at: Option<Timestamp>,
    allowance: Allowance,
    policies: Arc<Compiled>,
}

impl Caller {
    /// Who it is.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// The org's change number when this caller was read: what is derived from it may be kept for as long as it stands.
    pub fn change_number(&self) -> u64 {
        self.change_number
    }

    /// The policies that decide for it.
    pub fn policies(&self) -> &Compiled {
        &self.policies
    }

    /// Takes `calls` from the caller's rate limit, then from its org's: all or none of each.
    pub async fn take(&self, calls: u32) -> Result<(), Refusal> {
        self.allowance.take(calls).await
    }

    /// Takes one call from the rate limit and a place among the requests under way, before anything of the request is read.
    pub async fn begin(&self) -> Result<UnderWay, Refusal> {
        self.allowance.take(1).await?;
        self.allowance.enter()
    }
}

impl Guard {
    /// The remembered caller, if nothing has changed since it was read.
    async fn remembered(&self, credential: &CredentialKey) -> Result<Option<Arc<Caller>>, Refusal> {
        let Some(caller) = self.callers.get(credential) else {
            return Ok(None);
        };
        if self.store.change_number(&caller.principal.org).await? != caller.change_number {
            return Ok(None);
        }
        self.still_good(&caller).map(|()| Some(caller))
    }

    /// Time passes without a change number.
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

/// The secret of an `Authorization: Bearer …` header.
pub(crate) fn bearer(authorization: Option<&str>) -> Result<&str, Refusal> {
    let (scheme, secret) = authorization.and_then(|value| value.trim().split_once(' ')).ok_or(Refusal::Unauthorized)?;
    let secret = secret.trim();
    if scheme.eq_ignore_ascii_case("bearer") && !secret.is_empty() { Ok(secret) } else { Err(Refusal::Unauthorized) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bearer_headers() {
        assert_eq!(bearer(Some("Bearer abc")).ok(), Some("abc"));
        assert_eq!(bearer(Some("bearer  abc ")).ok(), Some("abc"));
        for bad in [None, Some(""), Some("Bearer"), Some("Bearer "), Some("Basic abc"), Some("abc")] {
            assert!(bearer(bad).is_err(), "{bad:?}");
        }
    }
}
