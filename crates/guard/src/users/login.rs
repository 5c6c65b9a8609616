//! Console logins: a password, then a cookie and a CSRF token, valid for twelve hours. Passwords are hashed with argon2id and its
//! recommended memory, a few at a time, not on runtime threads.

use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash};
use base::limits::{LOGIN_FAILURES_PER_ACCOUNT_FACTOR, LOGIN_TTL_MS, PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN};
use base::secret::{SecretHash, mint};
use base::{Error, EventKind, Kind, OrgId, RequestId, Result, Timestamp, UserId};
use store::params;

use super::{User, sql};
use crate::access::{Access, Credential, Manager};
use crate::audit::{By, Event};
use crate::change::Standing;
use crate::failures::Attempts;
use crate::guard::Guard;
use crate::keys::ProjectCover;
use crate::refusal::Refusal;

const LOGIN_PREFIX: &str = "tcl_";
const CSRF_PREFIX: &str = "tcc_";
/// A hash that matches no password. An unknown account is checked against it, so that it costs the same.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$dG9vbGNyaWIgbm9ib2R5$uN0QwzGqZ0h9fYvYxHkqfC1qkQnN2b4hTn1q0s0m3dY";

/// A new login.
#[derive(Debug)]
pub struct Login {
    /// The user.
    pub user: User,
    /// The cookie's value.
    pub cookie: String,
    /// The CSRF token, which changing requests send as `x-csrf-token`.
    pub csrf: String,
}

/// A login found by its cookie.
struct LoginRow {
    user: User,
    expires_at: Timestamp,
}

/// The CSRF token of a login. It is derived from the secret cookie, so it need not be stored.
fn csrf_of(cookie: &str) -> String {
    format!("{CSRF_PREFIX}{}", SecretHash::of(&format!("csrf:{cookie}")).hex())
}

impl Guard {
    /// Logs in a user from `address`, which may stand for a whole network. Unknown, wrong and disabled accounts look and cost the same.
    pub async fn log_in(&self, email: &str, password: String, address: &str, request: RequestId) -> Result<Login, Refusal> {
        let email = super::checked_email(email).unwrap_or_default();
        // The name comes from the caller, so it is hashed: a long one needs no more memory than a short one. Guesses from one address lock
        // that address out of the account, but not its owner. Only guesses from very many addresses lock everyone out.
        let (account, max) = (SecretHash::of(&email).hex(), self.limits.login_failures_per_minute);
        let names = [
            Attempts { name: format!("login:{account}/{address}"), max },
            Attempts { name: format!("account:{account}"), max: max.saturating_mul(LOGIN_FAILURES_PER_ACCOUNT_FACTOR) },
        ];
        self.failures.attempt(&names)?;
        let found = self
            .store
            .first(sql::BY_EMAIL, &params![email], |row| {
                let user = (OrgId::from_row(row.text("org_id")?), UserId::from_row(row.text("id")?));
                Ok((user, row.get::<String>("password_hash")?, row.get::<bool>("disabled")?))
            })
            .await?;
        let stored = found.as_ref().map(|(_, hash, _)| hash.clone());
        let right = self.password_matches(password, stored).await?;
        match found {
            Some(((org, user), hash, false)) if right => {
                let login = self.start_login(org, user, hash, request).await?;
                self.failures.forgive(&names);
                Ok(login)
            }
            _ => Err(Refusal::Unauthorized),
        }
    }

    /// Starts a login, unless the user was disabled or got another password since `verified` was read.
    async fn start_login(&self, org: OrgId, user: UserId, verified: String, request: RequestId) -> Result<Login, Refusal> {
        let (cookie, now) = (mint(LOGIN_PREFIX), self.clock.now());
        let (hash, of, ledger) = (SecretHash::of(&cookie).hex(), org, Arc::clone(&self.ledger));
        let user = self
            .own_change(&org)
            .write(move |tx| {
                if tx.first(sql::STILL_ENABLED, &params![user, verified], |_| Ok(()))?.is_none() {
                    return Ok(None);
                }
                tx.execute(sql::DELETE_EXPIRED_LOGINS, &params![now])?;
                tx.execute(sql::INSERT_LOGIN, &params![hash, user, now, now.plus_ms(LOGIN_TTL_MS)])?;
                ledger.write(tx, &By::user(&user, request), Event::new(EventKind::UserLoggedIn, "user", user))?;
                tx.first(sql::GET, &params![user], |row| User::from_row(&of, row))
            })
            .await?;
        let user = user.ok_or(Refusal::Unauthorized)?;
        Ok(Login { user, csrf: csrf_of(&cookie), cookie })
    }

    /// The user of a login cookie, and the matching CSRF token.
    pub async fn logged_in(&self, cookie: &str) -> Result<(User, String), Refusal> {
        let row = self.login_row(cookie).await?;
        Ok((row.user, csrf_of(cookie)))
    }

    /// Ends a login. An unknown login has already ended.
    pub async fn log_out(&self, cookie: &str, request: RequestId) -> Result<(), Refusal> {
        let Ok(row) = self.login_row(cookie).await else {
            return Ok(());
        };
        let (hash, user, ledger) = (SecretHash::of(cookie).hex(), row.user.id, Arc::clone(&self.ledger));
        let change = self.own_change(&row.user.org);
        let write = change.write(move |tx| {
            if tx.execute(sql::DELETE_LOGIN, &params![hash])? > 0 {
                ledger.write(tx, &By::user(&user, request), Event::new(EventKind::UserLoggedOut, "user", user))?;
            }
            Ok(())
        });
        Ok(write.await?)
    }

    pub(crate) async fn login_access(&self, credential: &Credential<'_>, org: Option<&str>) -> Result<Access, Refusal> {
        let cookie = credential.login.ok_or(Refusal::Unauthorized)?;
        let row = self.login_row(cookie).await?;
        let expected = SecretHash::of(&csrf_of(cookie)).hex();
        let csrf_matches = credential.csrf.is_some_and(|token| SecretHash::of(token).matches(&expected));
        let role = row.user.role;
        let who = Manager::User { id: row.user.id, role };
        let access = self.make_access(&row.user.org, who, role.scopes(), ProjectCover::All);
        if credential.changes && !csrf_matches {
            self.rates.allowance_to_manage(access.org(), &access.who.label(), self.key_rate()).take(1).await?;
            let why = match credential.csrf {
                Some(_) => "the `x-csrf-token` does not belong to this login; send the token from the login's answer",
                None => "a login that changes something must send `x-csrf-token`",
            };
            return Err(Refusal::ForbiddenTo(Box::new(access.requester()), why));
        }
        self.require_own(&row.user.org, org).await?;
        Ok(Access { standing: Standing::Login(SecretHash::of(cookie)), ..access })
    }

    async fn login_row(&self, cookie: &str) -> Result<LoginRow, Refusal> {
        let row = self
            .store
            .first(sql::LOGIN, &params![SecretHash::of(cookie).hex()], |row| {
                let org = OrgId::from_row(row.text("org_id")?);
                Ok(LoginRow { user: User::from_row(&org, row)?, expires_at: row.get("expires_at")? })
            })
            .await?;
        row.filter(|row| !row.user.disabled && row.expires_at > self.clock.now()).ok_or(Refusal::Unauthorized)
    }
}

impl Guard {
    /// Hashes a new password.
    pub(crate) async fn hash_password(&self, password: String) -> Result<String> {
        let chars = password.chars().count();
        if !(PASSWORD_CHARS_MIN..=PASSWORD_CHARS_MAX).contains(&chars) {
            return Err(Error::new(
                Kind::InvalidParams,
                format!("a password must have {PASSWORD_CHARS_MIN} to {PASSWORD_CHARS_MAX} characters"),
            ));
        }
        let hash = move || {
            let salt = base::secret::random_bytes::<16>();
            let hash = Argon2::default().hash_password_with_salt(password.as_bytes(), &salt).map_err(Error::internal)?;
            Ok(hash.to_string())
        };
        self.password_hashes.run(hash).await?
    }

    /// Whether `password` matches `stored`. Without a stored hash, the same work is done and the result is false.
    pub(crate) async fn password_matches(&self, password: String, stored: Option<String>) -> Result<bool> {
        let verify = move || {
            let known = stored.is_some();
            let stored = stored.unwrap_or_else(|| NOBODY.to_owned());
            let hash = PasswordHash::new(&stored).map_err(Error::internal)?;
            Ok(Argon2::default().verify_password(password.as_bytes(), &hash).is_ok() && known)
        };
        self.password_hashes.run(verify).await?
    }
}
