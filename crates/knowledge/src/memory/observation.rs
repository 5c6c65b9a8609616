//! One observation, as stored and as shown.

use base::limits::{OBSERVATION_CHARS_MAX, OBSERVATION_TYPE_CHARS_MAX};
use base::{ObservationId, Result, Timestamp};
use store::Row;

use super::text;
use crate::Error;

/// A new observation.
#[derive(Clone, Debug, Default)]
pub struct NewObservation {
    /// The text.
    pub content: String,
    /// Its type: a short word.
    pub kind: Option<String>,
    /// How certain the agent is, from 0 to 1.
    pub confidence: Option<f64>,
}

/// An observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Its id.
    pub id: ObservationId,
    /// Its number in the project.
    pub number: i64,
    /// Its author.
    pub agent: String,
    /// Its session.
    pub session: String,
    /// The text. Empty if it was forgotten.
    pub content: String,
    /// Its type.
    pub kind: String,
    /// How certain its author was.
    pub confidence: Option<f64>,
    /// How useful it was so far, from 0 to 1.
    pub weight: f64,
    /// How many other agents stored the same text.
    pub corroborations: i64,
    /// When it was stored.
    pub created_at: Timestamp,
    /// When it was forgotten, if it was.
    pub forgotten_at: Option<Timestamp>,
}

/// One change of a weight.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightMove {
    /// The session that had recalled it.
    pub session: String,
    /// The outcome of that session.
    pub outcome: String,
    /// The weight before.
    pub before: f64,
    /// The weight after.
    pub after: f64,
    /// When.
    pub at: Timestamp,
}

impl WeightMove {
    pub(crate) fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            session: row.get("session_id")?,
            outcome: row.get("outcome")?,
            before: row.get("weight_before")?,
            after: row.get("weight_after")?,
            at: row.get("moved_at")?,
        })
    }
}

/// A validated and normalised observation.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub(super) content: String,
    pub(super) kind: String,
    pub(super) confidence: Option<f64>,
    pub(super) hash: String,
    pub(super) simhash: i64,
}

impl NewObservation {
    pub(crate) fn checked(self) -> Result<Checked, Error> {
        let content = text::normalised(&self.content);
        if content.is_empty() {
            return Err(Error::EmptyContent);
        }
        let chars = content.chars().count();
        if chars > OBSERVATION_CHARS_MAX {
            return Err(Error::ContentTooLong { chars });
        }
        if content.contains('\0') {
            return Err(Error::ContentHoldsNul);
        }
        let kind = text::type_of(self.kind.as_deref().unwrap_or_default());
        if kind.chars().count() > OBSERVATION_TYPE_CHARS_MAX || kind.chars().any(char::is_control) {
            return Err(Error::BadType);
        }
        if self.confidence.is_some_and(|confidence| !(0.0..=1.0).contains(&confidence)) {
            return Err(Error::BadConfidence);
        }
        let (hash, simhash) = (text::hash_of(&content), text::simhash(&content).cast_signed());
        Ok(Checked { content, kind, confidence: self.confidence, hash, simhash })
    }
}

impl Observation {
    /// The columns of [`super::sql::COLUMNS`], in order.
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: ObservationId::from_row(row.text("id")?),
            number: row.get("number")?,
            agent: row.get("agent_id")?,
            session: row.get("session_id")?,
            content: row.get("content")?,
            kind: row.get("type")?,
            confidence: row.get("confidence")?,
            weight: row.get("weight")?,
            corroborations: row.get("corroborations")?,
            created_at: row.get("created_at")?,
            forgotten_at: row.get("forgotten_at")?,
        })
    }

    /// Whether the text reads like an instruction, so that answers warn about it.
    pub fn is_instruction_like(&self) -> bool {
        text::is_instruction_like(&self.content)
    }
}
