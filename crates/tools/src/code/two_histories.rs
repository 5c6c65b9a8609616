//! Two histories that `query_history` shows as one list: what happened to files, and what memory and the graph know.

use std::fmt::{self, Display, Formatter};

use base::{Cursor, Page, PageRequest, Result, Timestamp};
use knowledge::{KnowledgeChange, KnowledgeHistory};

use super::query_history::ChangeType;
use super::{after, bad_cursor};
use crate::tool::Call;

/// Where one of two lists continues.
pub(super) struct Place {
    pub(super) is_over: bool,
    pub(super) cursor: Option<Cursor>,
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.cursor {
            _ if self.is_over => f.write_str("end"),
            Some(cursor) => f.write_str(&cursor.encode()),
            None => f.write_str("start"),
        }
    }
}

/// The places of files and of knowledge in a cursor.
pub(super) fn places(cursor: Option<&str>) -> Result<[Place; 2]> {
    let place = |text: &str| match text {
        "end" => Ok(Place { is_over: true, cursor: None }),
        "start" => Ok(Place { is_over: false, cursor: None }),
        text => Ok(Place { is_over: false, cursor: after(Some(text))? }),
    };
    let (files, knowledge) = cursor.map_or(Some(("start", "start")), |cursor| cursor.split_once('~')).ok_or_else(bad_cursor)?;
    Ok([place(files)?, place(knowledge)?])
}

/// The history of what memory and the graph know.
pub(super) struct HistoryOfKnowledge {
    history: KnowledgeHistory,
    filter: knowledge::HistoryFilter,
    /// Whether no change that can happen to knowledge is asked for.
    is_left_out: bool,
}

impl HistoryOfKnowledge {
    pub(super) fn new(
        call: &Call<'_>,
        (since, until): (Option<Timestamp>, Option<Timestamp>),
        asked: &[ChangeType],
    ) -> Result<Self> {
        let types: Vec<_> = asked.iter().filter_map(|kind| knowledge::ChangeType::parse(kind.word())).collect();
        let is_left_out = types.is_empty() && !asked.is_empty();
        let history = KnowledgeHistory::new(call.permit.rows().clone(), call.project()?, call.services.clock.clone());
        Ok(Self { history, filter: knowledge::HistoryFilter { since, until, types }, is_left_out })
    }

    /// The history of one thing, if this project has it.
    pub(super) async fn of(&self, id: &str, page: &PageRequest) -> Result<Option<Page<KnowledgeChange>>> {
        let found = self.history.history_of(id, &self.filter, page).await?;
        Ok(found.map(|found| if self.is_left_out { Page { items: Vec::new(), next: None } } else { found }))
    }

    /// What a session, or everyone, wrote.
    pub(super) async fn written(&self, session: Option<&str>, page: &PageRequest) -> Result<Page<KnowledgeChange>> {
        let nothing = Page { items: Vec::new(), next: None };
        if self.is_left_out {
            return Ok(nothing);
        }
        match session {
            None => self.history.history_of_project(&self.filter, page).await,
            Some(session) => Ok(self.history.history_of(session, &self.filter, page).await?.unwrap_or(nothing)),
        }
    }
}
