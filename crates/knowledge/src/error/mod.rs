//! The refusals of memory and the graph. They speak of what was asked, not of how it was sent: the tools add the parameter, and
//! the management API adds the status.

mod parts;

use base::limits::{
    AUTHOR_CHARS_MAX, ENTITY_MEMBERS_MAX, FUNCTIONAL_TARGETS_MAX, IMPORT_LINES_MAX, OBSERVATION_CHARS_MAX,
    OBSERVATION_TYPE_CHARS_MAX, TRIPLETS_PER_CALL_MAX,
};
use base::{DecisionId, EntityId, Kind, ObservationId, Timestamp, TripletId};

use crate::memory::ORIGIN_PREFIX;

pub use parts::{Asked, DecisionFlaw, DecisionPart, EntityPart, Flaw, Origin, Part, Undo};

/// A refusal by memory or the graph.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The text of an observation is empty.
    #[error("`content` is empty")]
    EmptyContent,
    /// The text of an observation is too long.
    #[error("`content` has {chars} characters; the maximum is {OBSERVATION_CHARS_MAX}")]
    ContentTooLong {
        /// Its length.
        chars: usize,
    },
    /// The text of an observation contains U+0000, which PostgreSQL cannot store.
    #[error("`content` must not contain the NUL character (U+0000)")]
    ContentHoldsNul,
    /// The type of an observation is too long or has control characters.
    #[error("`type` must be a word of at most {OBSERVATION_TYPE_CHARS_MAX} characters")]
    BadType,
    /// A confidence is not between 0 and 1.
    #[error("`confidence` must be a number from 0 to 1")]
    BadConfidence,
    /// The weight of an imported observation is not between 0 and 1.
    #[error("weight must be a number from 0 to 1")]
    BadWeight,
    /// An imported observation was made later than now.
    #[error("createdAt is in the future: {created_at} is after {now} by this server's clock")]
    MadeInFuture {
        /// When it was made.
        created_at: Timestamp,
        /// The time here.
        now: Timestamp,
    },
    /// The original author or session of an imported observation is too long or has control characters.
    #[error("{origin} must have at most {} characters and no control characters", AUTHOR_CHARS_MAX - ORIGIN_PREFIX.len())]
    BadOrigin {
        /// The author or the session.
        origin: Origin,
    },
    /// An import is too long.
    #[error("an import has at most {IMPORT_LINES_MAX} observations; send the rest in another one")]
    TooManyLines,
    /// A line of an import is refused.
    #[error("line {line}: {refusal}")]
    InLine {
        /// Its number.
        line: u64,
        /// The reason.
        refusal: Box<Error>,
    },
    /// A rollback names neither an agent nor a session.
    #[error("give an agent, a session or both to {undo}")]
    NobodyNamed {
        /// What was asked.
        undo: Undo,
    },
    /// A call states no fact, or too many.
    #[error("send 1 to {TRIPLETS_PER_CALL_MAX} triplets per call")]
    TripletCount,
    /// A part of a stated fact is wrong.
    #[error("{part} of triplet {} {flaw}", position + 1)]
    BadTriplet {
        /// The index in the call.
        position: usize,
        /// The part.
        part: Part,
        /// What is wrong with it.
        flaw: Flaw,
    },
    /// A fact is stated as functional, but the relationship has many targets.
    #[error("`{relationship}` has more than {FUNCTIONAL_TARGETS_MAX} targets here, so it is not functional")]
    NotFunctional {
        /// The index in the call.
        position: usize,
        /// The relationship.
        relationship: String,
    },
    /// A merge would combine too many entities.
    #[error("`{name}` would combine {count} entities; the maximum is {ENTITY_MEMBERS_MAX}")]
    TooManyMembers {
        /// The entity that the others would be merged into.
        name: String,
        /// How many there would be.
        count: usize,
    },
    /// A rating is not between 0 and 1.
    #[error("`score` must be a number from 0 to 1")]
    BadScore,
    /// A call names a triplet by an unknown id.
    #[error("no triplet has this id")]
    UnknownListedTriplet {
        /// The index in the call.
        position: usize,
    },
    /// A call names a triplet by parts that no triplet has.
    #[error("there is no triplet `{fact}`")]
    UnknownFact {
        /// The index in the call.
        position: usize,
        /// Source, relationship and target.
        fact: String,
    },
    /// No entity has this name.
    #[error("there is no entity called `{called}`: {}", hint(near))]
    NoEntityCalled {
        /// Where the name stands.
        asked: Asked,
        /// The name, shortened.
        called: String,
        /// Names that were probably meant.
        near: Vec<String>,
    },
    /// A part of a new decision is wrong.
    #[error("{part} {flaw}")]
    BadDecision {
        /// The part.
        part: DecisionPart,
        /// What is wrong with it.
        flaw: DecisionFlaw,
    },
    /// There is no such decision in this project.
    #[error("there is no decision `{0}`")]
    UnknownDecision(DecisionId),
    /// There is no such observation in this project.
    #[error("there is no observation `{0}`")]
    UnknownObservation(ObservationId),
    /// There is no such triplet in this project.
    #[error("there is no triplet `{0}`")]
    UnknownTriplet(TripletId),
    /// There is no such entity in this project.
    #[error("there is no entity `{0}`")]
    UnknownEntity(EntityId),
    /// The entity to split is not merged.
    #[error("`{name}` is not merged into another")]
    NotMerged {
        /// Its name.
        name: String,
    },
    /// The entity to merge is merged already.
    #[error("`{name}` is already merged into another; split it first")]
    AlreadyMerged {
        /// Its name.
        name: String,
    },
    /// An entity would be merged into itself.
    #[error("`{name}` is already that entity")]
    SameEntity {
        /// Its name.
        name: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(base::Error),
}

/// A result whose error is a refusal by memory or the graph.
pub type Result<T, E = Error> = std::result::Result<T, E>;

fn hint(near: &[String]) -> String {
    match near {
        [] => "the graph has no similar name".to_owned(),
        near => format!("did you mean {}?", near.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    }
}

impl Error {
    /// The kind.
    pub fn kind(&self) -> Kind {
        match self {
            Error::UnknownObservation(_) | Error::UnknownTriplet(_) | Error::UnknownEntity(_) | Error::UnknownDecision(_) => {
                Kind::NotFound
            }
            Error::NotMerged { .. } | Error::AlreadyMerged { .. } | Error::SameEntity { .. } => Kind::Conflict,
            Error::Store(error) => error.kind(),
            _ => Kind::InvalidParams,
        }
    }

    /// Converts it to the error type of a store transaction. `From<base::Error>` converts it back.
    pub(crate) fn through_store(self) -> base::Error {
        match self {
            Error::Store(error) => error,
            refusal => base::Error::carrying(refusal.kind(), refusal),
        }
    }
}

impl From<base::Error> for Error {
    fn from(error: base::Error) -> Self {
        match error.carried::<Self>() {
            Some(refusal) => refusal.clone(),
            None => Error::Store(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_survives_the_way_through_a_transaction() {
        let refusal = Error::from(Error::UnknownListedTriplet { position: 2 }.through_store());
        assert!(matches!(refusal, Error::UnknownListedTriplet { position: 2 }), "{refusal:?}");
        let failure = Error::from(Error::Store(base::Error::unavailable("the disk is full")).through_store());
        assert!(matches!(&failure, Error::Store(error) if error.log() == Some("the disk is full")), "{failure:?}");
    }

    #[test]
    fn messages_need_no_parameter() {
        let refusal = |part, flaw| Error::BadTriplet { position: 1, part, flaw }.to_string();
        let too_long = Flaw::TooLong { chars: 9, most: 8 };
        assert_eq!(
            refusal(Part::Target(EntityPart::Name), too_long),
            "the target's name of triplet 2 has 9 characters; the maximum is 8"
        );
        assert_eq!(refusal(Part::ValidFrom, Flaw::AfterEnd), "the start of triplet 2 is after the end");
        let inner = Box::new(Error::BadOrigin { origin: Origin::Agent });
        let line = Error::InLine { line: 7, refusal: inner };
        assert_eq!(line.to_string(), "line 7: agentId must have at most 193 characters and no control characters");
    }
}
