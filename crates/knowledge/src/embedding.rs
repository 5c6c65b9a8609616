//! From texts to vectors, behind everyone's back: what was just written waits in a queue, and answers never wait for it.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use base::{Error, OrgId, ProjectId, Result};
use search::embed::Embedding;
use store::{AsParam, OrgStore, Param, Row, params};
use tokio::sync::Notify;

use crate::index::Indexes;
use crate::{changes, sql};

/// Texts that are embedded before the rows are written: bounds what a crash makes again.
const BATCH: u32 = 16;
/// The largest 16-bit component: vectors have length one, so no component is larger than one.
const ONE: f32 = 32_767.0;

/// Whose texts are embedded. Each kind has an index of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// What agents noted.
    Observation,
    /// Entities and triplets.
    Graph,
}

impl AsParam for TextKind {
    fn as_param(&self) -> Param<'_> {
        Param::Text(match self {
            Self::Observation => "observation",
            Self::Graph => "graph",
        })
    }
}

/// How much of a project is known by meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Texts that have a vector of the present model.
    pub embedded: u64,
    /// Texts that wait for one.
    pub waiting: u64,
}

/// Projects where something waits to be embedded.
#[derive(Default)]
pub struct Pending {
    projects: Mutex<HashSet<(OrgId, ProjectId)>>,
    told: Notify,
}

impl Pending {
    /// Says that something waits. The sweep finds what nobody told of.
    pub fn tell(&self, org: OrgId, project: ProjectId) {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner).insert((org, project));
        self.told.notify_one();
    }

    /// Waits until something was told.
    pub async fn wait(&self) {
        self.told.notified().await;
    }

    /// What was told since this was last asked.
    pub fn take(&self) -> Vec<(OrgId, ProjectId)> {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner).drain().collect()
    }
}

impl Indexes {
    /// Embeds some of what waits in a project, and says how many that were: call it until it says none.
    pub async fn embed_some(&self, rows: &OrgStore, project: &ProjectId) -> Result<usize> {
        let row = |row: &Row<'_>| Ok(Waiting { number: row.get(0)?, kind: row.get(1)?, turn: row.get(2)?, text: row.get(3)? });
        let waiting = rows.query(sql::UNEMBEDDED, &params![project, BATCH], row).await?;
        if waiting.is_empty() {
            return Ok(0);
        }
        let embedder = self.embedder();
        let model = embedder.model().to_owned();
        let work = move || -> Result<Vec<(Waiting, Option<Embedding>)>> {
            // What was forgotten has no text, and needs no vector.
            let embed = |text: &str| if text.is_empty() { Ok(None) } else { embedder.embed(text).map(Some) };
            let made = |waiting: Waiting| embed(&waiting.text).map(|embedding| (waiting, embedding));
            waiting.into_iter().map(made).collect()
        };
        let made = tokio::task::spawn_blocking(work).await.map_err(Error::internal)??;
        let (project, count) = (*project, made.len());
        rows.write(move |tx| {
            for (Waiting { number, kind, turn, .. }, embedding) in &made {
                // Whoever forgot it meanwhile, or was faster, has taken it out of the queue; whoever changed it wants it made anew.
                if tx.execute(sql::TAKE_EMBEDDED, &params![project, number, turn])? == 0 {
                    continue;
                }
                if let Some(embedding) = embedding {
                    let (change, vector) = (changes::next(tx, &project)?, to_row(embedding));
                    let dimension = i64::try_from(embedding.len()).unwrap_or(i64::MAX);
                    let vector = vector.as_slice();
                    tx.execute(sql::UPSERT_VECTOR, &params![project, number, kind, change, model, dimension, vector])?;
                }
            }
            Ok(())
        })
        .await?;
        Ok(count)
    }

    /// Projects of an org where something waits, and what another model had embedded waits again. For the start, and now and then.
    pub async fn find_waiting(&self, rows: &OrgStore) -> Result<Vec<ProjectId>> {
        let model = self.embedder().model().to_owned();
        if rows.first(sql::ANY_OTHER_MODEL, &params![model], |_| Ok(())).await?.is_some() {
            rows.write(move |tx| tx.execute(sql::ENQUEUE_OTHER_MODELS, &params![model])).await?;
        }
        rows.query(sql::PROJECTS_UNEMBEDDED, &[], |row| Ok(ProjectId::from_row(row.text(0)?))).await
    }
}

/// A text that has no vector yet.
struct Waiting {
    number: i64,
    kind: String,
    turn: i64,
    text: String,
}

fn to_row(embedding: &[f32]) -> Vec<u8> {
    embedding.iter().flat_map(|component| ((component * ONE).round() as i16).to_le_bytes()).collect()
}

/// The vector that a row keeps.
pub(crate) fn from_row(bytes: &[u8]) -> Vec<f32> {
    bytes
        .chunks_exact(2)
        .map(|pair| f32::from(i16::from_le_bytes([pair.first().copied().unwrap_or(0), pair.last().copied().unwrap_or(0)])) / ONE)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_back_as_they_went() {
        let vector = [0.5, -1.0, 0.0, 1.0, 0.123_456];
        for (back, was) in from_row(&to_row(&vector)).iter().zip(vector) {
            assert!((back - was).abs() < 2e-5);
        }
    }
}
