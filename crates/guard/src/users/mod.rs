//! Console users, each with a role in one org.

mod login;
pub(crate) mod sql;

use base::limits::EMAIL_CHARS_MAX;
use base::{Cursor, Error, EventKind, Kind, OrgId, Page, PageRequest, Result, Scope, ScopeSet, Timestamp, UserId};
use store::{OrgTx, Row, params};

pub use login::Login;

use crate::access::Access;
use crate::audit::Event;
use crate::guard::Guard;
use crate::keys::{Creator, Descendants};
use crate::sessions::end_sessions_opened_by_user;
use crate::tenants::start_of;

/// A user's role in the org.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Has all rights, and manages owners and admins.
    Owner,
    /// Has all other rights, and manages members.
    Admin,
    /// May read.
    Member,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 3] = [Role::Owner, Role::Admin, Role::Member];

    /// The word in requests and rows.
    pub const fn word(self) -> &'static str {
        match self {
            Role::Owner => "owner",
            Role::Admin => "admin",
            Role::Member => "member",
        }
    }

    /// Parses the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word)
    }

    /// The scopes of a login with this role.
    pub fn scopes(self) -> ScopeSet {
        match self {
            Role::Owner | Role::Admin => ScopeSet::EVERYTHING,
            Role::Member => ScopeSet::of(&[
                Scope::OrgRead,
                Scope::BricksRead,
                Scope::KitsRead,
                Scope::MemoryRead,
                Scope::GraphRead,
                Scope::AuditRead,
                Scope::MetricsRead,
            ]),
        }
    }
}

/// A user.
#[derive(Clone, Debug)]
pub struct User {
    /// Their id.
    pub id: UserId,
    /// Their org.
    pub org: OrgId,
    /// Their email address in lower case, unique on the instance.
    pub email: String,
    /// Their role in the org.
    pub role: Role,
    /// Whether they are disabled.
    pub disabled: bool,
    /// When they were added.
    pub created_at: Timestamp,
}

/// Data of a new user.
pub struct NewUser {
    /// Their email address.
    pub email: String,
    /// Their role in the org.
    pub role: Role,
    /// Their first password.
    pub password: String,
}

/// A change of a user. `None` keeps the current value.
#[derive(Default)]
pub struct UserChange {
    /// A new role.
    pub role: Option<Role>,
    /// Disabled or not.
    pub disabled: Option<bool>,
    /// A new password.
    pub password: Option<String>,
}

impl User {
    /// The audit event. It omits their email address, because the trail outlives the user.
    fn event(&self, kind: EventKind) -> Event {
        Event::new(kind, "user", self.id).with("role", self.role.word()).with("disabled", self.disabled)
    }

    /// Whether they are an owner who is not disabled.
    fn is_owner(&self) -> bool {
        self.role == Role::Owner && !self.disabled
    }

    fn from_row(org: &OrgId, row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: UserId::from_row(row.text("id")?),
            org: *org,
            email: row.get("email")?,
            role: Role::parse(row.text("role")?).unwrap_or(Role::Member),
            disabled: row.get("disabled")?,
            created_at: row.get("created_at")?,
        })
    }
}

/// The org's users, for a management call.
pub struct Users<'a> {
    guard: &'a Guard,
    access: &'a Access,
}

impl Guard {
    /// The users of the caller's org.
    pub fn users<'a>(&'a self, access: &'a Access) -> Users<'a> {
        Users { guard: self, access }
    }
}

impl Users<'_> {
    /// Adds a user. An email address is unique on the whole instance.
    pub async fn create(&self, new: NewUser) -> Result<User> {
        require_rank(self.access, new.role)?;
        let email = checked_email(&new.email)?;
        let hash = self.guard.hash_password(new.password).await?;
        let now = self.access.clock.now();
        let user =
            User { id: UserId::new(now), org: *self.access.org(), email, role: new.role, disabled: false, created_at: now };
        let (row, access) = (user.clone(), self.access.clone());
        let made = self
            .access
            .write(move |tx| {
                let made = tx.execute(sql::INSERT, &params![row.id, row.email, row.role.word(), hash, row.created_at])?;
                if made > 0 {
                    access.record(tx, row.event(EventKind::UserAdded))?;
                }
                Ok(made)
            })
            .await?;
        if made == 0 {
            return Err(Error::new(Kind::Conflict, "a user with this email already exists"));
        }
        Ok(user)
    }

    /// Returns one user.
    pub async fn get(&self, id: &UserId) -> Result<Option<User>> {
        require_sight(self.access)?;
        self.access.rows.first(sql::GET, &params![id], |row| User::from_row(self.access.org(), row)).await
    }

    /// Lists all users, newest first.
    pub async fn list(&self, page: &PageRequest) -> Result<Page<User>> {
        require_sight(self.access)?;
        let start = start_of(page);
        let params = params![start.created_at, start.id, start.rows];
        let rows = self.access.rows.query(sql::LIST, &params, |row| User::from_row(self.access.org(), row)).await?;
        Ok(Page::from_rows(rows, page.rows, |user| Cursor { created_at: user.created_at, id: user.id.to_string() }))
    }

    /// Changes a user. Their logins and the sessions they opened end, so that the change applies from the next request. For a disabled
    /// user, the keys they created are listed, or with `cascade` revoked.
    pub async fn change(&self, id: &UserId, change: UserChange, cascade: bool) -> Result<Option<(User, Descendants)>> {
        if let Some(role) = change.role {
            require_rank(self.access, role)?;
        }
        if cascade && change.disabled != Some(true) {
            return Err(Error::new(Kind::InvalidParams, "`cascade` is only for a change to `disabled: true`"));
        }
        // The slow part comes first, so that the rows read below are still current when they are written.
        let hash = match change.password {
            Some(password) => Some(self.guard.hash_password(password).await?),
            None => None,
        };
        let (id, access, creator) = (*id, self.access.clone(), self.creator(id, cascade));
        let first = creator.clone();
        let write = self.access.write(move |tx| {
            let Some(mut user) = tx.first(sql::GET, &params![id], |row| User::from_row(access.org(), row))? else {
                return Ok(None);
            };
            require_rank(&access, user.role)?;
            let was_owner = user.is_owner();
            user.role = change.role.unwrap_or(user.role);
            user.disabled = change.disabled.unwrap_or(user.disabled);
            if was_owner && !user.is_owner() {
                require_other_owner(tx, &id)?;
            }
            tx.execute(sql::UPDATE, &params![id, user.role.word(), user.disabled])?;
            if let Some(hash) = &hash {
                tx.execute(sql::SET_PASSWORD, &params![id, hash])?;
            }
            access.record(tx, user.event(EventKind::UserChanged).with("newPassword", hash.is_some()))?;
            end_access(tx, &access, &id, first.now)?;
            let descendants = if user.disabled { end_lineage(tx, &first)? } else { Descendants::default() };
            Ok(Some((user, descendants)))
        });
        finished(write.await?, &creator).await
    }

    /// Removes a user and their logins, and ends the sessions they opened. The keys they created are listed, or with `cascade` revoked.
    pub async fn delete(&self, id: &UserId, cascade: bool) -> Result<Option<(User, Descendants)>> {
        let (id, access, creator) = (*id, self.access.clone(), self.creator(id, cascade));
        let first = creator.clone();
        let write = self.access.write(move |tx| {
            let Some(user) = tx.first(sql::GET, &params![id], |row| User::from_row(access.org(), row))? else {
                return Ok(None);
            };
            require_rank(&access, user.role)?;
            if user.is_owner() {
                require_other_owner(tx, &id)?;
            }
            access.record(tx, user.event(EventKind::UserRemoved))?;
            end_access(tx, &access, &id, first.now)?;
            let descendants = end_lineage(tx, &first)?;
            tx.execute(sql::DELETE, &params![id])?;
            Ok(Some((user, descendants)))
        });
        finished(write.await?, &creator).await
    }

    fn creator(&self, id: &UserId, cascade: bool) -> Creator {
        Creator { access: self.access.clone(), id: id.to_string(), cascade, now: self.access.clock.now() }
    }
}

/// Ends a user's logins and the sessions they opened.
fn end_access(tx: &mut OrgTx<'_, '_>, access: &Access, id: &UserId, now: Timestamp) -> Result<()> {
    tx.execute(sql::DELETE_LOGINS, &params![id])?;
    end_sessions_opened_by_user(tx, access, id, now)
}

/// Lists or revokes the keys that a user created.
fn end_lineage(tx: &mut OrgTx<'_, '_>, creator: &Creator) -> Result<Descendants> {
    creator.require_right_to_cascade(tx)?;
    creator.begin(tx)
}

/// Completes a cascade that did not fit one transaction.
async fn finished(found: Option<(User, Descendants)>, creator: &Creator) -> Result<Option<(User, Descendants)>> {
    let Some((user, mut descendants)) = found else {
        return Ok(None);
    };
    creator.finish(&mut descendants).await?;
    Ok(Some((user, descendants)))
}

/// Users belong to the whole org, so a key limited to some projects may not see them.
fn require_sight(access: &Access) -> Result<()> {
    if access.cover.is_all() {
        return Ok(());
    }
    Err(Error::new(Kind::NotPermitted, "a key limited to some projects may not see the org's users"))
}

/// Only an owner's login and the instance admin manage owners and admins. A key that could create such a login, or set its password,
/// would gain rights reserved for people. Callers with at least a member's rights manage members.
fn require_rank(access: &Access, role: Role) -> Result<()> {
    access.require_cover(role.scopes())?;
    access.require_reach(None)?;
    if role == Role::Member || access.require_owner().is_ok() {
        return Ok(());
    }
    let message = "only an owner who is logged in, or the instance admin, manages owners and admins; other callers may manage only \
                   members";
    Err(Error::new(Kind::NotPermitted, message))
}

/// Refuses to remove the last owner of an org. Only owners appoint owners, so nobody in the org could undo that.
fn require_other_owner(tx: &mut OrgTx<'_, '_>, id: &UserId) -> Result<()> {
    if tx.first(sql::OTHER_OWNER, &params![id], |_| Ok(()))?.is_some() {
        return Ok(());
    }
    Err(Error::new(Kind::Conflict, "this is the org's last owner; add another owner first"))
}

/// Normalizes an email address for storage and lookup. Whether it receives mail is not checked.
pub(crate) fn checked_email(email: &str) -> Result<String> {
    let email = email.trim().to_lowercase();
    let parts = email.split_once('@');
    let well_formed = parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'));
    let printable = email.chars().all(|c| !c.is_whitespace() && !c.is_control());
    if !well_formed || !printable || email.len() > EMAIL_CHARS_MAX {
        return Err(Error::new(Kind::InvalidParams, "an email address must have the form name@host"));
    }
    Ok(email)
}
