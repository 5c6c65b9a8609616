//! The changes of one observation, triplet, entity or decision.

use base::{DecisionId, EntityId, ObservationId, Page, PageRequest, Result, Timestamp, TripletId};
use store::{OrgStore, Row, params};

use super::steps::{Steps, key_of};
use super::{ChangeType, HistoryFilter, KnowledgeChange, KnowledgeHistory, sql};
use crate::rounded;

/// The ranks of the streams: at the same time, a higher one is newer.
const FIRST: u8 = 0;
const AGAIN: u8 = 1;
const WEIGHT: u8 = 2;
const PLACE: u8 = 3;
const LAST: u8 = 4;

/// A page, if there is such a thing.
type Story = Option<Page<KnowledgeChange>>;

impl<R: AsRef<OrgStore>> KnowledgeHistory<R> {
    pub(super) async fn of_observation(&self, id: &ObservationId, filter: &HistoryFilter, page: &PageRequest) -> Result<Story> {
        let read = |row: &Row<'_>| Ok((first(row, id.as_str(), "stored", "created_at")?, gone(row, id.as_str())?, own(row)?));
        let read = |row: &Row<'_>| Ok((read(row)?, row.get::<String>("hash")?));
        let found = self.rows().first(sql::OBSERVATION, &params![self.project, id], read).await?;
        let Some(((stored, forgotten, number), hash)) = found else { return Ok(None) };
        let mut steps = Steps::new(filter, page);
        steps.once(FIRST, stored);
        if let Some(bounds) = steps.stream(AGAIN, ChangeType::Update) {
            let asked = [&params![self.project, hash, number][..], &bounds.by_number()].concat();
            let same = |row: &Row<'_>| Ok((own(row)?, corroborated(row, id)?));
            for (number, change) in self.rows().query(sql::CORROBORATED, &asked, same).await? {
                steps.add(AGAIN, key_of(number), change);
            }
        }
        if let Some(bounds) = steps.stream(WEIGHT, ChangeType::Update) {
            let asked = [&params![self.project, number][..], &bounds.by_text()].concat();
            let moves = |row: &Row<'_>| Ok((row.get::<String>("session_id")?, moved(row, id.as_str())?));
            for (session, change) in self.rows().query(sql::WEIGHT_MOVES, &asked, moves).await? {
                steps.add(WEIGHT, session, change);
            }
        }
        forgotten.into_iter().for_each(|change| steps.once(LAST, change));
        Ok(Some(steps.page()))
    }

    pub(super) async fn of_triplet(&self, id: &TripletId, filter: &HistoryFilter, page: &PageRequest) -> Result<Story> {
        let now = self.clock.now();
        let read = |row: &Row<'_>| {
            let learned = first(row, id.as_str(), "learned", "learned_at")?;
            let from = row.get::<Option<String>>("observation_id")?.map(|observation| format!("read from {observation}"));
            Ok((KnowledgeChange { reason: from, ..learned }, ended(row, id, now)?, own(row)?))
        };
        let found = self.rows().first(sql::TRIPLET, &params![self.project, id], read).await?;
        let Some((learned, ended, number)) = found else { return Ok(None) };
        let mut steps = Steps::new(filter, page);
        if let Some(bounds) = steps.stream(AGAIN, ChangeType::Update) {
            let stated_first = params![self.project, number, learned.agent_id, learned.session_id, learned.time];
            let asked = [&stated_first[..], &bounds.by_text()].concat();
            let again = |row: &Row<'_>| first(row, id.as_str(), "stated", "said_at");
            for change in self.rows().query(sql::MENTIONS, &asked, again).await? {
                let session = change.session_id.clone().unwrap_or_default();
                let (id, reason) = (format!("{}:{session}", change.id), Some("stated again".to_owned()));
                steps.add(AGAIN, session, KnowledgeChange { id, change_type: ChangeType::Update, reason, ..change });
            }
        }
        steps.once(FIRST, learned);
        self.add_moves(&mut steps, id.as_str(), number).await?;
        ended.into_iter().for_each(|change| steps.once(LAST, change));
        Ok(Some(steps.page()))
    }

    pub(super) async fn of_entity(&self, id: &EntityId, filter: &HistoryFilter, page: &PageRequest) -> Result<Story> {
        let read = |row: &Row<'_>| {
            let (name, kind) = (row.text("name")?.to_owned(), row.text("type")?.to_owned());
            let detail = if kind.is_empty() { name } else { format!("{name} ({kind})") };
            Ok((change(row, id.as_str(), "created", row.get("created_at")?, Some(detail))?, own(row)?))
        };
        let found = self.rows().first(sql::ENTITY, &params![self.project, id], read).await?;
        let Some((created, number)) = found else { return Ok(None) };
        let mut steps = Steps::new(filter, page);
        steps.once(FIRST, created);
        self.add_moves(&mut steps, id.as_str(), number).await?;
        if let Some(bounds) = steps.stream(PLACE, ChangeType::Update) {
            let asked = [&params![self.project, number][..], &bounds.by_number()].concat();
            let merges = |row: &Row<'_>| Ok((own(row)?, merged(row, id, number)?));
            for (number, change) in self.rows().query(sql::MERGES, &asked, merges).await? {
                steps.add(PLACE, key_of(number), change);
            }
        }
        Ok(Some(steps.page()))
    }

    pub(super) async fn of_decision(&self, id: &DecisionId, filter: &HistoryFilter, page: &PageRequest) -> Result<Story> {
        let read = |row: &Row<'_>| {
            let reason = Some(row.get::<String>("reason")?).filter(|text| !text.is_empty());
            let recorded = first(row, id.as_str(), "recorded", "created_at")?;
            Ok((KnowledgeChange { reason, ..recorded }, gone(row, id.as_str())?))
        };
        let found = self.rows().first(sql::DECISION, &params![self.project, id], read).await?;
        let Some((recorded, forgotten)) = found else { return Ok(None) };
        let mut steps = Steps::new(filter, page);
        steps.once(FIRST, recorded);
        forgotten.into_iter().for_each(|change| steps.once(LAST, change));
        Ok(Some(steps.page()))
    }

    /// Ratings of a triplet or an entity.
    async fn add_moves(&self, steps: &mut Steps<'_>, id: &str, number: i64) -> Result<()> {
        let Some(bounds) = steps.stream(WEIGHT, ChangeType::Update) else { return Ok(()) };
        let asked = [&params![self.project, number][..], &bounds.by_number()].concat();
        let moves = |row: &Row<'_>| Ok((row.get::<i64>("change")?, moved(row, id)?));
        for (number, change) in self.rows().query(sql::GRAPH_MOVES, &asked, moves).await? {
            // An entity moves once for each rated triplet of a session.
            steps.add(WEIGHT, key_of(number), KnowledgeChange { id: format!("{id}:moved:{number}"), ..change });
        }
        Ok(())
    }
}

/// The number of a row.
fn own(row: &Row<'_>) -> Result<i64> {
    row.get("number")
}

/// The first change of a thing, by its author.
fn first(row: &Row<'_>, id: &str, word: &str, time: &str) -> Result<KnowledgeChange> {
    let detail = Some(row.get::<String>("detail")?).filter(|text| !text.is_empty());
    change(row, id, word, row.get(time)?, detail)
}

fn change(row: &Row<'_>, id: &str, word: &str, time: Timestamp, detail: Option<String>) -> Result<KnowledgeChange> {
    Ok(KnowledgeChange {
        id: format!("{id}:{word}"),
        entity_id: id.to_owned(),
        change_type: ChangeType::Create,
        time,
        agent_id: row.get("agent_id")?,
        session_id: row.get("session_id")?,
        reason: None,
        detail,
    })
}

/// How a forgotten thing ended.
fn gone(row: &Row<'_>, id: &str) -> Result<Option<KnowledgeChange>> {
    let (at, by) = (row.get::<Option<Timestamp>>("forgotten_at")?, row.get::<Option<String>>("forgotten_by")?);
    Ok(at.map(|time| KnowledgeChange {
        id: format!("{id}:forgotten"),
        entity_id: id.to_owned(),
        change_type: ChangeType::Delete,
        time,
        agent_id: by,
        session_id: None,
        reason: Some("forgotten".to_owned()),
        detail: None,
    }))
}

/// How a triplet ended: by a newer one, or because someone retracted it. An end that lies ahead has not happened.
fn ended(row: &Row<'_>, id: &TripletId, now: Timestamp) -> Result<Option<KnowledgeChange>> {
    let Some(time) = row.get::<Option<Timestamp>>("superseded_at")?.filter(|time| *time <= now) else { return Ok(None) };
    let (successor, by) = (row.get::<Option<String>>("successor")?, row.get::<Option<String>>("retracted_by")?);
    let (word, change_type, reason, agent_id) = match (successor, by) {
        (None, by) => ("retracted", ChangeType::Delete, "retracted".to_owned(), by),
        (Some(successor), None) => ("superseded", ChangeType::Update, format!("superseded by {successor}"), None),
        (Some(successor), Some(by)) => {
            ("superseded", ChangeType::Update, format!("superseded by {successor}, later retracted by {by}"), None)
        }
    };
    let (id, entity_id) = (format!("{id}:{word}"), id.to_string());
    let reason = Some(reason);
    Ok(Some(KnowledgeChange { id, entity_id, change_type, time, agent_id, session_id: None, reason, detail: None }))
}

/// Another agent stored the same text.
fn corroborated(row: &Row<'_>, id: &ObservationId) -> Result<KnowledgeChange> {
    let other = row.text("id")?.to_owned();
    let corroborated = change(row, id.as_str(), "corroborated", row.get("created_at")?, None)?;
    Ok(KnowledgeChange {
        id: format!("{}:{other}", corroborated.id),
        change_type: ChangeType::Update,
        reason: Some(format!("corroborated by {other}")),
        ..corroborated
    })
}

/// The move of a weight.
fn moved(row: &Row<'_>, id: &str) -> Result<KnowledgeChange> {
    let session: String = row.get("session_id")?;
    let (before, after) = (rounded(row.get::<f64>("weight_before")?), rounded(row.get::<f64>("weight_after")?));
    Ok(KnowledgeChange {
        id: format!("{id}:moved:{session}"),
        entity_id: id.to_owned(),
        change_type: ChangeType::Update,
        time: row.get("moved_at")?,
        agent_id: None,
        session_id: Some(session),
        reason: Some(row.get("outcome")?),
        detail: Some(format!("weight {before} → {after}")),
    })
}

/// A merge or a split, seen from either entity.
fn merged(row: &Row<'_>, id: &EntityId, number: i64) -> Result<KnowledgeChange> {
    let (is_merge, is_own) = (row.get::<bool>("merged")?, row.get::<i64>("entity")? == number);
    let (other, name) = if is_own { ("into_id", "into_name") } else { ("id", "name") };
    let (other, name) = (row.get::<String>(other)?, row.get::<String>(name)?);
    let detail = match (is_merge, is_own) {
        (true, true) => format!("merged into {other} `{name}`"),
        (true, false) => format!("{other} `{name}` was merged into it"),
        (false, true) => format!("split from {other} `{name}`"),
        (false, false) => format!("{other} `{name}` was split from it"),
    };
    let word = if is_merge { "merged" } else { "split" };
    let change = change(row, id.as_str(), word, row.get("happened_at")?, Some(detail))?;
    Ok(KnowledgeChange {
        id: format!("{}:{}", change.id, own(row)?),
        change_type: ChangeType::Update,
        reason: Some(word.to_owned()),
        ..change
    })
}
