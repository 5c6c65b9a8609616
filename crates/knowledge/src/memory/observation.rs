//! One observation, as rows keep it and people read it.

use base::limits::{OBSERVATION_CHARS_MAX, OBSERVATION_TYPE_CHARS_MAX};
use base::{Error, ObservationId, Result, Timestamp};
use store::Row;

use super::text;

/// What an agent wants remembered.
#[derive(Clone, Debug, Default)]
pub struct NewObservation {
    /// The text.
    pub content: String,
    /// What kind of thing it is: a free, short word.
    pub kind: Option<String>,
    /// How sure the agent is, from 0 to 1.
    pub confidence: Option<f64>,
}

/// Something an agent noted.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Its name.
    pub id: ObservationId,
    /// Its place among what the project knows.
    pub number: i64,
    /// Who said it.
    pub agent: String,
    /// In which session.
    pub session: String,
    /// What was said. Empty when it was forgotten.
    pub content: String,
    /// What kind of thing it is.
    pub kind: String,
    /// How sure its author was.
    pub confidence: Option<f64>,
    /// How well it has served, from 0 to 1.
    pub weight: f64,
    /// Other agents that said the same.
    pub corroborations: i64,
    /// When it was said.
    pub created_at: Timestamp,
    /// When it was forgotten, if it was.
    pub forgotten_at: Option<Timestamp>,
}

/// One move of a weight.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightMove {
    /// The session that had recalled it.
    pub session: String,
    /// How that session ended.
    pub outcome: String,
    /// The weight before.
    pub before: f64,
    /// And after.
    pub after: f64,
    /// When.
    pub at: Timestamp,
}

/// A new observation, checked and normalised.
#[derive(Clone, Debug)]
pub(super) struct Checked {
    pub(super) content: String,
    pub(super) kind: String,
    pub(super) confidence: Option<f64>,
    pub(super) hash: String,
    pub(super) simhash: i64,
}

impl NewObservation {
    pub(super) fn checked(self) -> Result<Checked> {
        let content = text::normalised(&self.content);
        if content.is_empty() {
            return Err(Error::invalid("content", "there is nothing to remember: the text is empty"));
        }
        let chars = content.chars().count();
        if chars > OBSERVATION_CHARS_MAX {
            let message = format!("an observation has at most {OBSERVATION_CHARS_MAX} characters, and this has {chars}");
            return Err(Error::invalid("content", message));
        }
        if content.contains('\0') {
            return Err(Error::invalid("content", "a text cannot hold the character U+0000"));
        }
        let kind = text::type_of(self.kind.as_deref().unwrap_or_default());
        if kind.chars().count() > OBSERVATION_TYPE_CHARS_MAX || kind.chars().any(char::is_control) {
            let message = format!("a type is a word of at most {OBSERVATION_TYPE_CHARS_MAX} characters");
            return Err(Error::invalid("type", message));
        }
        if self.confidence.is_some_and(|confidence| !(0.0..=1.0).contains(&confidence)) {
            return Err(Error::invalid("confidence", "confidence is a number from 0 to 1"));
        }
        let (hash, simhash) = (text::hash_of(&content), text::simhash(&content).cast_signed());
        Ok(Checked { content, kind, confidence: self.confidence, hash, simhash })
    }
}

impl Observation {
    /// The columns of [`super::sql::COLUMNS`], in their order.
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: ObservationId::from_row(row.text(0)?),
            number: row.get(1)?,
            agent: row.get(2)?,
            session: row.get(3)?,
            content: row.get(4)?,
            kind: row.get(5)?,
            confidence: row.get(6)?,
            weight: row.get(7)?,
            corroborations: row.get(8)?,
            created_at: row.get(9)?,
            forgotten_at: row.get(10)?,
        })
    }

    /// Whether the text reads like an order: whoever shows it warns of it.
    pub fn is_instruction_like(&self) -> bool {
        text::is_instruction_like(&self.content)
    }
}
