//! Console users: people with a role in one org.

mod login;
mod password;
pub(crate) mod sql;

use base::{Cursor, Error, Kind, OrgId, Page, PageRequest, Result, Scope, ScopeSet, Timestamp, UserId};
use store::{OrgTx, Row, params};

pub use login::Login;

use crate::access::Access;
use crate::audit::Event;
use crate::guard::Guard;
use crate::keys::revoke_opened_by;
use crate::tenants::start_of;

/// What a person is in their org.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// May do everything, and manages owners and admins.
    Owner,
    /// May do everything else, and manages members.
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

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word)
    }

    /// What a login with this role may do.
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

/// A person.
#[derive(Clone, Debug)]
pub struct User {
    /// Their id.
    pub id: UserId,
    /// Their org.
    pub org: OrgId,
    /// Their address, lower case, unique on the instance.
    pub email: String,
    /// What they are in the org.
    pub role: Role,
    /// Whether they are locked out.
    pub disabled: bool,
    /// When they were added.
    pub created_at: Timestamp,
}

/// What a new user is made from.
pub struct NewUser {
    /// Their address.
    pub email: String,
    /// What they are in the org.
    pub role: Role,
    /// Their first password.
    pub password: String,
}

/// What changes of a user; `None` leaves it as it is.
#[derive(Default)]
pub struct UserChange {
    /// A new role.
    pub role: Option<Role>,
    /// Locked out or not.
    pub disabled: Option<bool>,
    /// A new password.
    pub password: Option<String>,
}

impl User {
    /// What the record says of them. Their address is not in it: the record stays when they are gone.
    fn event(&self, event_type: &'static str) -> Event {
        Event::new(event_type, "user", self.id).with("role", self.role.word()).with("disabled", self.disabled)
    }

    /// Whether they can decide for the org, now.
    fn is_owner(&self) -> bool {
        self.role == Role::Owner && !self.disabled
    }

    fn from_row(org: &OrgId, row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: UserId::from_row(row.text(0)?),
            org: *org,
            email: row.get(1)?,
            role: Role::parse(row.text(2)?).unwrap_or(Role::Member),
            disabled: row.get(3)?,
            created_at: row.get(4)?,
        })
    }
}

/// The org's users, for a management call.
pub struct Users<'a> {
    guard: &'a Guard,
    access: &'a Access,
}

impl Guard {
    /// The users of the org that `access` was let into.
    pub fn users<'a>(&'a self, access: &'a Access) -> Users<'a> {
        Users { guard: self, access }
    }
}

impl Users<'_> {
    /// Adds a person. One address is one person on the whole instance.
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
                    access.record(tx, row.event("user.added"))?;
                }
                Ok(made)
            })
            .await?;
        if made == 0 {
            return Err(Error::new(Kind::Conflict, "there is a user with this address already"));
        }
        Ok(user)
    }

    /// One person.
    pub async fn get(&self, id: &UserId) -> Result<Option<User>> {
        require_sight(self.access)?;
        self.access.rows.first(sql::GET, &params![id], |row| User::from_row(self.access.org(), row)).await
    }

    /// Everyone, newest first.
    pub async fn list(&self, page: &PageRequest) -> Result<Page<User>> {
        require_sight(self.access)?;
        let start = start_of(page);
        let params = params![start.created_at, start.id, start.rows];
        let rows = self.access.rows.query(sql::LIST, &params, |row| User::from_row(self.access.org(), row)).await?;
        Ok(Page::from_rows(rows, page.rows, |user| Cursor { created_at: user.created_at, id: user.id.to_string() }))
    }

    /// Changes a person. Their logins end, and the keys of the sessions they opened are dead, so that the change holds from the
    /// next request.
    pub async fn change(&self, id: &UserId, change: UserChange) -> Result<Option<User>> {
        if let Some(role) = change.role {
            require_rank(self.access, role)?;
        }
        // The slow part first: what is read below must still hold when it is written.
        let hash = match change.password {
            Some(password) => Some(self.guard.hash_password(password).await?),
            None => None,
        };
        let (id, now, access) = (*id, self.access.clock.now(), self.access.clone());
        self.access
            .write(move |tx| {
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
                tx.execute(sql::DELETE_LOGINS, &params![id])?;
                revoke_opened_by(tx, &id, now)?;
                access.record(tx, user.event("user.changed").with("newPassword", hash.is_some()))?;
                Ok(Some(user))
            })
            .await
    }

    /// Removes a person, their logins, and the keys of the sessions they opened.
    pub async fn delete(&self, id: &UserId) -> Result<bool> {
        let (id, now, access) = (*id, self.access.clock.now(), self.access.clone());
        self.access
            .write(move |tx| {
                let Some(user) = tx.first(sql::GET, &params![id], |row| User::from_row(access.org(), row))? else {
                    return Ok(false);
                };
                require_rank(&access, user.role)?;
                if user.is_owner() {
                    require_other_owner(tx, &id)?;
                }
                tx.execute(sql::DELETE_LOGINS, &params![id])?;
                revoke_opened_by(tx, &id, now)?;
                access.record(tx, user.event("user.removed"))?;
                Ok(tx.execute(sql::DELETE, &params![id])? > 0)
            })
            .await
    }
}

/// People belong to the whole org: a key for some projects has no business with them.
fn require_sight(access: &Access) -> Result<()> {
    if access.cover.is_all() {
        return Ok(());
    }
    Err(Error::new(Kind::NotPermitted, "a key for some projects does not see the org's people"))
}

/// Only an owner's login and the instance admin manage owners and admins: a key that could make such a login, or set its password,
/// could do through it what is kept for people. Members are managed by everyone who can do at least what members can.
fn require_rank(access: &Access, role: Role) -> Result<()> {
    access.require_cover(role.scopes())?;
    access.require_reach(None)?;
    if role == Role::Member || access.require_owner().is_ok() {
        return Ok(());
    }
    let message = "only an owner who is logged in, or the instance admin, manages owners and admins: other logins and keys manage \
                   members";
    Err(Error::new(Kind::NotPermitted, message))
}

/// Refuses what would leave an org that has owners without any: only owners name owners, so nobody in the org could undo that.
fn require_other_owner(tx: &mut OrgTx<'_, '_>, id: &UserId) -> Result<()> {
    if tx.first(sql::OTHER_OWNER, &params![id], |_| Ok(()))?.is_some() {
        return Ok(());
    }
    Err(Error::new(Kind::Conflict, "this is the org's last owner: name another owner first"))
}

/// An address in the one form that is stored and looked up. Whether mail reaches it is not ours to know.
pub(crate) fn checked_email(email: &str) -> Result<String> {
    let email = email.trim().to_lowercase();
    let parts = email.split_once('@');
    let well_formed = parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'));
    let printable = email.chars().all(|c| !c.is_whitespace() && !c.is_control());
    if !well_formed || !printable || email.len() > 254 {
        return Err(Error::invalid("email", "that is not an address of the form name@host"));
    }
    Ok(email)
}
