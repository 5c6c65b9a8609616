//! The token budget of a recall, by work type.

/// The kind of work. Unknown words get a middle budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkType {
    /// `bug_fix`.
    BugFix,
    /// `refactor`.
    Refactor,
    /// `feature`.
    Feature,
    /// `chore`.
    Chore,
    /// Anything else.
    Other,
}

impl WorkType {
    /// Parses a word in any spelling.
    pub fn parse(word: &str) -> Self {
        let folded: String = word.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
        match folded.as_str() {
            "bugfix" => Self::BugFix,
            "refactor" => Self::Refactor,
            "feature" => Self::Feature,
            "chore" => Self::Chore,
            _ => Self::Other,
        }
    }

    /// The budget in tokens of observation text.
    pub const fn tokens(self) -> usize {
        match self {
            Self::BugFix => 750,
            Self::Refactor => 600,
            Self::Feature => 400,
            Self::Chore => 300,
            Self::Other => 500,
        }
    }

    /// Whether facts of the graph help with it.
    pub const fn wants_triplets(self) -> bool {
        !matches!(self, Self::Chore)
    }
}

/// The tokens of a text.
pub fn tokens_of(text: &str) -> usize {
    text.chars().count().div_ceil(search::evaluate::CHARACTERS_PER_TOKEN)
}

/// A token budget and its usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The tokens in total.
    pub tokens: usize,
    /// The tokens used.
    pub used: usize,
}

impl Budget {
    pub(crate) const fn of(work: WorkType) -> Self {
        Self { tokens: work.tokens(), used: 0 }
    }

    /// Takes a text whole or not at all. The first one always fits.
    pub(crate) fn take(&mut self, text: &str) -> bool {
        let tokens = tokens_of(text);
        let fits = self.used == 0 || self.used + tokens <= self.tokens;
        if fits {
            self.used += tokens;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_always_fits_and_later_ones_must_fit() {
        let mut budget = Budget::of(WorkType::Chore);
        assert!(budget.take(&"x".repeat(100_000)), "the first");
        assert!(!budget.take("x"));
        let mut budget = Budget::of(WorkType::Chore);
        assert_eq!([800, 800, 400, 1].map(|characters| budget.take(&"é".repeat(characters))), [true, false, true, false]);
        assert_eq!(budget, Budget { tokens: 300, used: 300 });
    }

    #[test]
    fn work_types_are_read_in_any_spelling() {
        for (word, tokens) in
            [("bug_fix", 750), ("Bug-Fix", 750), ("refactor", 600), ("feature", 400), ("chore", 300), ("", 500), ("docs", 500)]
        {
            assert_eq!(WorkType::parse(word).tokens(), tokens, "{word}");
        }
    }
}
