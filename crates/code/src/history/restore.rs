//! Undo: a file as it was, and everything that one agent or session wrote.
//!
//! Undoing is a change like any other: it adds a version, and can itself be undone. What others wrote since is never lost: where their
//! changes and the undone ones touch each other, the file stays as it is and a conflict is reported.

use std::sync::Arc;

use base::{Author, Error, Kind, Result};
use store::{Change, params};

use super::content::State;
use super::plan::About;
use super::query::no_version;
use super::write::{Order, Written};
use super::{At, ChangeSource, History, Version, merge, sql};
use crate::files::{FILE_BYTES_MAX, Read, Seen};
use crate::path::{CodePath, shown};

/// Files that one call rolls back.
const FILES_MAX: u32 = 1_000;
/// Versions of a file that a rollback reads.
const VERSIONS_MAX: u32 = 1_000;
/// How often a rollback of a file starts again because someone writes it.
const ATTEMPTS_MAX: usize = 4;

/// Whose writes are rolled back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Those of a session.
    Session(String),
    /// Those of an agent, in all its sessions.
    Agent(String),
}

impl Writer {
    fn wrote(&self, version: &Version) -> bool {
        match self {
            Self::Session(session) => version.author.session == *session,
            Self::Agent(agent) => version.author.agent == *agent,
        }
    }
}

/// What a rollback did to one file.
#[derive(Clone, Debug)]
pub enum RollbackOutcome {
    /// The file is as it was before the first of these writes.
    Restored(Version),
    /// These writes are undone, and what others wrote since is kept.
    Reverted(Version),
    /// Nothing of these writes was left.
    Unchanged,
    /// What others wrote touches these writes. The file was left alone.
    Conflict,
    /// A content that is needed is not kept. The file was left alone.
    NotKept,
    /// The file could not be changed.
    Failed(Error),
}

/// One file of a rollback.
#[derive(Clone, Debug)]
pub struct RolledBack {
    /// The file.
    pub path: CodePath,
    /// What happened to it.
    pub outcome: RollbackOutcome,
}

impl History<Change> {
    /// Gives a file the content of an earlier version, or removes it if it was deleted then. `None` if it is so already.
    ///
    /// # Errors
    /// `not_found` if there is no such version, `conflict` if its content is not kept.
    pub async fn restore(
        &self,
        author: &Author,
        path: &CodePath,
        number: i64,
        reason: Option<String>,
    ) -> Result<Option<Version>> {
        let path = &self.files.real(path).await?;
        let version = self.at(path, At::Number(number)).await?.ok_or_else(|| no_version(path, number))?;
        let Some(wanted) = self.state_of(&version).await? else {
            let words = format!("the content of version {number} of `{}` is not kept; choose another", shown(path.as_str()));
            return Err(Error::new(Kind::Conflict, words));
        };
        let (current, _) = self.look(path).await?;
        if is_same(&current, &wanted) {
            return Ok(None);
        }
        let reason = reason.or_else(|| Some(format!("restore version {number}")));
        Ok(self.put(author, path, wanted, None, reason).await?.map(|written| written.version))
    }

    /// Undoes what `writer` wrote, file by file in the order of paths, at most a thousand after `after`. Repeat with the last path until
    /// nothing is returned.
    pub async fn rollback(
        &self,
        author: &Author,
        writer: &Writer,
        reason: Option<String>,
        after: Option<&CodePath>,
    ) -> Result<Vec<RolledBack>> {
        let (session, agent) = match writer {
            Writer::Session(session) => (Some(session), None),
            Writer::Agent(agent) => (None, Some(agent)),
        };
        let after = after.map_or("", CodePath::as_str);
        let row = |row: &store::Row<'_>| Ok((CodePath::from_row(row.text("path")?), row.get::<i64>("version")?));
        let files = self.rows().query(sql::WRITTEN_BY, &params![self.project, session, agent, after, FILES_MAX], row).await?;
        let mut rolled_back = Vec::new();
        for (path, first) in files {
            let outcome = match self.roll_back_file(author, writer, &path, first, reason.as_ref()).await {
                Ok(outcome) => outcome,
                Err(error) => RollbackOutcome::Failed(error),
            };
            rolled_back.push(RolledBack { path, outcome });
        }
        Ok(rolled_back)
    }

    async fn roll_back_file(
        &self,
        author: &Author,
        writer: &Writer,
        path: &CodePath,
        first: i64,
        reason: Option<&String>,
    ) -> Result<RollbackOutcome> {
        let reason = reason.cloned().or_else(|| Some("roll back".to_owned()));
        for _ in 0..ATTEMPTS_MAX {
            let versions =
                self.rows().query(sql::SINCE, &params![self.project, path, first - 1, VERSIONS_MAX], Version::from_row).await?;
            if versions.len() >= VERSIONS_MAX as usize {
                return Ok(RollbackOutcome::Conflict);
            }
            let (current, seen) = self.look(path).await?;
            let state = match &current {
                Read::File { bytes, .. } => Some(bytes.clone()),
                Read::Missing => None,
                _ => return Ok(RollbackOutcome::NotKept),
            };
            let (wanted, is_original) = match self.reverted(writer, first, &versions, state).await? {
                Ok(reverted) => reverted,
                Err(outcome) => return Ok(outcome),
            };
            if is_same(&current, &wanted) {
                return Ok(RollbackOutcome::Unchanged);
            }
            match self.put(author, path, wanted, Some(seen), reason.clone()).await {
                Ok(Some(Written { version, .. })) if is_original => return Ok(RollbackOutcome::Restored(version)),
                Ok(Some(Written { version, .. })) => return Ok(RollbackOutcome::Reverted(version)),
                Ok(None) => return Ok(RollbackOutcome::Unchanged),
                // Someone wrote the file since it was read.
                Err(error) if error.kind() == Kind::Conflict => (),
                Err(error) => return Err(error),
            }
        }
        Ok(RollbackOutcome::Conflict)
    }

    /// `state` without what `writer` wrote, and whether it is as before the first of its writes. Consecutive versions of the writer
    /// are undone together, the newest first.
    async fn reverted(
        &self,
        writer: &Writer,
        first: i64,
        versions: &[Version],
        mut state: State,
    ) -> Result<std::result::Result<(State, bool), RollbackOutcome>> {
        let (mut end, mut is_original) = (versions.len(), false);
        while let Some((place, last)) = versions.iter().enumerate().take(end).rfind(|(_, version)| is_of(writer, first, version))
        {
            let start = versions.iter().take(place + 1).rposition(|version| !is_of(writer, first, version));
            let before = start.and_then(|start| versions.get(start));
            let brought = versions.get(start.map_or(0, |start| start + 1)).unwrap_or(last);
            let (base, undone) = (self.state_of(last).await?, self.state_before(brought, before).await?);
            let (Some(base), Some(undone)) = (base, undone) else { return Ok(Err(RollbackOutcome::NotKept)) };
            let merged =
                store::compute(self.rows().org(), move || undo(&base, state, &undone).map(|state| (state == undone, state)));
            let Some(merged) = merged.await? else { return Ok(Err(RollbackOutcome::Conflict)) };
            (is_original, state) = merged;
            end = start.map_or(0, |start| start + 1);
        }
        Ok(Ok((state, is_original)))
    }

    /// Gives a file a state, if it still is as it was seen.
    async fn put(
        &self,
        author: &Author,
        path: &CodePath,
        state: State,
        expected: Option<Seen>,
        reason: Option<String>,
    ) -> Result<Option<Written>> {
        let source = ChangeSource::Toolcrib;
        let about = About { source, author: author.clone(), label: None, reason, moved_from: None, keeps: true };
        let order = Order { path: path.clone(), content: state.map(Arc::new), expected, about };
        self.change(order, Arc::new(|_| Ok(()))).await
    }
}

fn is_of(writer: &Writer, first: i64, version: &Version) -> bool {
    version.number >= first && writer.wrote(version)
}

/// `state` with the change from `base` to `undone`. `None` if the two touch each other.
fn undo(base: &State, state: State, undone: &State) -> Option<State> {
    if state == *base {
        return Some(undone.clone());
    }
    if undone == base || state == *undone {
        return Some(state);
    }
    let merged = merge::merge(base.as_ref()?, state.as_ref()?, undone.as_ref()?)?;
    (merged.len() <= FILE_BYTES_MAX).then_some(Some(merged))
}

fn is_same(current: &Read, state: &State) -> bool {
    match (current, state) {
        (Read::Missing, None) => true,
        (Read::File { bytes, .. }, Some(content)) => bytes == content,
        _ => false,
    }
}
