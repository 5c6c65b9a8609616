//! Merges streams of changes into one page. A change has a place: its time, the rank of its stream, and a key in that stream.

use base::{Cursor, Page, PageRequest, Timestamp};
use store::{AsParam, Param};

use super::{ChangeType, HistoryFilter, KnowledgeChange};

/// The changes of one thing, collected for one page.
pub(super) struct Steps<'a> {
    filter: &'a HistoryFilter,
    rows: u32,
    /// The place before the page.
    before: Option<Place>,
    found: Vec<(Place, KnowledgeChange)>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    time: Timestamp,
    rank: u8,
    key: String,
}

impl Place {
    fn cursor(&self) -> Cursor {
        Cursor { created_at: self.time, id: format!("{}{}", self.rank, self.key) }
    }

    /// A place that no change has sorts like any other.
    fn parse(cursor: &Cursor) -> Self {
        let (rank, key) = cursor.id.split_at_checked(1).unwrap_or(("0", ""));
        Self { time: cursor.created_at, rank: rank.parse().unwrap_or(0), key: key.to_owned() }
    }
}

/// The part of a stream that belongs to the page: rows before `time`, and at `time` those with a smaller key.
pub(super) struct Bounds {
    since: i64,
    until: i64,
    time: i64,
    key: String,
    rows: u32,
}

impl Bounds {
    /// Since, until, time and key, with the key as text.
    pub(super) fn by_text(&self) -> [Param<'_>; 5] {
        [Param::Int(self.since), Param::Int(self.until), Param::Int(self.time), Param::Text(&self.key), self.rows.as_param()]
    }

    /// The same with the key as a number.
    pub(super) fn by_number(&self) -> [Param<'_>; 5] {
        let key = self.key.parse().unwrap_or(0);
        [Param::Int(self.since), Param::Int(self.until), Param::Int(self.time), Param::Int(key), self.rows.as_param()]
    }
}

/// A number as a key that sorts like the number.
pub(super) fn key_of(number: i64) -> String {
    format!("{number:020}")
}

impl<'a> Steps<'a> {
    pub(super) fn new(filter: &'a HistoryFilter, page: &PageRequest) -> Self {
        Self { filter, rows: page.rows, before: page.after.as_ref().map(Place::parse), found: Vec::new() }
    }

    /// What to read of a stream, if changes of its type are asked for.
    pub(super) fn stream(&self, rank: u8, kind: ChangeType) -> Option<Bounds> {
        let (time, key) = match &self.before {
            None => (i64::MAX, String::new()),
            Some(before) if rank < before.rank => (before.time.ms().saturating_add(1), String::new()),
            Some(before) if rank == before.rank => (before.time.ms(), before.key.clone()),
            Some(before) => (before.time.ms(), String::new()),
        };
        let (since, until) = (self.filter.since, self.filter.until);
        let (since, until) = (since.map_or(i64::MIN, Timestamp::ms), until.map_or(i64::MAX, Timestamp::ms));
        self.wants(kind).then(|| Bounds { since, until, time, key, rows: self.rows.saturating_add(1) })
    }

    fn wants(&self, kind: ChangeType) -> bool {
        self.filter.types.is_empty() || self.filter.types.contains(&kind)
    }

    /// Adds a change of a stream.
    pub(super) fn add(&mut self, rank: u8, key: String, change: KnowledgeChange) {
        self.found.push((Place { time: change.time, rank, key }, change));
    }

    /// Adds a change that a thing has at most once, if it belongs to the page.
    pub(super) fn once(&mut self, rank: u8, change: KnowledgeChange) {
        let place = Place { time: change.time, rank, key: String::new() };
        let is_wanted = self.wants(change.change_type)
            && self.filter.since.is_none_or(|since| since <= change.time)
            && self.filter.until.is_none_or(|until| change.time < until)
            && self.before.as_ref().is_none_or(|before| place < *before);
        if is_wanted {
            self.found.push((place, change));
        }
    }

    pub(super) fn page(mut self) -> Page<KnowledgeChange> {
        self.found.sort_by(|(left, _), (right, _)| right.cmp(left));
        let page = Page::from_rows(self.found, self.rows, |(place, _)| place.cursor());
        Page { items: page.items.into_iter().map(|(_, change)| change).collect(), next: page.next }
    }
}
