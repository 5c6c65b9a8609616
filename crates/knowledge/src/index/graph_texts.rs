//! The keywords and vectors of entities and triplets, which find the entry points of a query.

use std::path::Path;

use base::{ProjectId, Result};
use store::{OrgStore, Row, params};
use tokio::sync::Mutex;

use super::ROWS_AT_ONCE;
use super::loaded::Loaded;
use super::texts::Texts;
use crate::embedding::TextKind;
use crate::graph::WORDED;
use crate::sql;

/// The texts of one project's graph.
pub(crate) struct GraphTexts {
    pub(crate) texts: Texts,
    /// Held while following changes, so that concurrent callers wait for the same rows.
    seen: Mutex<Seen>,
}

/// The last changes that were followed.
#[derive(Default)]
struct Seen {
    anything: i64,
    words: i64,
    vectors: i64,
}

impl GraphTexts {
    pub(super) fn open(folder: Option<&Path>, dimension: usize) -> Result<Self> {
        let texts = Texts::open(TextKind::Graph, folder, dimension)?;
        // Entities and triplets share one order of changes, so a stored index has all texts up to its last change.
        let seen = Seen { words: texts.words_until, ..Seen::default() };
        Ok(Self { texts, seen: Mutex::new(seen) })
    }

    /// Applies changes since the last call.
    pub(super) async fn catch_up(&self, rows: &OrgStore, project: &ProjectId, model: &str) -> Result<()> {
        let mut seen = self.seen.lock().await;
        let last = rows.first(sql::LAST_CHANGE, &params![project], |row| row.get::<i64>("number")).await?.unwrap_or(0);
        if last <= seen.anything {
            return Ok(());
        }
        loop {
            let row = |row: &Row<'_>| Ok((row.get::<i64>("number")?, row.get::<i64>("worded")?, row.get::<String>("text")?));
            let worded = rows.query(WORDED, &params![project, seen.words, last, ROWS_AT_ONCE], row).await?;
            for (number, change, text) in &worded {
                self.texts.put(*number, text, *change)?;
                seen.words = *change;
            }
            if (worded.len() as i64) < ROWS_AT_ONCE {
                break;
            }
        }
        seen.vectors = self.texts.follow_vectors(rows, project, model, seen.vectors).await?;
        seen.anything = last;
        Ok(())
    }
}

impl Loaded for GraphTexts {
    fn bytes(&self) -> usize {
        self.texts.bytes()
    }

    fn flush(&self) {
        self.texts.flush();
    }
}
