//! A write through this server: the file and its version.

use std::sync::Arc;

use base::{Author, Error, FileVersionId, Kind, Result};
use store::{Change, OrgStore, params};

use super::plan::{About, Known, Plan, Side, settle};
use super::version::State;
use super::{ChangeSource, History, Version, sql};
use crate::files::{
    FILE_BYTES_MAX, Files, Locked, Read, Replaced, Root, Seen, Sha256, Stored, forget_stored, keep_stored, on_disk,
};
use crate::path::{CodePath, shown};

/// How often a write starts again because someone else changes the file at the same time.
const ATTEMPTS_MAX: usize = 8;
/// Characters of a reason.
const REASON_CHARS_MAX: usize = 4_000;
/// Characters of a label.
const LABEL_CHARS_MAX: usize = 200;

/// A new content for a file.
#[derive(Clone, Debug)]
pub struct NewContent {
    /// The file.
    pub path: CodePath,
    /// Its content.
    pub content: Vec<u8>,
    /// The content that the caller has seen. If the file has another one, nothing is written.
    pub expected: Option<Sha256>,
    /// Whether contents are kept in history, or only that the file changed.
    pub keeps_content: bool,
    /// How the caller calls itself.
    pub label: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// A write that is done.
#[derive(Clone, Debug)]
pub struct Written {
    /// The new version.
    pub version: Version,
    /// The content before, unless there was no file or it was too large.
    pub before: Option<Vec<u8>>,
}

/// What a change does to a file.
pub(super) struct Order {
    pub(super) path: CodePath,
    /// The new content. `None` removes the file.
    pub(super) content: Option<Arc<Vec<u8>>>,
    pub(super) expected: Option<Seen>,
    pub(super) about: About,
}

/// A look at the content before a write. It can refuse the write.
pub(super) type Check = Arc<dyn Fn(Option<&[u8]>) -> Result<()> + Send + Sync>;

impl History<Change> {
    /// Writes a file and records its version. `check` gets the content that is about to be replaced, if there is one that is not too
    /// large, and may refuse. It can run more than once.
    ///
    /// # Errors
    /// `conflict` with the current `sha256` and `version`, if the file does not have the expected content.
    pub async fn write(
        &self,
        author: &Author,
        new: NewContent,
        check: impl Fn(Option<&[u8]>) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Written> {
        let NewContent { path, content, expected, keeps_content, label, reason } = new;
        if content.len() > FILE_BYTES_MAX {
            let words = format!("the content has {} bytes; the maximum is {FILE_BYTES_MAX}", content.len());
            return Err(Error::new(Kind::TooLarge, words));
        }
        let about = About {
            source: ChangeSource::Toolcrib,
            author: author.clone(),
            label: bounded("agent_id", label, LABEL_CHARS_MAX)?,
            reason: bounded("reason", reason, REASON_CHARS_MAX)?,
            moved_from: None,
            keeps: keeps_content,
        };
        let path = self.files.real(&path).await?;
        let order = Order { path, content: Some(Arc::new(content)), expected: expected.map(Seen::File), about };
        self.change(order, Arc::new(check)).await?.ok_or_else(|| Error::internal("a write has no version"))
    }

    /// Carries out an order. `None` if it removes a file that does not exist.
    pub(super) async fn change(&self, order: Order, check: Check) -> Result<Option<Written>> {
        let mut locked = self.files.lock(&self.project, &order.path).await;
        let order = Arc::new(order);
        for _ in 0..ATTEMPTS_MAX {
            let (current, seen) = self.look(&order.path).await?;
            let newest = self.newest(&order.path).await?;
            let known = Known::new(newest, &Side::of_read(&current, &seen));
            if order.expected.is_some_and(|expected| expected != seen) {
                return Err(conflict(&order.path, &seen, known.tip.as_ref()));
            }
            if order.content.is_none() && seen == Seen::Missing {
                return Ok(None);
            }
            let Some(Written { version, before }) = self.record(&order, &check, known, current, seen).await? else { continue };
            let root = match &self.files {
                Files::Disk(root) if version.state == State::InProgress => Arc::clone(root),
                _ => return Ok(Some(Written { version, before })),
            };
            let (outcome, returned) = replace(root, Arc::clone(&order), seen, version.id, locked).await?;
            locked = returned;
            match outcome {
                Ok(Replaced::Done) => {
                    self.mark_done(&order.path, version.id).await;
                    return Ok(Some(Written { version: Version { state: State::Done, ..version }, before }));
                }
                Ok(Replaced::Changed) => self.settle_one(&order.path).await?,
                Err(error) => {
                    // The rename may have happened, so the disk decides.
                    if let Err(unsettled) = self.settle_one(&order.path).await {
                        tracing::warn!(%unsettled, "a version stays in progress until the next look at its file");
                    }
                    return Err(error);
                }
            }
        }
        let words = format!("`{}` keeps changing while it is written; read it and try again", shown(order.path.as_str()));
        Err(Error::new(Kind::Conflict, words))
    }

    /// Records what the order does, and before it what others did to the file. `None` if history has changed meanwhile.
    async fn record(
        &self,
        order: &Arc<Order>,
        check: &Check,
        known: Known,
        current: Read,
        seen: Seen,
    ) -> Result<Option<Written>> {
        let is_as_known = Side::of_read(&current, &seen).is(known.tip.as_ref());
        let tip_content = match &known.tip {
            Some(tip) if !is_as_known => self.content_of(tip).await?,
            _ => None,
        };
        let (on_disk, now) = (matches!(self.files, Files::Disk(_)), self.clock.now());
        let (ordered, check) = (Arc::clone(order), Arc::clone(check));
        let planned = store::compute(self.rows().org(), move || {
            let side = Side::of_read(&current, &seen);
            check(if let Read::File { bytes, .. } = &current { Some(bytes) } else { None })?;
            let mut plan = Plan::new(known);
            let keeps = ordered.about.keeps;
            match (&plan.known.tip, &current) {
                (None, Read::Missing) => (),
                (None, _) if !keeps => (),
                (tip, _) if !is_as_known => {
                    let before = Side::of_version(tip.as_ref(), tip_content.as_deref());
                    plan.add(&ordered.path, &before, &side, &About::on_disk(true), now, State::Done)?;
                }
                (Some(tip), Read::File { bytes, .. }) if keeps && tip.exists() && !tip.is_kept() => plan.fill(bytes)?,
                _ => (),
            }
            let after = ordered.content.as_ref().map_or(Side::MISSING, |content| Side::content(content));
            let is_same =
                matches!((&current, &ordered.content), (Read::File { bytes, .. }, Some(content)) if *bytes == **content);
            let state = if on_disk && !is_same { State::InProgress } else { State::Done };
            plan.add(&ordered.path, &side, &after, &ordered.about, now, state)?;
            let stored = if on_disk { None } else { ordered.content.as_ref().map(|content| Stored::new(content)).transpose()? };
            Ok::<_, Error>((Arc::new((plan, stored)), current))
        });
        let (planned, current) = planned.await??;
        let (writes, project, order) = (Arc::clone(&planned), self.project, Arc::clone(order));
        let is_committed = self.rows.write(move |tx| {
            let (plan, stored) = &*writes;
            if !plan.commit(tx, &project, &order.path)? {
                return Ok(false);
            }
            match stored {
                Some(stored) => {
                    keep_stored(tx, &project, &order.path, plan.tip().map_or(0, |tip| tip.number), now, stored)?;
                }
                None if !on_disk => forget_stored(tx, &project, &order.path)?,
                None => (),
            }
            Ok(true)
        });
        if !is_committed.await? {
            return Ok(None);
        }
        let version = planned.0.tip().cloned().ok_or_else(|| Error::internal("a plan has no version"))?;
        Ok(Some(Written { version, before: if let Read::File { bytes, .. } = current { Some(bytes) } else { None } }))
    }

    /// A kill before this is on disk loses nothing: the next look at the file finds its content. So no write waits for it.
    async fn mark_done(&self, path: &CodePath, id: FileVersionId) {
        let (project, path) = (self.project, path.clone());
        match self.rows.note(move |tx| settle(tx, &project, &path, &id, true)).await {
            Ok(true) => (),
            // Another node looked at the disk before the rename.
            Ok(false) => tracing::warn!(version = %id, "a version was settled by another node while it was written"),
            Err(error) => tracing::warn!(%error, "a version stays in progress until the next look at its file"),
        }
    }
}

impl<R: AsRef<OrgStore>> History<R> {
    /// What is at the real path `path` now.
    pub(super) async fn look(&self, path: &CodePath) -> Result<(Read, Seen)> {
        self.files.look(self.rows(), &self.project, path).await
    }

    pub(super) async fn newest(&self, path: &CodePath) -> Result<Vec<Version>> {
        self.rows().query(sql::NEWEST, &params![self.project, path], Version::from_row).await
    }
}

/// Writes the file. The lock goes along, because the thread continues when its caller goes away.
async fn replace(
    root: Arc<Root>,
    order: Arc<Order>,
    seen: Seen,
    id: FileVersionId,
    locked: Locked,
) -> Result<(Result<Replaced>, Locked)> {
    on_disk(move || {
        let outcome = match &order.content {
            Some(content) => root.write(&order.path, content, Some(&seen), &id),
            None => root.remove(&order.path, Some(&seen)),
        };
        Ok((outcome, locked))
    })
    .await
}

fn bounded(parameter: &str, text: Option<String>, chars_max: usize) -> Result<Option<String>> {
    match text {
        Some(text) if text.chars().nth(chars_max).is_some() => {
            Err(Error::invalid(parameter, format!("`{parameter}` is longer than {chars_max} characters; shorten it")))
        }
        text => Ok(text),
    }
}

fn conflict(path: &CodePath, seen: &Seen, tip: Option<&Version>) -> Error {
    let path = shown(path.as_str());
    let (words, digest) = match seen {
        Seen::Missing => (format!("`{path}` does not exist; read it again"), None),
        Seen::File(digest) => {
            (format!("`{path}` has changed: its sha256 is {}; read it again", digest.hex()), Some(digest.hex()))
        }
        Seen::Large(_) => (format!("`{path}` is too large to compare; leave out the expected sha256"), None),
    };
    Error::new(Kind::Conflict, words).with("sha256", digest).with("version", tip.map(|tip| tip.number))
}
