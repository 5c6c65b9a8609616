//! The closed sets of words that rows and answers use.

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            /// All values.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word that rows and answers use.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// The value of a word.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|each| each.word() == word)
            }
        }
    )*};
}

words! {
    /// The status of a brick or a kit.
    Status {
        /// Nothing of it is published.
        Draft = "draft",
        /// At least one version is published.
        Published = "published",
        /// Deprecated for good.
        Deprecated = "deprecated",
    }

    /// The status of one version.
    VersionStatus {
        /// Not published.
        Draft = "draft",
        /// Published and frozen.
        Published = "published",
    }

    /// The kind of answer that a brick's rule gives.
    BrickType {
        /// Yes or no.
        Boolean = "boolean",
        /// A number.
        Score = "score",
    }

    /// Why a kit cannot be published.
    Blocker {
        /// The kit version pins no brick.
        KitEmpty = "kit_empty",
        /// A pinned brick or its pinned version is missing (a damaged or partly restored store).
        BrickMissing = "brick_missing",
        /// A pinned brick is deprecated.
        BrickDeprecated = "brick_deprecated",
        /// A pinned version's evaluation prompt is only white space.
        BrickRuleEmpty = "brick_rule_empty",
        /// A brick has the same key as an earlier brick of the kit version, so their results could not be told apart.
        BrickKeyConflict = "brick_key_conflict",
    }

    /// What a person should know before publishing a kit.
    Warning {
        /// A pinned version is a draft and would be published with the kit.
        BrickDraftWillPromote = "brick_draft_will_promote",
        /// The brick has a published version that is newer than the pinned one.
        BrickUpdateAvailable = "brick_update_available",
    }

    /// The short summary of whether a kit can be published.
    Badge {
        /// No blocker, no warning.
        Ready = "Ready",
        /// No blocker.
        ReadyWithWarnings = "Ready with warnings",
        /// At least one blocker.
        Blocked = "Blocked",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        assert!(Status::ALL.iter().all(|status| Status::parse(status.word()) == Some(*status)));
        assert!(BrickType::ALL.iter().all(|kind| BrickType::parse(kind.word()) == Some(*kind)));
        assert_eq!(Status::parse("Draft"), None);
    }
}
