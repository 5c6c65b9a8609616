//! Policies of an org: saving, versions, and the compiled set that decides.

mod active;
mod explain;
pub(crate) mod sql;

use std::sync::Arc;

use base::{Error, EventKind, Kind, Result, Timestamp, limits};
use policy::{Finding, Flagged, Mode};
use sha2::{Digest, Sha256};
use store::{OrgTx, Row, params};

use crate::access::Access;
use crate::audit::{By, Event, Ledger};
use crate::guard::Guard;

pub(crate) use active::ActivePolicies;
pub use active::{Modelling, Vocabulary};
pub use explain::{Explanation, Subject};

/// The starter policy of every new org. It can be changed or deleted like any other.
const STARTER_ID: &str = "starter";

/// One version of a policy.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Its name, unique in the org.
    pub id: String,
    /// The version, from 1.
    pub version: u32,
    /// Its text. `None` in the version that deleted it.
    pub cedar: Option<String>,
    /// Whether it is enforced or log-only.
    pub mode: Mode,
    /// The author of this version.
    pub created_by: String,
    /// When it was saved.
    pub created_at: Timestamp,
}

impl Policy {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            version: u32::try_from(row.get::<i64>("version")?).unwrap_or(u32::MAX),
            cedar: row.get("cedar")?,
            // An unknown mode must not disable a policy.
            mode: Mode::parse(row.text("mode")?).unwrap_or(Mode::Enforce),
            created_by: row.get("created_by")?,
            created_at: row.get("created_at")?,
        })
    }
}

/// Why a policy was not saved.
#[derive(Debug)]
pub enum NotSaved {
    /// Its text has errors. Nothing changed.
    Findings(Vec<Finding>),
    /// Another error.
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
    /// The policies of the caller's org. They apply to every project, so a key limited to some projects may not manage them.
    pub fn policies<'a>(&'a self, access: &'a Access) -> Result<Policies<'a>> {
        access.require_reach(None)?;
        Ok(Policies { guard: self, access })
    }
}

impl Policies<'_> {
    /// The Cedar schema for policies.
    pub async fn schema(&self) -> Result<String> {
        Ok(self.model().await?.schema_text().to_owned())
    }

    async fn model(&self) -> Result<Arc<policy::Model>> {
        let number = self.guard.store.change_number(self.access.org()).await?;
        self.guard.model_of(self.access.org(), number).await
    }

    /// The enforced and log-only policies, by name.
    pub async fn list(&self) -> Result<Vec<Policy>> {
        self.access.rows.query(sql::IN_FORCE, &[], Policy::from_row).await
    }

    /// The versions of a policy, newest first. Empty if there never was one.
    pub async fn versions(&self, id: &str) -> Result<Vec<Policy>> {
        self.access.rows.query(sql::VERSIONS, &params![id, limits::PAGE_ROWS_MAX], Policy::from_row).await
    }

    /// Stored policies that do not match the schema any more, or cannot be parsed.
    pub async fn flagged(&self) -> Result<Vec<Flagged>> {
        let compiled = self.active().await?;
        let turn = self.guard.turn().await?;
        // Checking thousands of statements takes a while, so this does not run on a runtime thread.
        let check = move || {
            let _turn = turn;
            compiled.flagged().to_vec()
        };
        tokio::task::spawn_blocking(check).await.map_err(Error::internal)
    }

    async fn active(&self) -> Result<Arc<policy::Compiled>> {
        let number = self.guard.store.change_number(self.access.org()).await?;
        self.guard.active_policies(self.access.org(), number).await
    }

    /// Returns all errors of a text.
    pub async fn check(&self, cedar: &str) -> Result<Vec<Finding>> {
        let _turn = self.guard.turn().await?;
        Ok(active::check(self.model().await?, cedar).await?.err().unwrap_or_default())
    }

    /// Saves a policy as a new version. Returns the current version if nothing changed.
    pub async fn put(&self, id: &str, cedar: &str, mode: Mode) -> Result<Policy, NotSaved> {
        let id = checked_id(id)?;
        let turn = self.guard.turn().await?;
        let statements = active::check(self.model().await?, cedar).await?.map_err(NotSaved::Findings)?.len();
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
                // Switching a policy to log-only stops its enforcement, so it has its own event.
                let event =
                    Event::new(EventKind::PolicyModeChanged, "policy", &id).with("from", previous.word()).with("to", mode.word());
                ledger.write(tx, &by, event)?;
            }
            Ok(Policy { id: id.clone(), version, cedar: Some(cedar.clone()), mode, created_by: author.clone(), created_at: now })
        });
        Ok(write.await?)
    }

    /// Deletes a policy. It no longer applies; its versions stay readable.
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
            ledger.write(tx, &by, Event::new(EventKind::PolicyDeleted, "policy", &id).with("version", version))?;
            Ok(true)
        });
        write.await
    }
}

impl Guard {
    /// Adds the starter policy to orgs from releases without policies. Otherwise nothing would be permitted there.
    pub(crate) async fn give_starters(&self) -> Result<()> {
        loop {
            let row = |row: &Row<'_>| Ok(base::OrgId::from_row(row.text("org_id")?));
            let orgs = self.store.query(sql::ORGS_WITHOUT, &params![limits::PAGE_ROWS_MAX], row).await?;
            if orgs.is_empty() {
                return Ok(());
            }
            for org in orgs {
                let (ledger, now) = (Arc::clone(&self.ledger), self.clock.now());
                self.own_change(&org).write(move |tx| write_starter(tx, &ledger, &By::system(), now)).await?;
            }
        }
    }
}

/// Adds the starter policy to an org that never had a policy.
pub(crate) fn write_starter(tx: &mut OrgTx<'_, '_>, ledger: &Ledger, by: &By, now: Timestamp) -> Result<()> {
    if next_version(tx, STARTER_ID)? > 1 {
        return Ok(());
    }
    let starter = Some((policy::STARTER, policy::STARTER_STATEMENTS));
    supersede(tx, STARTER_ID, 1, starter, Mode::Enforce, &by.actor_id, now)?;
    ledger.write(tx, by, saved_event(STARTER_ID, 1, policy::STARTER, Mode::Enforce))
}

/// Checks the limits for all policies of an org together, because they are read, compiled and evaluated together.
fn within_limits(tx: &mut OrgTx<'_, '_>, id: &str, cedar: &str, statements: i64) -> Result<()> {
    let others =
        tx.query(sql::SIZES_BESIDE, &params![id], |row| Ok((row.get::<i64>("statements")?, row.get::<i64>("chars")?)))?;
    let chars = i64::try_from(cedar.chars().count()).unwrap_or(i64::MAX);
    let (statements, chars) = others.into_iter().fold((statements, chars), |(statements, chars), other| {
        (statements.saturating_add(other.0), chars.saturating_add(other.1))
    });
    let refusal = match () {
        () if statements > limits::POLICY_STATEMENTS_MAX as i64 => format!("{} policy statements", limits::POLICY_STATEMENTS_MAX),
        () if chars > limits::POLICIES_CHARS_MAX => format!("{} characters of policies", limits::POLICIES_CHARS_MAX),
        () => return Ok(()),
    };
    Err(Error::new(Kind::TooLarge, format!("an org may have at most {refusal}; delete policies you no longer need")))
}

fn saved_event(id: &str, version: u32, cedar: &str, mode: Mode) -> Event {
    Event::new(EventKind::PolicySaved, "policy", id)
        .with("version", version)
        .with("mode", mode.word())
        .with("sha256", base::secret::hex(&Sha256::digest(cedar)))
}

fn next_version(tx: &mut OrgTx<'_, '_>, id: &str) -> Result<u32> {
    let current = tx.first(sql::CURRENT, &params![id], Policy::from_row)?.map_or(0, |policy| policy.version);
    current.checked_add(1).ok_or_else(|| Error::internal("no more versions for this policy"))
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

/// Checks a policy name, which appears in paths, log lines and audit entries.
fn checked_id(id: &str) -> Result<String> {
    let right = (1..=64).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.".contains(&byte))
        && id.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric);
    if right {
        return Ok(id.to_owned());
    }
    Err(Error::new(
        Kind::InvalidParams,
        "a policy's name must have 1 to 64 of a-z, 0-9, `_`, `-` and `.`, and begin with a letter or digit",
    ))
}
