//! The open sessions of a caller's project, as other agents see them.

use base::{Clock, Result, SessionId, Timestamp};
use store::{Row, params};

use super::sql;
use crate::admit::Permit;

/// An open session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSession {
    /// Its id.
    pub id: SessionId,
    /// The registered agent, else the launcher's label with a prefix, else the session.
    pub agent: String,
    /// The type of its work.
    pub work_type: Option<String>,
    /// When it was opened.
    pub since: Timestamp,
}

impl Permit {
    /// The open sessions in the caller's project, newest first. None without a project.
    pub async fn open_sessions(&self, clock: &Clock, most: u32) -> Result<Vec<OpenSession>> {
        let Some(project) = self.principal().project.as_ref() else { return Ok(Vec::new()) };
        let open = |row: &Row<'_>| {
            let id = SessionId::from_row(row.text("id")?);
            let label = row.get::<Option<String>>("agent_label")?.map(|label| format!("label:{label}"));
            let agent = row.get::<Option<String>>("agent_id")?.or(label).unwrap_or_else(|| id.to_string());
            Ok(OpenSession { id, agent, work_type: row.get("work_type")?, since: row.get("created_at")? })
        };
        self.rows().query(sql::OPEN_IN_PROJECT, &params![project.id, clock.now(), most], open).await
    }
}
