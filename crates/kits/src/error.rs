//! The errors of bricks and kits. The tools add the parameter, and the management API adds the status and the code.

use std::fmt;

use base::{Kind, limits};

use crate::Blocker;
use crate::readiness::Finding;

/// An error about a brick or a kit.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The name is empty or only white space.
    #[error("the name must not be blank")]
    BlankName,
    /// A text is too long.
    #[error("`{text}` must have at most {} characters", text.chars_max())]
    TooLong {
        /// The text.
        text: Text,
    },
    /// A text contains U+0000, which PostgreSQL cannot store.
    #[error("`{text}` must not hold the NUL character (U+0000)")]
    HoldsNul {
        /// The text.
        text: Text,
    },
    /// The list of bricks is empty.
    #[error("a kit needs at least one brick")]
    NoBricks,
    /// The list of bricks is too long.
    #[error("a kit holds at most {} bricks", limits::KIT_BRICKS_MAX)]
    TooManyBricks,
    /// The list of bricks has a duplicate.
    #[error("each brick may be named only once")]
    RepeatedBrick {
        /// The index in the list.
        position: usize,
    },
    /// The list of bricks has an unknown id.
    #[error("there is no such brick in this workspace")]
    UnknownListedBrick {
        /// The index in the list.
        position: usize,
    },
    /// There is no such brick. A malformed id, an unknown one and another org's get the same error, so that it does not reveal
    /// what exists.
    #[error("there is no such brick in this workspace")]
    UnknownBrick,
    /// There is no such kit.
    #[error("there is no such kit in this workspace")]
    UnknownKit,
    /// The brick is deprecated.
    #[error("this brick is deprecated")]
    BrickDeprecated,
    /// The kit is deprecated.
    #[error("this kit is deprecated")]
    KitDeprecated,
    /// The brick has no draft to publish.
    #[error("the newest version of this brick is published already")]
    BrickPublished,
    /// The kit has no draft to publish.
    #[error("the newest version of this kit is published already")]
    KitPublished,
    /// The brick's newest version has no rule.
    #[error("the newest version of this brick has no rule")]
    BrickRuleEmpty(Finding<Blocker>),
    /// The kit has blockers.
    #[error("this kit cannot be published: see its blockers")]
    KitBlocked(Vec<Finding<Blocker>>),
    /// The store failed.
    #[error(transparent)]
    Store(base::Error),
}

/// A result whose error is about bricks or kits.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The texts of a brick or a kit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// The name.
    Name,
    /// The description.
    Description,
    /// The notes of a kit version.
    Notes,
    /// A brick's rule.
    EvaluationPrompt,
}

impl Text {
    /// The maximum number of characters.
    pub const fn chars_max(self) -> usize {
        match self {
            Text::Name => limits::NAME_CHARS_MAX,
            Text::Description | Text::Notes => limits::DESCRIPTION_CHARS_MAX,
            Text::EvaluationPrompt => limits::EVALUATION_PROMPT_CHARS_MAX,
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Text::Name => "name",
            Text::Description => "description",
            Text::Notes => "notes",
            Text::EvaluationPrompt => "evaluation_prompt",
        })
    }
}

impl Error {
    /// The kind.
    pub fn kind(&self) -> Kind {
        match self {
            Error::BlankName
            | Error::TooLong { .. }
            | Error::HoldsNul { .. }
            | Error::NoBricks
            | Error::TooManyBricks
            | Error::RepeatedBrick { .. }
            | Error::UnknownListedBrick { .. }
            | Error::UnknownBrick
            | Error::UnknownKit => Kind::InvalidParams,
            Error::BrickDeprecated
            | Error::KitDeprecated
            | Error::BrickPublished
            | Error::KitPublished
            | Error::BrickRuleEmpty(_)
            | Error::KitBlocked(_) => Kind::Conflict,
            Error::Store(error) => error.kind(),
        }
    }

    /// The reasons why the brick or kit cannot be published. Empty if its own state is the reason.
    pub fn blockers(&self) -> &[Finding<Blocker>] {
        match self {
            Error::BrickRuleEmpty(blocker) => std::slice::from_ref(blocker),
            Error::KitBlocked(blockers) => blockers,
            _ => &[],
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
        let refusal = Error::from(Error::RepeatedBrick { position: 2 }.through_store());
        assert!(matches!(refusal, Error::RepeatedBrick { position: 2 }), "{refusal:?}");
        let failure = Error::from(Error::Store(base::Error::unavailable("the disk is full")).through_store());
        assert!(matches!(&failure, Error::Store(error) if error.log() == Some("the disk is full")), "{failure:?}");
    }
}
