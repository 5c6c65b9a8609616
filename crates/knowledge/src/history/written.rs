//! Everything that one session wrote, or all sessions of the project. Rows are numbered in the order in which they were written.

use base::{Cursor, Page, PageRequest, Result, Timestamp};
use store::{AsParam, OrgStore, Row, params};

use super::{ChangeType, HistoryFilter, KnowledgeChange, KnowledgeHistory, sql};

impl<R: AsRef<OrgStore>> KnowledgeHistory<R> {
    /// A page of the observations, triplets and decisions of the project, newest first.
    pub async fn history_of_project(&self, filter: &HistoryFilter, page: &PageRequest) -> Result<Page<KnowledgeChange>> {
        self.written(None, filter, page).await
    }

    pub(super) async fn of_session(
        &self,
        session: &str,
        filter: &HistoryFilter,
        page: &PageRequest,
    ) -> Result<Option<Page<KnowledgeChange>>> {
        let first = PageRequest { rows: 1, after: None };
        if self.written(Some(session), &HistoryFilter::default(), &first).await?.items.is_empty() {
            return Ok(None);
        }
        self.written(Some(session), filter, page).await.map(Some)
    }

    async fn written(&self, session: Option<&str>, filter: &HistoryFilter, page: &PageRequest) -> Result<Page<KnowledgeChange>> {
        // Everything here is the first change of something.
        if !filter.types.is_empty() && !filter.types.contains(&ChangeType::Create) {
            return Ok(Page { items: Vec::new(), next: None });
        }
        // There is nothing older than a position that no row has.
        let before: i64 = page.after.as_ref().map_or(i64::MAX, |cursor| cursor.id.parse().unwrap_or(0));
        let (since, until) = (filter.since.map_or(i64::MIN, Timestamp::ms), filter.until.map_or(i64::MAX, Timestamp::ms));
        let rows = page.rows.saturating_add(1);
        let asked = params![self.project, before, since, until, rows];
        let found = match session {
            None => self.rows().query(sql::WRITTEN, &asked, numbered).await?,
            Some(session) => {
                let asked = [&asked[..], &[session.as_param()]].concat();
                self.rows().query(sql::WRITTEN_IN_SESSION, &asked, numbered).await?
            }
        };
        let place = |(number, change): &(i64, KnowledgeChange)| Cursor { created_at: change.time, id: number.to_string() };
        let page = Page::from_rows(found, page.rows, place);
        Ok(Page { items: page.items.into_iter().map(|(_, change)| change).collect(), next: page.next })
    }
}

fn numbered(row: &Row<'_>) -> Result<(i64, KnowledgeChange)> {
    let (id, word) = (row.text("id")?.to_owned(), row.text("word")?.to_owned());
    let change = KnowledgeChange {
        id: format!("{id}:{word}"),
        entity_id: id,
        change_type: ChangeType::Create,
        time: row.get("created_at")?,
        agent_id: Some(row.get("agent_id")?),
        session_id: Some(row.get("session_id")?),
        reason: None,
        detail: Some(row.get::<String>("detail")?).filter(|text| !text.is_empty()),
    };
    Ok((row.get("number")?, change))
}
