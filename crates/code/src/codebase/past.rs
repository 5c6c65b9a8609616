//! What happened to files: versions of this server and commits of the repository in one list, newest first.
//!
//! Both are ordered by time. At the same time, versions come before commits, and commits are in the order of the log. So a page continues
//! in both after the last change of the page before.

use std::cmp::Reverse;

use base::{Cursor, Error, FileVersionId, Page, PageRequest, Result, Timestamp};
use sha2::{Digest as _, Sha256 as Digest};
use store::OrgStore;
use syntax::Language;

use super::Codebase;
use crate::git::{Bounds, Commit, CommitPage, LogFilter};
use crate::history::{At, ChangeSource, ChangeType, Diff, HistoryFilter, Version, Within};
use crate::path::CodePath;

/// Pages of commits that one call reads.
const GIT_PAGES_MAX: usize = 20;
/// Changes of a file that one call looks through for those of a symbol.
const LOOKED_MAX: u32 = 60;
/// The longest diff of a change, in characters.
const DIFF_CHARS_MAX: usize = 20_000;

/// Which changes to list.
#[derive(Clone, Debug, Default)]
pub struct PastFilter {
    /// Only of this file.
    pub path: Option<CodePath>,
    /// Only writes of this session.
    pub session: Option<String>,
    /// Only changes of this definition in the file: `Class.method`.
    pub symbol: Option<String>,
    /// Only from this time on.
    pub since: Option<Timestamp>,
    /// Only before this time.
    pub until: Option<Timestamp>,
    /// Only these types. Empty means all.
    pub types: Vec<ChangeType>,
    /// Whether to include diffs.
    pub diffs: bool,
}

impl PastFilter {
    /// Whether changes of every time and type are asked for.
    pub fn is_open(&self) -> bool {
        self.since.is_none() && self.until.is_none() && self.types.is_empty()
    }
}

/// A change of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct PastChange {
    /// The id of the version, or of the commit.
    pub id: String,
    /// The file, or the definition that was asked for.
    pub entity: String,
    /// What happened.
    pub change: ChangeType,
    /// When.
    pub time: Timestamp,
    /// Who: an agent, `disk`, or the author of a commit.
    pub agent: String,
    /// The session, if an agent wrote it.
    pub session: Option<String>,
    /// Why: the reason of a write, or the subject of a commit.
    pub reason: Option<String>,
    /// Where the change comes from.
    pub source: ChangeSource,
    /// The path before a move or a rename.
    pub from: Option<String>,
    /// New lines, if they are known.
    pub lines_added: Option<u64>,
    /// Lines that are gone, if they are known.
    pub lines_removed: Option<u64>,
    /// A unified diff, if it was asked for and can be shown.
    pub diff: Option<String>,
    /// What breaks ties.
    order: String,
    path: String,
    version: Option<Box<Version>>,
}

/// Changes, newest first.
pub type PastPage = Page<PastChange>;

/// The same, with a word on what may be missing.
#[derive(Clone, Debug)]
pub struct Pasts {
    /// The changes.
    pub page: PastPage,
    /// Whether commits may be missing: the clone is shallow, or reading them took too long.
    pub is_partial: bool,
}

impl<R: AsRef<OrgStore> + Clone + Send + Sync + 'static> Codebase<R> {
    /// A page of changes.
    pub async fn past(self: &Codebase<R>, filter: &PastFilter, page: &PageRequest) -> Result<Pasts> {
        let mut asked_for = filter.clone();
        if let Some(path) = &filter.path {
            asked_for.path = Some(self.place.files.real(path).await?);
        }
        if filter.symbol.is_some() {
            asked_for.types.clear();
        }
        let rows = if filter.symbol.is_some() { LOOKED_MAX } else { page.rows };
        let wanted = rows.saturating_add(1);
        let asked = HistoryFilter {
            within: asked_for.path.clone().map(Within::File),
            from: filter.since,
            until: filter.until,
            changes: asked_for.types.clone(),
            agent: None,
            session: filter.session.clone(),
        };
        // Versions come before commits of the same time.
        let after = page.after.clone().map(|after| match FileVersionId::parse(&after.id) {
            Some(_) => after,
            None => Cursor { id: String::new(), ..after },
        });
        let versions = self.history().list(&asked, &PageRequest { rows: wanted, after }).await?;
        let mut changes: Vec<PastChange> = versions.items.into_iter().map(PastChange::of_version).collect();
        let (commits, is_partial) = match filter.session {
            Some(_) => (Vec::new(), false),
            None => self.commits(asked_for, page.after.clone(), wanted as usize).await?,
        };
        changes.extend(commits);
        // The sort keeps the order of the log where commits have the same time.
        changes.sort_by_key(|change| Reverse(change.time));
        if let Some(symbol) = &filter.symbol {
            changes = self.of_symbol(symbol, changes).await?;
            changes.retain(|change| filter.types.is_empty() || filter.types.contains(&change.change));
        }
        let mut listed = Page::from_rows(changes, page.rows, PastChange::cursor);
        if filter.diffs {
            for change in &mut listed.items {
                change.diff = self.diff_of(change).await?;
            }
        }
        Ok(Pasts { page: listed, is_partial })
    }

    /// The changes of commits after a cursor.
    async fn commits(&self, filter: PastFilter, after: Option<Cursor>, wanted: usize) -> Result<(Vec<PastChange>, bool)> {
        let place = std::sync::Arc::clone(&self.place);
        let work = move || -> Result<(Vec<PastChange>, bool)> {
            let Some(repository) = place.repository() else { return Ok((Vec::new(), false)) };
            // Changes of the same time as the last one of the page before are skipped up to that one.
            let mut is_behind = after.as_ref().is_none_or(|after| FileVersionId::parse(&after.id).is_some());
            let mut is_next = |change: &PastChange| match &after {
                None => true,
                Some(after) if change.time == after.created_at => {
                    let was_behind = is_behind;
                    is_behind |= change.order == after.id;
                    was_behind
                }
                Some(after) => change.time < after.created_at,
            };
            let mut is_wanted = |change: &PastChange| {
                filter.since.is_none_or(|since| change.time >= since)
                    && filter.until.is_none_or(|until| change.time < until)
                    && is_next(change)
                    && (filter.types.is_empty() || filter.types.contains(&change.change))
            };
            let until = [filter.until, after.as_ref().map(|after| after.created_at)].into_iter().flatten().min();
            let (mut found, mut cursor, mut is_partial) = (Vec::new(), None, false);
            for _ in 0..GIT_PAGES_MAX {
                let CommitPage { commits, next, is_partial: partial } = match &filter.path {
                    Some(path) => repository.history(path.as_str(), cursor.as_deref(), &Bounds::default())?,
                    None => repository.log(&LogFilter { since: filter.since, until, cursor, bounds: Bounds::default() })?,
                };
                is_partial |= partial;
                let is_over = commits.last().is_some_and(|last| filter.since.is_some_and(|since| last.time < since));
                found.extend(commits.into_iter().flat_map(PastChange::of_commit).filter(&mut is_wanted));
                cursor = next;
                // One commit more than needed: the changes of a commit are not sorted like the list.
                if cursor.is_none() || is_over || found.len() > wanted {
                    break;
                }
            }
            Ok((found, is_partial))
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
    }

    /// The unified diff of a change.
    pub async fn diff_of(&self, change: &PastChange) -> Result<Option<String>> {
        if let Some(version) = &change.version {
            return Ok(match self.history().diff(version, DIFF_CHARS_MAX).await? {
                Diff::Text { text, is_cut } => Some(shortened(text, is_cut)),
                Diff::Binary | Diff::NotKept => None,
            });
        }
        let (place, path, commit) = (std::sync::Arc::clone(&self.place), change.path.clone(), change.id.clone());
        let work = move || place.repository().map_or(Ok(None), |repository| repository.diff(&path, &commit));
        let diff = tokio::task::spawn_blocking(work).await.map_err(Error::internal)??;
        Ok(diff.filter(|diff| !diff.text.is_empty()).map(|diff| shortened(diff.text, diff.is_partial)))
    }

    /// The changes of a file that changed the text of one of its definitions. They come newest first.
    async fn of_symbol(&self, symbol: &str, changes: Vec<PastChange>) -> Result<Vec<PastChange>> {
        let mut texts = Vec::with_capacity(changes.len());
        for change in &changes {
            let text = self.text_after(change).await?;
            texts.push(text.map(|text| definition(&change.path, &text, symbol)));
        }
        let mut found = Vec::new();
        for (place, mut change) in changes.into_iter().enumerate() {
            let (after, before) =
                (texts.get(place).cloned().flatten().flatten(), texts.get(place + 1).cloned().flatten().flatten());
            let kind = match (&before, &after) {
                (None, None) => continue,
                (Some(before), Some(after)) if before == after => continue,
                (None, Some(_)) => ChangeType::Create,
                (Some(_), None) => ChangeType::Delete,
                (Some(_), Some(_)) => ChangeType::Update,
            };
            change.entity = format!("{}#{symbol}", change.path);
            change.change = kind;
            found.push(change);
        }
        Ok(found)
    }

    /// The text of a file after a change, if it is known.
    async fn text_after(&self, change: &PastChange) -> Result<Option<String>> {
        if let Some(version) = &change.version {
            let past = self.history().text_at(&version.path, At::Number(version.number)).await?;
            return Ok(match past {
                crate::history::Past::Content(_, bytes) => String::from_utf8(bytes).ok(),
                _ => None,
            });
        }
        let (place, path, commit) = (std::sync::Arc::clone(&self.place), change.path.clone(), change.id.clone());
        let work = move || place.repository().map(|repository| repository.text_at(&path, &commit)).transpose();
        match tokio::task::spawn_blocking(work).await.map_err(Error::internal)?? {
            Some(crate::git::Content::Text(text)) => Ok(Some(text)),
            _ => Ok(None),
        }
    }
}

impl PastChange {
    /// Where the page after this change starts.
    pub fn cursor(&self) -> Cursor {
        Cursor { created_at: self.time, id: self.order.clone() }
    }

    /// The change that a version is.
    pub fn of_version(version: Version) -> Self {
        Self {
            id: version.id.to_string(),
            entity: version.path.as_str().to_owned(),
            change: version.change,
            time: version.created_at,
            agent: version.author.agent.clone(),
            session: Some(version.author.session.clone()).filter(|_| version.source == ChangeSource::Toolcrib),
            reason: version.reason.clone(),
            source: version.source,
            from: version.moved_from.as_ref().map(|path| path.as_str().to_owned()),
            lines_added: version.lines_added.map(i64::unsigned_abs),
            lines_removed: version.lines_removed.map(i64::unsigned_abs),
            diff: None,
            order: version.id.to_string(),
            path: version.path.as_str().to_owned(),
            version: Some(Box::new(version)),
        }
    }

    fn of_commit(commit: Commit) -> impl Iterator<Item = Self> {
        let Commit { id, time, author, subject, changes, .. } = commit;
        changes.into_iter().map(move |change| Self {
            order: format!("{id}_{}", short_digest(&change.path)),
            id: id.clone(),
            entity: change.path.clone(),
            change: ChangeType::parse(change.change_type.word()).unwrap_or(ChangeType::Update),
            time,
            agent: author.clone(),
            session: None,
            reason: Some(subject.clone()),
            source: ChangeSource::Git,
            from: change.from,
            lines_added: change.lines_added.map(u64::from),
            lines_removed: change.lines_removed.map(u64::from),
            diff: None,
            path: change.path,
            version: None,
        })
    }
}

/// The text of a definition, if the text has it.
fn definition(path: &str, text: &str, symbol: &str) -> Option<String> {
    let outline = syntax::outline(Language::of(path, text)?, text, &crate::PARSE_BOUNDS).ok()?;
    super::write::definitions(&outline, text).get(symbol).map(|text| (*text).to_owned())
}

fn short_digest(path: &str) -> String {
    Digest::digest(path.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn shortened(text: String, is_cut: bool) -> String {
    let cut: String = text.chars().take(DIFF_CHARS_MAX).collect();
    if is_cut || cut.len() < text.len() { format!("{cut}\n… the diff is longer") } else { text }
}
