//! Console logins: a cookie, a CSRF token beside it, twelve hours.

use std::sync::Arc;

use base::limits::{LOGIN_FAILURES_PER_ACCOUNT_FACTOR, LOGIN_TTL_MS};
use base::secret::{SecretHash, mint};
use base::{OrgId, RequestId, Timestamp, UserId};
use store::params;

use super::{Role, User, sql};
use crate::access::{Access, Credential, Who};
use crate::audit::{By, Event};
use crate::failures::Attempts;
use crate::guard::Guard;
use crate::keys::ProjectCover;
use crate::refusal::Refusal;
use crate::standing::Standing;

const LOGIN_PREFIX: &str = "tcl_";
const CSRF_PREFIX: &str = "tcc_";

/// A fresh login.
#[derive(Debug)]
pub struct Login {
    /// Who logged in.
    pub user: User,
    /// The cookie's value.
    pub cookie: String,
    /// What a changing request carries in `x-csrf-token`.
    pub csrf: String,
}

/// A login found by its cookie.
struct LoginRow {
    user: User,
    expires_at: Timestamp,
}

/// The CSRF token of a login. Only who knows the cookie can compute it, so it need not be stored.
fn csrf_of(cookie: &str) -> String {
    format!("{CSRF_PREFIX}{}", SecretHash::of(&format!("csrf:{cookie}")).hex())
}

impl Guard {
    /// Logs a person in who calls from `address`, a single one or a whole network. Unknown, wrong and disabled look and cost the same.
    pub async fn log_in(&self, email: &str, password: String, address: &str, request: RequestId) -> Result<Login, Refusal> {
        let email = super::checked_email(email).unwrap_or_default();
        // A name from outside is hashed, so that a long one costs no more memory than a short one. Guesses from one address lock
        // that address out of the account, not its owner; only guesses from very many addresses lock everyone out.
        let (account, max) = (SecretHash::of(&email).hex(), self.limits.login_failures_per_minute);
        let names = [
            Attempts { name: format!("login:{account}/{address}"), max },
            Attempts { name: format!("account:{account}"), max: max.saturating_mul(LOGIN_FAILURES_PER_ACCOUNT_FACTOR) },
        ];
        self.failures.attempt(&names)?;
        let found = self
            .store
            .first(sql::BY_EMAIL, &params![email], |row| {
                let user = (OrgId::from_row(row.text(0)?), UserId::from_row(row.text(1)?));
                Ok((user, row.get::<String>(2)?, row.get::<bool>(3)?))
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

    /// Starts a login, unless the person was locked out or got another password since `verified` was read.
    async fn start_login(&self, org: OrgId, user: UserId, verified: String, request: RequestId) -> Result<Login, Refusal> {
        let (cookie, now) = (mint(LOGIN_PREFIX), self.clock.now());
        let (hash, of, ledger) = (SecretHash::of(&cookie).hex(), org, Arc::clone(&self.ledger));
        let user = self
            .rows_of(&org)
            .write(move |tx| {
                if tx.first(sql::STILL_ENABLED, &params![user, verified], |_| Ok(()))?.is_none() {
                    return Ok(None);
                }
                tx.execute(sql::DELETE_EXPIRED_LOGINS, &params![now])?;
                tx.execute(sql::INSERT_LOGIN, &params![hash, user, now, now.plus_ms(LOGIN_TTL_MS)])?;
                ledger.write(tx, &By::user(&user, request), Event::new("user.logged_in", "user", user))?;
                tx.first(sql::GET, &params![user], |row| User::from_row(&of, row))
            })
            .await?;
        let user = user.ok_or(Refusal::Unauthorized)?;
        Ok(Login { user, csrf: csrf_of(&cookie), cookie })
    }

    /// Who a login cookie belongs to, and the CSRF token that goes with it.
    pub async fn logged_in(&self, cookie: &str) -> Result<(User, String), Refusal> {
        let row = self.login_row(cookie).await?;
        Ok((row.user, csrf_of(cookie)))
    }

    /// Ends a login. An unknown one has ended already.
    pub async fn log_out(&self, cookie: &str, request: RequestId) -> Result<(), Refusal> {
        let Ok(row) = self.login_row(cookie).await else {
            return Ok(());
        };
        let (hash, user, ledger) = (SecretHash::of(cookie).hex(), row.user.id, Arc::clone(&self.ledger));
        let rows = self.rows_of(&row.user.org);
        let write = rows.write(move |tx| {
            if tx.execute(sql::DELETE_LOGIN, &params![hash])? > 0 {
                ledger.write(tx, &By::user(&user, request), Event::new("user.logged_out", "user", user))?;
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
        let who = Who::User { id: row.user.id, role };
        let access = self.make_access(&row.user.org, who, role.scopes(), ProjectCover::All);
        if credential.changes && !csrf_matches {
            return Err(Refusal::ForbiddenTo(access.requester()));
        }
        self.require_own(&row.user.org, org).await?;
        Ok(Access { standing: Standing::Login(SecretHash::of(cookie)), ..access })
    }

    async fn login_row(&self, cookie: &str) -> Result<LoginRow, Refusal> {
        let row = self
            .store
            .first(sql::LOGIN, &params![SecretHash::of(cookie).hex()], |row| {
                let user = User {
                    id: UserId::from_row(row.text(2)?),
                    org: OrgId::from_row(row.text(0)?),
                    email: row.get(4)?,
                    role: Role::parse(row.text(3)?).unwrap_or(Role::Member),
                    disabled: row.get(5)?,
                    created_at: row.get(6)?,
                };
                Ok(LoginRow { user, expires_at: row.get(1)? })
            })
            .await?;
        row.filter(|row| !row.user.disabled && row.expires_at > self.clock.now()).ok_or(Refusal::Unauthorized)
    }
}
