//! The closed sets of words that rows and answers use.

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            /// Every one of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word that rows and answers use.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// The one that `word` stands for.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|each| each.word() == word)
            }
        }
    )*};
}

words! {
    /// How far a brick or a kit has come.
    Status {
        /// Nothing of it is published.
        Draft = "draft",
        /// At least one version is published.
        Published = "published",
        /// Retired for good.
        Deprecated = "deprecated",
    }

    /// How far one version has come.
    VersionStatus {
        /// Not published.
        Draft = "draft",
        /// Published, and frozen.
        Published = "published",
    }

    /// What a brick's rule answers with.
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
        /// A pinned brick, or its pinned version, is no longer among the rows (a damaged or partly restored store).
        BrickMissing = "brick_missing",
        /// A pinned brick is deprecated.
        BrickDeprecated = "brick_deprecated",
        /// A pinned version's evaluation prompt holds nothing but white space.
        BrickRuleEmpty = "brick_rule_empty",
        /// A brick's key is the key of an earlier brick of the same kit version, so their results could not be told apart.
        BrickKeyConflict = "brick_key_conflict",
    }

    /// What a person should know before publishing a kit.
    Warning {
        /// A pinned version is a draft and would be published with the kit.
        BrickDraftWillPromote = "brick_draft_will_promote",
        /// The brick has a published version that is newer than the pinned one.
        BrickUpdateAvailable = "brick_update_available",
    }

    /// The short word on whether a kit can be published.
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
