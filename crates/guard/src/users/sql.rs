//! Console users and their logins.

pub(crate) const INSERT: &str = "INSERT INTO users (org_id, id, email, role, password_hash, disabled, created_at)
     VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6) ON CONFLICT DO NOTHING";

pub(crate) const GET: &str = "SELECT id, email, role, disabled, created_at FROM users WHERE org_id = ?1 AND id = ?2";

pub(crate) const LIST: &str = "SELECT id, email, role, disabled, created_at FROM users
     WHERE org_id = ?1 AND (created_at < ?2 OR (created_at = ?2 AND id < ?3))
     ORDER BY created_at DESC, id DESC LIMIT ?4";

pub(crate) const UPDATE: &str = "UPDATE users SET role = ?3, disabled = ?4 WHERE org_id = ?1 AND id = ?2";

pub(crate) const SET_PASSWORD: &str = "UPDATE users SET password_hash = ?3 WHERE org_id = ?1 AND id = ?2";

pub(crate) const STILL_ENABLED: &str =
    "SELECT id FROM users WHERE org_id = ?1 AND id = ?2 AND password_hash = ?3 AND disabled = 0";

/// Another owner of the org who is not disabled.
pub(crate) const OTHER_OWNER: &str =
    "SELECT id FROM users WHERE org_id = ?1 AND id <> ?2 AND role = 'owner' AND disabled = 0 LIMIT 1";

pub(crate) const DELETE: &str = "DELETE FROM users WHERE org_id = ?1 AND id = ?2";

pub(crate) const DELETE_LOGINS: &str = "DELETE FROM logins WHERE org_id = ?1 AND user_id = ?2";

pub(crate) const DELETE_EXPIRED_LOGINS: &str = "DELETE FROM logins WHERE org_id = ?1 AND expires_at <= ?2";

pub(crate) const ANY_EXPIRED_LOGIN: &str = "SELECT user_id FROM logins WHERE org_id = ?1 AND expires_at <= ?2 LIMIT 1";

pub(crate) const DELETE_SOME_EXPIRED_LOGINS: &str = "DELETE FROM logins WHERE org_id = ?1 AND token_hash IN
     (SELECT token_hash FROM logins WHERE org_id = ?1 AND expires_at <= ?2 LIMIT ?3)";

/// Finds a user before the org is known.
pub(crate) const BY_EMAIL: &str = "SELECT org_id, id, password_hash, disabled FROM users WHERE email = ?1";

pub(crate) const INSERT_LOGIN: &str = "INSERT INTO logins (org_id, token_hash, user_id, created_at, expires_at)
     VALUES (?1, ?2, ?3, ?4, ?5)";

/// Finds a login before the org is known.
pub(crate) const LOGIN: &str = "SELECT l.org_id, l.expires_at, u.id, u.role, u.email, u.disabled, u.created_at
     FROM logins l JOIN users u ON u.org_id = l.org_id AND u.id = l.user_id WHERE l.token_hash = ?1";

pub(crate) const DELETE_LOGIN: &str = "DELETE FROM logins WHERE org_id = ?1 AND token_hash = ?2";
