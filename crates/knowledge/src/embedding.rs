//! Makes vectors of texts in the background. New texts wait in a queue, and answers never wait for it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use base::{Error, OrgId, ProjectId, Result};
use search::background::{spread, threads};
use search::embed::{Embedding, to_row};
use store::{AsParam, Change, OrgStore, Param, Row, params};
use tokio::sync::Notify;

use crate::index::Indexes;
use crate::{changes, sql};

/// The number of texts that are embedded together before rows are written. It bounds the work lost in a crash and the size of
/// one request.
const BATCH: u32 = 16;
/// The same for the bundled model, per thread. Longer batches keep the threads busy while rows are read and written.
const BATCH_PER_THREAD: u32 = 16;

/// What is embedded. Each kind has a separate index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// Observations of agents.
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

/// How much of a project is embedded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Texts that have a vector of the current model.
    pub embedded: u64,
    /// Texts that wait for a vector. A recall that finds something does not count them.
    pub waiting: u64,
    /// Whether the query got no vector, so that only keywords were searched.
    pub words_only: bool,
}

/// Projects with texts that wait to be embedded.
#[derive(Default)]
pub struct Pending {
    projects: Mutex<HashSet<(OrgId, ProjectId)>>,
    told: Notify,
}

impl Pending {
    /// Reports that a project has waiting texts. The sweep finds the unreported ones.
    pub fn tell(&self, org: OrgId, project: ProjectId) {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner).insert((org, project));
        self.told.notify_one();
    }

    /// Waits until a project is reported.
    pub async fn wait(&self) {
        self.told.notified().await;
    }

    /// The projects reported since the last call.
    pub fn take(&self) -> Vec<(OrgId, ProjectId)> {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner).drain().collect()
    }
}

/// The result for a text that waited.
enum Made {
    /// It was forgotten meanwhile and needs no vector.
    Nothing,
    Vector(Embedding),
    /// The model refuses the text.
    Refused,
}

impl Indexes {
    /// Embeds some of a project's waiting texts and returns how many. Call it until it returns zero.
    pub async fn embed_some(&self, change: &Change, project: &ProjectId) -> Result<usize> {
        let row = |row: &Row<'_>| {
            Ok(Waiting { number: row.get("number")?, kind: row.get("kind")?, turn: row.get("turn")?, text: row.get("text")? })
        };
        let (embedder, questions) = (self.embedder(), Arc::clone(&self.questions));
        let threads = threads();
        let most =
            if embedder.is_remote() { BATCH } else { BATCH_PER_THREAD.saturating_mul(u32::try_from(threads).unwrap_or(1)) };
        let waiting = change.as_ref().query(sql::UNEMBEDDED, &params![project, most], row).await?;
        if waiting.is_empty() {
            return Ok(0);
        }
        let model = embedder.model().to_owned();
        let work = move || {
            let embed = |texts: &[&str]| match embedder.is_remote() {
                true => embedder.embed_texts(texts),
                false => spread(embedder.as_ref(), texts, threads, &questions),
            };
            make(embed, waiting)
        };
        let made = tokio::task::spawn_blocking(work).await.map_err(Error::internal)??;
        for (Waiting { number, .. }, _) in made.iter().filter(|(_, made)| matches!(made, Made::Refused)) {
            tracing::warn!(%project, number, "the embedder refuses a text; only keywords find it until the model changes");
        }
        let (project, count) = (*project, made.len());
        // It need not be on disk at once: a power cut loses some work, and the texts are still in the queue.
        let write = change.note(move |tx| {
            for (Waiting { number, kind, turn, .. }, made) in &made {
                // A text that was forgotten, or embedded by another node, has left the queue. A text that changed is embedded
                // again.
                if tx.execute(sql::TAKE_EMBEDDED, &params![project, number, turn])? == 0 {
                    continue;
                }
                let numbers = match made {
                    Made::Nothing => continue,
                    Made::Vector(embedding) => embedding,
                    // An empty vector under the model's name keeps it out of the queue until the model changes.
                    Made::Refused => &[][..],
                };
                let (change, vector) = (changes::next(tx, &project)?, to_row(numbers));
                let (dimension, vector) = (i64::try_from(numbers.len()).unwrap_or(i64::MAX), vector.as_slice());
                tx.execute(sql::UPSERT_VECTOR, &params![project, number, kind, change, model, dimension, vector])?;
            }
            Ok(())
        });
        write.await?;
        Ok(count)
    }

    /// The number of a project's texts that wait for a vector.
    pub async fn waiting(&self, rows: &OrgStore, project: &ProjectId) -> Result<u64> {
        let waiting = rows.first(sql::UNEMBEDDED_OF_ALL_KINDS, &params![project], |row| row.get::<i64>("count")).await?;
        Ok(waiting.unwrap_or(0).unsigned_abs())
    }

    /// Queues texts that another model had embedded, and returns an org's projects with waiting texts. Runs at the start and at
    /// intervals.
    pub async fn find_waiting(&self, change: &Change) -> Result<Vec<ProjectId>> {
        let rows = change.as_ref();
        let model = self.embedder().model().to_owned();
        if rows.first(sql::ANY_OTHER_MODEL, &params![model], |_| Ok(())).await?.is_some() {
            change.write(move |tx| tx.execute(sql::ENQUEUE_OTHER_MODELS, &params![model])).await?;
        }
        rows.query(sql::PROJECTS_UNEMBEDDED, &[], |row| Ok(ProjectId::from_row(row.text("project_id")?))).await
    }
}

/// A text without a vector.
struct Waiting {
    number: i64,
    kind: String,
    turn: i64,
    text: String,
}

/// Vectors of texts, if the model accepts them, in order.
type Vectors = Vec<Option<Embedding>>;

/// The vectors of the waiting texts, in order.
fn make(embed: impl FnOnce(&[&str]) -> Result<Vectors>, waiting: Vec<Waiting>) -> Result<Vec<(Waiting, Made)>> {
    let texts: Vec<&str> = waiting.iter().map(|waiting| waiting.text.as_str()).filter(|text| !text.is_empty()).collect();
    let vectors = if texts.is_empty() { Vec::new() } else { embed(&texts)? };
    if vectors.len() != texts.len() {
        return Err(Error::internal(format!("the embedder returned {} vectors for {} texts", vectors.len(), texts.len())));
    }
    let mut vectors = vectors.into_iter();
    let made = |waiting: Waiting| {
        let is_empty = waiting.text.is_empty();
        let made = if is_empty { Made::Nothing } else { vectors.next().flatten().map_or(Made::Refused, Made::Vector) };
        (waiting, made)
    };
    Ok(waiting.into_iter().map(made).collect())
}

#[cfg(test)]
mod tests {
    use search::embed::Embedder;

    use super::*;

    /// Refuses texts that start with `no`, and returns no vector for texts that start with `few`.
    struct Choosy;

    impl Embedder for Choosy {
        fn model(&self) -> &str {
            "choosy"
        }

        fn dimension(&self) -> usize {
            1
        }

        fn embed_query(&self, _: &str) -> Result<Embedding> {
            Ok(Embedding::new(vec![1.0]))
        }

        fn embed_texts(&self, texts: &[&str]) -> Result<Vec<Option<Embedding>>> {
            let vector = |text: &&str| (!text.starts_with("no")).then(|| Embedding::new(vec![text.len() as f32]));
            Ok(texts.iter().filter(|text| !text.starts_with("few")).map(vector).collect())
        }
    }

    #[test]
    fn each_text_gets_its_vector_or_none() {
        let waiting = |texts: &[&str]| {
            let one = |(number, text): (i64, &&str)| Waiting { number, kind: String::new(), turn: 0, text: (*text).to_owned() };
            (1..).zip(texts).map(one).collect::<Vec<_>>()
        };
        let made = make(|texts| Choosy.embed_texts(texts), waiting(&["yes", "", "no", "yes"])).unwrap();
        let kinds = made.iter().map(|(Waiting { number, .. }, made)| match made {
            Made::Nothing => (*number, "nothing"),
            Made::Vector(_) => (*number, "vector"),
            Made::Refused => (*number, "refused"),
        });
        assert_eq!(kinds.collect::<Vec<_>>(), [(1, "vector"), (2, "nothing"), (3, "refused"), (4, "vector")]);
        assert!(make(|texts| Choosy.embed_texts(texts), waiting(&["yes", "few"])).is_err(), "nobody knows whose vector it is");
        assert!(make(|texts| Choosy.embed_texts(texts), waiting(&[""])).is_ok());
    }
}
