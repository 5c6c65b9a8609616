//! Enums of the API, as closed sets of words.

use guard::{Role, SessionOutcome, SessionState};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

// Derived parsers of enums would also accept `{"owner": null}` for `"owner"`.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident of $ours:ty { $($variant:ident),* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $name(pub(super) $ours);

        impl $name {
            const WORDS: &'static [&'static str] = &[$(<$ours>::$variant.word()),*];
        }

        impl From<$ours> for $name {
            fn from(ours: $ours) -> Self {
                Self(ours)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.0.word())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = String::deserialize(deserializer)?;
                <$ours>::parse(&word).map(Self).ok_or_else(|| de::Error::unknown_variant(&word, Self::WORDS))
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new().schema_type(Type::String).enum_values(Some(Self::WORDS.iter().copied())).into()
            }
        }

        impl ToSchema for $name {}
    )*};
}

words! {
    /// How tools are listed: by canonical name, or without dots for clients that reject dots.
    ToolNames of base::ToolNames { Canonical, Safe }
    /// Whether a session can still be used.
    State of SessionState { Open, Ended, Expired }
    /// The outcome of a session.
    Outcome of SessionOutcome { Accepted, Rework, Rejected }
    /// A user's role in the org.
    UserRole of Role { Owner, Admin, Member }
    /// Whether a policy is enforced, or only logged.
    PolicyMode of policy::Mode { Enforce, LogOnly }
    /// The status of a brick or kit.
    Status of kits::Status { Draft, Published, Deprecated }
    /// The status of one version.
    VersionStatus of kits::VersionStatus { Draft, Published }
    /// The type of answer that a brick's rule gives.
    BrickType of kits::BrickType { Boolean, Score }
    /// Why a kit cannot be published.
    Blocker of kits::Blocker { KitEmpty, BrickMissing, BrickDeprecated, BrickRuleEmpty, BrickKeyConflict }
    /// Something to know before publishing a kit.
    Warning of kits::Warning { BrickDraftWillPromote, BrickUpdateAvailable }
    /// The outcome of a call.
    TaskState of guard::TaskState { Completed, Failed, Refused, Cancelled }
    /// How costs are grouped.
    CostBy of guard::CostGroup { Verb, Agent, Project, Hour }
    /// What happened to a file.
    ChangeType of code::ChangeType { Create, Update, Delete, Move, Rename }
    /// Where a change of a file came from: a write through Toolcrib, an edit on disk, or a commit.
    ChangeSource of code::ChangeSource { Toolcrib, Disk, Git }
    /// Whether a kit can be published, in one word.
    Badge of kits::Badge { Ready, ReadyWithWarnings, Blocked }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_must_be_strings() {
        let role: UserRole = serde_json::from_value(json!("owner")).unwrap();
        assert_eq!(serde_json::to_value(role).unwrap(), json!("owner"));
        for bad in [json!("Owner"), json!({"owner": null}), json!(null), json!(0)] {
            assert!(serde_json::from_value::<UserRole>(bad.clone()).is_err(), "{bad}");
        }
    }
}
