//! Whether the credential that a management call came in with is still good when the call changes something.
//!
//! A caller is let in before its body is read, and it may hold the body back for minutes. Whoever was locked out meanwhile must not
//! mint a key with what it still holds, so the change's own transaction looks again.

use base::secret::SecretHash;
use base::{Error, KeyId, Kind, Result, Timestamp};
use store::{OrgTx, params};

use crate::identify::sql;

/// What a caller was let in with.
#[derive(Clone, Debug)]
pub(crate) enum Standing {
    /// Nothing: it is the server itself.
    Server,
    /// The instance admin's key, by its hash.
    InstanceKey(SecretHash),
    /// An API key.
    Key(KeyId),
    /// A login, by its cookie's hash.
    Login(SecretHash),
}

impl Standing {
    /// Fails when what the caller was let in with is dead by now.
    pub(crate) fn check(&self, tx: &mut OrgTx<'_, '_>, now: Timestamp) -> Result<()> {
        let found = match self {
            Standing::Server => return Ok(()),
            Standing::InstanceKey(key) => tx.first(sql::INSTANCE_KEY_STANDS, &params![key.hex()], |_| Ok(()))?,
            Standing::Key(id) => tx.first(sql::KEY_STANDS, &params![id, now], |_| Ok(()))?,
            Standing::Login(cookie) => tx.first(sql::LOGIN_STANDS, &params![cookie.hex(), now], |_| Ok(()))?,
        };
        found.ok_or_else(|| {
            Error::new(Kind::NotPermitted, "what you came in with is no longer good: log in again, or use a key that lives")
        })
    }
}
