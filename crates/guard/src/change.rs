//! Changes of an org's rows. Each has a seal, which checks the credential again before the change and writes an audit entry after it.
//!
//! A caller is authenticated before its body is read, and it may delay the body for minutes. A credential that was revoked in the
//! meantime must not change anything, so the transaction of the change checks it again.
//!
//! | who changes | seal |
//! |---|---|
//! | `guard`, for a management call | [`Recorded`]: the transaction writes its own entry, and fails without one |
//! | a domain, for a management call | [`RecordedAs`]: writes the entry of the route |
//! | a tool | `record::CallSeal`: writes the call's entry |
//! | the server itself | [`Unrecorded`]: expired rows, queues, indexes and deliveries need no entry |

use std::sync::Arc;

use base::secret::SecretHash;
use base::{Clock, Error, KeyId, Kind, OrgId, Result, Timestamp};
use store::{Change, OrgStore, OrgTx, Seal, Unrecorded, params};

use crate::access::Access;
use crate::audit::Event;
use crate::guard::Guard;
use crate::identify::sql;

/// The credential to check again before a change.
#[derive(Clone, Debug)]
pub(crate) enum Standing {
    /// None: the server itself, or a caller that is authenticated in the same transaction.
    Server,
    /// The hash of the instance admin's key.
    InstanceKey(SecretHash),
    /// An API key.
    Key(KeyId),
    /// The hash of a login's cookie.
    Login(SecretHash),
}

impl Standing {
    /// Fails if the credential was revoked or has expired.
    fn check(&self, tx: &mut OrgTx<'_, '_>, now: Timestamp) -> Result<()> {
        let found = match self {
            Standing::Server => return Ok(()),
            Standing::InstanceKey(key) => tx.first(sql::INSTANCE_KEY_STANDS, &params![key.hex()], |_| Ok(()))?,
            Standing::Key(id) => tx.first(sql::KEY_STANDS, &params![id, now], |_| Ok(()))?,
            Standing::Login(cookie) => tx.first(sql::LOGIN_STANDS, &params![cookie.hex(), now], |_| Ok(()))?,
        };
        found.ok_or_else(|| Error::new(Kind::NotPermitted, "credential revoked or expired; log in again, or use another key"))
    }
}

impl Access {
    /// A change by this caller, audited in the same transaction.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        job: impl FnMut(&mut OrgTx<'_, '_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.change().write(job).await
    }

    /// Changes by this caller. The first one must write its own audit entry.
    pub(crate) fn change(&self) -> Change {
        recorded(&self.rows, self.standing.clone(), self.clock.clone())
    }

    /// Changes of a domain's rows by this caller. The first one writes `event` to the audit trail.
    pub fn change_as(&self, event: Event) -> Change {
        sealed(&self.rows, RecordedAs { access: self.clone(), event })
    }

    /// Access for the remaining steps of a started operation. The credential is not checked again, because the first step may have
    /// revoked it.
    pub(crate) fn to_the_end(&self) -> Self {
        Self { standing: Standing::Server, ..self.clone() }
    }
}

impl Guard {
    /// A change by the server itself, or by a caller that is authenticated in the same transaction. It must write its own audit entry.
    pub(crate) fn own_change(&self, org: &OrgId) -> Change {
        recorded(&self.rows_of(org), Standing::Server, self.clock.clone())
    }

    /// Maintenance by the server in an org.
    pub fn upkeep(&self, org: &OrgId) -> Change {
        upkeep(&self.rows_of(org))
    }
}

pub(crate) fn recorded(rows: &OrgStore, standing: Standing, clock: Clock) -> Change {
    sealed(rows, Recorded { standing, clock })
}

/// Maintenance of `rows`, and the entries of the trail itself.
pub(crate) fn upkeep(rows: &OrgStore) -> Change {
    sealed(rows, Unrecorded)
}

#[expect(clippy::disallowed_methods, reason = "the seals are defined here")]
pub(crate) fn sealed(rows: &OrgStore, seal: impl Seal + 'static) -> Change {
    rows.sealed_by(Arc::new(seal))
}

/// A change that writes its own entry.
struct Recorded {
    standing: Standing,
    clock: Clock,
}

impl Seal for Recorded {
    fn check(&self, tx: &mut OrgTx<'_, '_>) -> Result<()> {
        self.standing.check(tx, self.clock.now())
    }

    fn apply(&self, tx: &mut OrgTx<'_, '_>) -> Result<()> {
        if tx.is_recorded() { Ok(()) } else { Err(Error::internal("the change has no entry in the audit trail")) }
    }
}

/// A change of a domain's rows. The domain knows nothing about the audit trail.
struct RecordedAs {
    access: Access,
    event: Event,
}

impl Seal for RecordedAs {
    fn check(&self, tx: &mut OrgTx<'_, '_>) -> Result<()> {
        self.access.standing.check(tx, self.access.clock.now())
    }

    fn apply(&self, tx: &mut OrgTx<'_, '_>) -> Result<()> {
        self.access.record(tx, self.event.clone())?;
        for told in tx.told().to_vec() {
            let event = Event::new(told.kind, told.entity_type, told.id).with("togetherWith", self.event.entity_id.as_str());
            self.access.record(tx, event)?;
        }
        Ok(())
    }
}
