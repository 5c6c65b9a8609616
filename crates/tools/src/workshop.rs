//! Shared by the tools for bricks and for kits: the workshop, the status and the conversion of errors.

use base::Error;
use kits::Workshop;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tool::Call;

/// The lifecycle state of a brick or kit.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Draft,
    Published,
    Deprecated,
}

impl From<Status> for kits::Status {
    fn from(status: Status) -> Self {
        match status {
            Status::Draft => Self::Draft,
            Status::Published => Self::Published,
            Status::Deprecated => Self::Deprecated,
        }
    }
}

impl From<kits::Status> for Status {
    fn from(status: kits::Status) -> Self {
        match status {
            kits::Status::Draft => Self::Draft,
            kits::Status::Published => Self::Published,
            kits::Status::Deprecated => Self::Deprecated,
        }
    }
}

impl Call<'_> {
    /// The bricks and kits of the caller's org.
    pub(crate) fn workshop(&self) -> Workshop<guard::Change> {
        Workshop::new(self.permit.change().clone(), self.services.clock.clone())
    }
}

/// Converts an error of the workshop for the tool's answer. An error about an argument names the parameter.
pub(crate) fn refused(error: kits::Error) -> Error {
    use kits::{Error as Refusal, Text};

    let parameter = match &error {
        Refusal::Store(error) => return error.clone(),
        Refusal::BlankName => "name".to_owned(),
        Refusal::TooLong { text } | Refusal::HoldsNul { text } => match text {
            Text::Name => "name".to_owned(),
            Text::Description => "description".to_owned(),
            Text::Notes => "notes".to_owned(),
            Text::EvaluationPrompt => "evaluation_prompt".to_owned(),
        },
        Refusal::NoBricks | Refusal::TooManyBricks => "brick_ids".to_owned(),
        Refusal::RepeatedBrick { position } | Refusal::UnknownListedBrick { position } => format!("brick_ids[{position}]"),
        Refusal::UnknownBrick => "brick_id".to_owned(),
        Refusal::UnknownKit => "kit_id".to_owned(),
        Refusal::BrickDeprecated
        | Refusal::KitDeprecated
        | Refusal::BrickPublished
        | Refusal::KitPublished
        | Refusal::BrickRuleEmpty(_)
        | Refusal::KitBlocked(_) => return Error::new(error.kind(), error.to_string()),
    };
    Error::invalid(&parameter, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Kind;
    use kits::{Error as Refusal, Text};

    #[test]
    fn errors_about_arguments_name_the_parameter() {
        let unknown = "there is no such brick in this workspace";
        let long = "`evaluation_prompt` must have at most 10000 characters";
        for (refusal, parameter, message) in [
            (Refusal::BlankName, "name", "the name must not be blank"),
            (Refusal::TooLong { text: Text::EvaluationPrompt }, "evaluation_prompt", long),
            (Refusal::HoldsNul { text: Text::Notes }, "notes", "`notes` must not hold the NUL character (U+0000)"),
            (Refusal::NoBricks, "brick_ids", "a kit needs at least one brick"),
            (Refusal::TooManyBricks, "brick_ids", "a kit holds at most 500 bricks"),
            (Refusal::RepeatedBrick { position: 3 }, "brick_ids[3]", "each brick may be named only once"),
            (Refusal::UnknownListedBrick { position: 0 }, "brick_ids[0]", unknown),
            (Refusal::UnknownBrick, "brick_id", unknown),
            (Refusal::UnknownKit, "kit_id", "there is no such kit in this workspace"),
        ] {
            let error = refused(refusal);
            let said = (error.kind(), error.data()["parameter"].as_str(), error.message());
            assert_eq!(said, (Kind::InvalidParams, Some(parameter), message));
        }
    }

    #[test]
    fn other_errors_name_no_parameter() {
        let conflict = refused(Refusal::KitDeprecated);
        assert_eq!((conflict.kind(), conflict.data().len()), (Kind::Conflict, 0));
        let failed = refused(Refusal::Store(Error::unavailable("the disk is full")));
        assert_eq!((failed.kind(), failed.log()), (Kind::Unavailable, Some("the disk is full")));
    }
}
