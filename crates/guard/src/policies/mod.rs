//! Policies of an org: what may be saved, what is in force, and the compiled set that decides.

mod explain;
mod in_force;
pub(crate) mod sql;

use std::sync::Arc;

use base::{Error, Kind, Result, Timestamp, limits};
use policy::{Finding, Flagged, Mode};
use sha2::{Digest, Sha256};
use store::{OrgTx, Row, params};

use crate::access::Access;
use crate::audit::{By, Event, Ledger};
use crate::guard::Guard;

pub use explain::{Explanation, Subject};
pub(crate) use in_force::InForce;

/// The policy that every new org starts with, in plain sight, to be changed or deleted like any other.
const STARTER_ID: &str = "starter";

/// One version of a policy.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Its name, unique in the org.
    pub id: String,
    /// Which version this is, from 1.
    pub version: u32,
    /// Its text; none in the version that deleted it.
    pub cedar: Option<String>,
    /// Whether it decides or is only tried.
    pub mode: Mode,
    /// Who wrote this version.
    pub created_by: String,
    /// When.
    pub created_at: Timestamp,
}

impl Policy {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            version: u32::try_from(row.get::<i64>(1)?).unwrap_or(u32::MAX),
            cedar: row.get(2)?,
            // A word that this release does not know must not switch a policy off.
            mode: Mode::parse(row.text(3)?).unwrap_or(Mode::Enforce),
            created_by: row.get(4)?,
            created_at: row.get(5)?,
        })
    }
}

/// Why a policy was not saved.
#[derive(Debug)]
pub enum NotSaved {
    /// Its text is wrong; nothing changed.
    Findings(Vec<Finding>),
    /// Something else.
    Failed(Error),
}

impl From<Error> for NotSaved {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// The org's policies, for a management call.
pub struct Policies<'a> {
    guard: &'a Guard,
    access: &'a Access,
}

impl Guard {
    /// The policies of the org that `access` was let into. They hold in every project, so a key for some has no say in them.
    pub fn policies<'a>(&'a self, access: &'a Access) -> Result<Policies<'a>> {
        access.require_reach(None)?;
        Ok(Policies { guard: self, access })
    }

    /// What policies may speak of, as a Cedar schema.
    pub fn policy_schema(&self) -> &str {
        self.in_force.model().schema_text()
    }
}

impl Policies<'_> {
    /// Those in force or on trial, by name.
    pub async fn list(&self) -> Result<Vec<Policy>> {
        self.access.rows.query(sql::IN_FORCE, &[], Policy::from_row).await
    }

    /// The versions of one, newest first; none when there never was one.
    pub async fn versions(&self, id: &str) -> Result<Vec<Policy>> {
        self.access.rows.query(sql::VERSIONS, &params![id, limits::PAGE_ROWS_MAX], Policy::from_row).await
    }

    /// Stored policies that no longer fit what policies may speak of, or cannot be read at all.
    pub async fn flagged(&self) -> Result<Vec<Flagged>> {
        let compiled = self.in_force().await?;
        let _turn = self.guard.turn().await?;
        // Checking thousands of statements takes a while: not on a thread that serves others.
        tokio::task::spawn_blocking(move || compiled.flagged().to_vec()).await.map_err(Error::internal)
    }

    async fn in_force(&self) -> Result<Arc<policy::Compiled>> {
        let number = self.guard.store.change_number(self.access.org()).await?;
        self.guard.policies_in_force(self.access.org(), number).await
    }

    /// Everything that is wrong with a text.
    pub async fn check(&self, cedar: &str) -> Result<Vec<Finding>> {
        let _turn = self.guard.turn().await?;
        Ok(self.guard.in_force.check(cedar).await?.err().unwrap_or_default())
    }

    /// Saves a policy: a new version, or the current one when nothing is different.
    pub async fn put(&self, id: &str, cedar: &str, mode: Mode) -> Result<Policy, NotSaved> {
        let id = checked_id(id)?;
        let turn = self.guard.turn().await?;
        let statements = self.guard.in_force.check(cedar).await?.map_err(NotSaved::Findings)?.len();
        drop(turn);
        let statements = i64::try_from(statements).unwrap_or(i64::MAX);
        let (by, ledger, now) = (self.access.by(), self.access.ledger.clone(), self.access.clock.now());
        let (author, cedar) = (self.access.who().label(), cedar.to_owned());
        let write = self.access.write(move |tx| {
            within_limits(tx, &id, &cedar, statements)?;
            let current = tx.first(sql::CURRENT, &params![id], Policy::from_row)?.filter(|policy| policy.cedar.is_some());
            match current {
                Some(same) if same.cedar.as_deref() == Some(cedar.as_str()) && same.mode == mode => return Ok(same),
                _ => {}
            }
            let previous_mode = current.map(|policy| policy.mode);
            let version = next_version(tx, &id)?;
            supersede(tx, &id, version, Some((&cedar, statements)), mode, &author, now)?;
            ledger.write(tx, &by, saved_event(&id, version, &cedar, mode))?;
            if let Some(previous) = previous_mode.filter(|previous| *previous != mode) {
                // Who switches a policy to a trial takes it out of force: that is an event of its own.
                let event =
                    Event::new("policy.mode_changed", "policy", &id).with("from", previous.word()).with("to", mode.word());
                ledger.write(tx, &by, event)?;
            }
            Ok(Policy { id: id.clone(), version, cedar: Some(cedar.clone()), mode, created_by: author.clone(), created_at: now })
        });
        Ok(write.await?)
    }

    /// Takes a policy out of force. Its versions stay readable.
    pub async fn delete(&self, id: &str) -> Result<bool> {
        let (by, ledger, now) = (self.access.by(), self.access.ledger.clone(), self.access.clock.now());
        let (author, id) = (self.access.who().label(), id.to_owned());
        let write = self.access.write(move |tx| {
            let current = tx.first(sql::CURRENT, &params![id], Policy::from_row)?;
            let Some(Policy { cedar: Some(_), mode, .. }) = current else {
                return Ok(false);
            };
            let version = next_version(tx, &id)?;
            supersede(tx, &id, version, None, mode, &author, now)?;
            ledger.write(tx, &by, Event::new("policy.deleted", "policy", &id).with("version", version))?;
            Ok(true)
        });
        write.await
    }
}

impl Guard {
    /// Gives the starter policy to every org of a release that knew no policies: without one nothing would be permitted.
    pub(crate) async fn give_starters(&self) -> Result<()> {
        loop {
            let row = |row: &Row<'_>| Ok(base::OrgId::from_row(row.text(0)?));
            let orgs = self.store.query(sql::ORGS_WITHOUT, &params![limits::PAGE_ROWS_MAX], row).await?;
            if orgs.is_empty() {
                return Ok(());
            }
            for org in orgs {
                let (ledger, now) = (Arc::clone(&self.ledger), self.clock.now());
                self.rows_of(&org).write(move |tx| write_starter(tx, &ledger, &By::system(), now)).await?;
            }
        }
    }
}

/// Gives an org that has never had a policy the one that everybody starts with.
pub(crate) fn write_starter(tx: &mut OrgTx<'_, '_>, ledger: &Ledger, by: &By, now: Timestamp) -> Result<()> {
    if next_version(tx, STARTER_ID)? > 1 {
        return Ok(());
    }
    let starter = Some((policy::STARTER, policy::STARTER_STATEMENTS));
    supersede(tx, STARTER_ID, 1, starter, Mode::Enforce, &by.actor_id, now)?;
    ledger.write(tx, by, saved_event(STARTER_ID, 1, policy::STARTER, Mode::Enforce))
}

/// All of an org's policies together have limits, too: they are read, compiled and asked together.
fn within_limits(tx: &mut OrgTx<'_, '_>, id: &str, cedar: &str, statements: i64) -> Result<()> {
    let others = tx.query(sql::SIZES_BESIDE, &params![id], |row| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?)))?;
    let chars = i64::try_from(cedar.chars().count()).unwrap_or(i64::MAX);
    let (statements, chars) = others.into_iter().fold((statements, chars), |(statements, chars), other| {
        (statements.saturating_add(other.0), chars.saturating_add(other.1))
    });
    let refusal = match () {
        () if statements > limits::POLICY_STATEMENTS_MAX => format!("{} policy statements", limits::POLICY_STATEMENTS_MAX),
        () if chars > limits::POLICIES_CHARS_MAX => format!("{} characters of policies", limits::POLICIES_CHARS_MAX),
        () => return Ok(()),
    };
    Err(Error::new(Kind::TooLarge, format!("an org has at most {refusal}: delete what is no longer needed")))
}

fn saved_event(id: &str, version: u32, cedar: &str, mode: Mode) -> Event {
    Event::new("policy.saved", "policy", id)
        .with("version", version)
        .with("mode", mode.word())
        .with("sha256", base::secret::hex(&Sha256::digest(cedar)))
}

fn next_version(tx: &mut OrgTx<'_, '_>, id: &str) -> Result<u32> {
    let current = tx.first(sql::CURRENT, &params![id], Policy::from_row)?.map_or(0, |policy| policy.version);
    current.checked_add(1).ok_or_else(|| Error::internal("a policy has run out of versions"))
}

fn supersede(
    tx: &mut OrgTx<'_, '_>,
    id: &str,
    version: u32,
    text: Option<(&str, i64)>,
    mode: Mode,
    author: &str,
    now: Timestamp,
) -> Result<()> {
    tx.execute(sql::SUPERSEDE, &params![id])?;
    let (cedar, statements) = (text.map(|(cedar, _)| cedar), text.map_or(0, |(_, statements)| statements));
    tx.execute(sql::INSERT, &params![id, i64::from(version), cedar, mode.word(), statements, author, now])?;
    tx.bump()
}

/// A name that can stand in a path, a log line and an audit entry.
fn checked_id(id: &str) -> Result<String> {
    let right = (1..=64).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.".contains(&byte))
        && id.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric);
    if right {
        return Ok(id.to_owned());
    }
    Err(Error::invalid("id", "a policy's name has 1 to 64 of a-z, 0-9, `_`, `-` and `.`, and begins with a letter or digit"))
}
