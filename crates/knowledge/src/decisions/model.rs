//! One decision, as stated and as stored.

use std::fmt::Write;

use base::limits::{
    DECISION_ALTERNATIVE_CHARS_MAX, DECISION_ALTERNATIVES_MAX, DECISION_CHARS_MAX, DECISION_CONTEXT_BYTES_MAX,
    DECISION_REASONING_CHARS_MAX,
};
use base::{DecisionId, ObservationId, Result, Timestamp};
use serde_json::{Map, Value};
use store::Row;

use crate::{DecisionFlaw, DecisionPart, Error};

/// The expected impact of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Impact {
    /// Low.
    Low,
    /// Medium.
    Medium,
    /// High.
    High,
    /// Critical.
    Critical,
}

impl Impact {
    /// The word in rows and answers.
    pub const fn word(self) -> &'static str {
        match self {
            Impact::Low => "low",
            Impact::Medium => "medium",
            Impact::High => "high",
            Impact::Critical => "critical",
        }
    }

    /// Parses the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Impact::Low, Impact::Medium, Impact::High, Impact::Critical].into_iter().find(|impact| impact.word() == word)
    }
}

/// A new decision.
#[derive(Clone, Debug, Default)]
pub struct NewDecision {
    /// What was decided.
    pub decision: String,
    /// Why.
    pub reasoning: String,
    /// What was known at that time.
    pub context: Option<Map<String, Value>>,
    /// How certain the agent is, from 0 to 1.
    pub confidence: Option<f64>,
    /// Options that were not chosen.
    pub alternatives: Vec<String>,
    /// The expected impact.
    pub impact: Option<Impact>,
}

/// A decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Its id.
    pub id: DecisionId,
    /// Its number in the project.
    pub number: i64,
    /// Who decided.
    pub agent: String,
    /// In which session.
    pub session: String,
    /// What was decided. Empty if it was forgotten.
    pub decision: String,
    /// Why. Empty if it was forgotten.
    pub reasoning: String,
    /// What was known at that time.
    pub context: Option<Map<String, Value>>,
    /// How certain the agent was.
    pub confidence: Option<f64>,
    /// Options that were not chosen.
    pub alternatives: Vec<String>,
    /// The expected impact.
    pub impact: Option<Impact>,
    /// The observation with the same text.
    pub observation: ObservationId,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// When it was forgotten, if it was.
    pub forgotten_at: Option<Timestamp>,
}

impl Decision {
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self> {
        // We wrote both texts ourselves. The rest of the row is useful even if one cannot be parsed.
        let context = row.get::<Option<String>>("context")?.and_then(|text| serde_json::from_str(&text).ok());
        let alternatives = serde_json::from_str(row.text("alternatives")?).unwrap_or_default();
        Ok(Self {
            id: DecisionId::from_row(row.text("id")?),
            number: row.get("number")?,
            agent: row.get("agent_id")?,
            session: row.get("session_id")?,
            decision: row.get("decision")?,
            reasoning: row.get("reasoning")?,
            context,
            confidence: row.get("confidence")?,
            alternatives,
            impact: row.get::<Option<String>>("impact")?.and_then(|word| Impact::parse(&word)),
            observation: ObservationId::from_row(row.text("observation_id")?),
            created_at: row.get("created_at")?,
            forgotten_at: row.get("forgotten_at")?,
        })
    }

    /// Whether a lower-case word or phrase is in its texts.
    pub(super) fn mentions(&self, lower: &str) -> bool {
        let texts = [&self.decision, &self.reasoning].into_iter().chain(&self.alternatives);
        texts.into_iter().any(|text| text.to_lowercase().contains(lower))
    }
}

impl NewDecision {
    /// The same decision without surrounding white space, if it is within the limits.
    pub(super) fn checked(self) -> Result<Self, Error> {
        let flawed = |part, flaw| Error::BadDecision { part, flaw };
        let decision = checked(&self.decision, DECISION_CHARS_MAX).map_err(|flaw| flawed(DecisionPart::Decision, flaw))?;
        let reasoning =
            checked(&self.reasoning, DECISION_REASONING_CHARS_MAX).map_err(|flaw| flawed(DecisionPart::Reasoning, flaw))?;
        if self.alternatives.len() > DECISION_ALTERNATIVES_MAX {
            return Err(flawed(DecisionPart::Alternatives, DecisionFlaw::TooMany { most: DECISION_ALTERNATIVES_MAX }));
        }
        let alternative = |(position, text): (usize, &String)| {
            checked(text, DECISION_ALTERNATIVE_CHARS_MAX).map_err(|flaw| flawed(DecisionPart::Alternative(position), flaw))
        };
        let alternatives = self.alternatives.iter().enumerate().map(alternative).collect::<Result<Vec<_>, Error>>()?;
        if self.confidence.is_some_and(|confidence| !(0.0..=1.0).contains(&confidence)) {
            return Err(Error::BadConfidence);
        }
        Ok(Self { decision, reasoning, alternatives, ..self })
    }

    /// The context as the row stores it.
    pub(super) fn context_text(&self) -> Result<Option<String>, Error> {
        let Some(context) = &self.context else { return Ok(None) };
        let text = serde_json::to_string(context).map_err(base::Error::internal)?;
        if text.len() > DECISION_CONTEXT_BYTES_MAX {
            let flaw = DecisionFlaw::TooLarge { bytes: text.len(), most: DECISION_CONTEXT_BYTES_MAX };
            return Err(Error::BadDecision { part: DecisionPart::Context, flaw });
        }
        Ok(Some(text))
    }

    /// The text of its observation.
    pub(super) fn readable(&self) -> String {
        let mut text = format!("Decision: {}\nReasoning: {}", self.decision, self.reasoning);
        if !self.alternatives.is_empty() {
            text.push_str("\nAlternatives considered:");
            for alternative in &self.alternatives {
                // Writing into a string cannot fail.
                let _ = write!(text, "\n- {alternative}");
            }
        }
        if let Some(impact) = self.impact {
            let _ = write!(text, "\nImpact: {}", impact.word());
        }
        text
    }
}

fn checked(text: &str, most: usize) -> Result<String, DecisionFlaw> {
    let text = text.trim();
    match text.chars().count() {
        0 => Err(DecisionFlaw::Blank),
        chars if chars > most => Err(DecisionFlaw::TooLong { chars, most }),
        _ if text.contains('\0') => Err(DecisionFlaw::HoldsNul),
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::limits::OBSERVATION_CHARS_MAX;

    fn new(change: impl FnOnce(&mut NewDecision)) -> NewDecision {
        let mut new = NewDecision { decision: " Use SQLite ".into(), reasoning: "One file".into(), ..NewDecision::default() };
        change(&mut new);
        new
    }

    #[test]
    fn the_text_of_the_observation_says_everything_but_the_context() {
        let decision = new(|new| {
            new.alternatives = vec!["PostgreSQL".into(), " a file ".into()];
            new.impact = Some(Impact::High);
        });
        let expected =
            "Decision: Use SQLite\nReasoning: One file\nAlternatives considered:\n- PostgreSQL\n- a file\nImpact: high";
        assert_eq!(decision.checked().unwrap().readable(), expected);
        assert_eq!(new(|_| ()).checked().unwrap().readable(), "Decision: Use SQLite\nReasoning: One file");
    }

    #[test]
    fn the_longest_decision_fits_into_an_observation() {
        let longest = new(|new| {
            new.decision = "d".repeat(DECISION_CHARS_MAX);
            new.reasoning = "r".repeat(DECISION_REASONING_CHARS_MAX);
            new.alternatives = vec!["a".repeat(DECISION_ALTERNATIVE_CHARS_MAX); DECISION_ALTERNATIVES_MAX];
            new.impact = Some(Impact::Critical);
        });
        assert!(longest.checked().unwrap().readable().chars().count() <= OBSERVATION_CHARS_MAX);
    }

    #[test]
    fn a_refusal_names_the_part() {
        let refusal = |change: fn(&mut NewDecision)| new(change).checked().unwrap_err().to_string();
        assert_eq!(refusal(|new| new.decision = " ".into()), "the decision is empty");
        assert_eq!(refusal(|new| new.reasoning = "a\0".into()), "the reasoning must not contain the NUL character (U+0000)");
        assert_eq!(refusal(|new| new.alternatives = vec!["a".into(), String::new()]), "alternative 2 is empty");
        assert_eq!(refusal(|new| new.alternatives = vec!["a".into(); 51]), "the list of alternatives has more than 50 entries");
        assert_eq!(refusal(|new| new.confidence = Some(f64::NAN)), "`confidence` must be a number from 0 to 1");
        let large = new(|new| new.context = Some(Map::from_iter([("a".to_owned(), Value::from("b".repeat(70_000)))])));
        assert!(large.context_text().unwrap_err().to_string().starts_with("the context has 70008 bytes"));
    }
}
