//! The parts of what was stated or asked that a refusal can be about, and what can be wrong with them.

use std::fmt;

use base::limits::ENTITY_ALIASES_MAX;

/// Where an imported observation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Its author.
    Agent,
    /// Its session.
    Session,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::Agent => "agentId",
            Origin::Session => "sessionId",
        })
    }
}

/// What a person undoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undo {
    /// Observations.
    RollBack,
    /// Triplets.
    Retract,
}

impl fmt::Display for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Undo::RollBack => "roll back",
            Undo::Retract => "retract from",
        })
    }
}

/// A part of a stated fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its source.
    Source(EntityPart),
    /// Its relationship.
    Relationship,
    /// Its target.
    Target(EntityPart),
    /// Its description.
    Description,
    /// When it became true.
    ValidFrom,
    /// When it stopped being true.
    ValidTo,
}

/// A part of an entity in a stated fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntityPart {
    /// Its name.
    Name,
    /// Its type.
    Kind,
    /// Its other names.
    Aliases,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Source(part) => write!(f, "the source's {part}"),
            Part::Relationship => f.write_str("the relationship"),
            Part::Target(part) => write!(f, "the target's {part}"),
            Part::Description => f.write_str("the description"),
            Part::ValidFrom => f.write_str("the start"),
            Part::ValidTo => f.write_str("the end"),
        }
    }
}

impl fmt::Display for EntityPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EntityPart::Name => "name",
            EntityPart::Kind => "type",
            EntityPart::Aliases => "aliases",
        })
    }
}

/// What is wrong with a part of a stated fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// A relationship without letters.
    #[error("has no letters; name a relationship")]
    NoLetters,
    /// A text that is too long.
    #[error("has {chars} characters; the maximum is {most}")]
    TooLong {
        /// Its length.
        chars: usize,
        /// The maximum.
        most: usize,
    },
    /// A name that is empty or has control characters.
    #[error("is empty or has control characters")]
    NotAName,
    /// Too many aliases.
    #[error("has more than {ENTITY_ALIASES_MAX} names")]
    TooManyNames,
    /// A start after the end.
    #[error("is after the end")]
    AfterEnd,
    /// An end before the known start.
    #[error("is before the time when the fact became true")]
    BeforeStart,
}

/// A part of a new decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionPart {
    /// What was decided.
    Decision,
    /// Why.
    Reasoning,
    /// The list of alternatives.
    Alternatives,
    /// One alternative, by its index.
    Alternative(usize),
    /// The context.
    Context,
}

impl fmt::Display for DecisionPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecisionPart::Decision => f.write_str("the decision"),
            DecisionPart::Reasoning => f.write_str("the reasoning"),
            DecisionPart::Alternatives => f.write_str("the list of alternatives"),
            DecisionPart::Alternative(position) => write!(f, "alternative {}", position + 1),
            DecisionPart::Context => f.write_str("the context"),
        }
    }
}

/// What is wrong with a part of a new decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecisionFlaw {
    /// A text of white space.
    #[error("is empty")]
    Blank,
    /// A text that is too long.
    #[error("has {chars} characters; the maximum is {most}")]
    TooLong {
        /// Its length.
        chars: usize,
        /// The maximum.
        most: usize,
    },
    /// A text with U+0000, which PostgreSQL cannot store.
    #[error("must not contain the NUL character (U+0000)")]
    HoldsNul,
    /// A list that is too long.
    #[error("has more than {most} entries")]
    TooMany {
        /// The maximum.
        most: usize,
    },
    /// An object that is too large.
    #[error("has {bytes} bytes as JSON; the maximum is {most}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The maximum.
        most: usize,
    },
}

/// Where the name of an entity stands in a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The entity whose neighbours are asked for.
    Centre,
    /// The first entity of a path.
    From,
    /// The last entity of a path.
    To,
    /// An end of a triplet, by the triplet's index in the call.
    InTriplet(usize),
}
