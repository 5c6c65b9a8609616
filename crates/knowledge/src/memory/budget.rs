//! How much a recall may give, by the kind of work.

/// What kind of work an agent does. Words that are not known get the middle of the road.
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
    /// Reads a word, however it is spelt.
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

    /// Tokens of observation text.
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

/// What a text takes of a budget.
pub fn tokens_of(text: &str) -> usize {
    text.chars().count().div_ceil(search::evaluate::CHARACTERS_PER_TOKEN)
}

/// What may be given, and what was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Tokens in all.
    pub tokens: usize,
    /// Tokens spent.
    pub used: usize,
}

impl Budget {
    pub(crate) const fn of(work: WorkType) -> Self {
        Self { tokens: work.tokens(), used: 0 }
    }

    /// Takes a text whole, or not at all; the first one always.
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
    fn the_first_goes_in_whatever_its_size_and_later_ones_only_where_they_fit() {
        let mut budget = Budget::of(WorkType::Chore);
        assert!(budget.take(&"x".repeat(100_000)), "the first");
        assert!(!budget.take("x"));
        let mut budget = Budget::of(WorkType::Chore);
        assert_eq!([800, 800, 400, 1].map(|characters| budget.take(&"é".repeat(characters))), [true, false, true, false]);
        assert_eq!(budget, Budget { tokens: 300, used: 300 });
    }

    #[test]
    fn words_are_read_however_they_are_spelt() {
        for (word, tokens) in
            [("bug_fix", 750), ("Bug-Fix", 750), ("refactor", 600), ("feature", 400), ("chore", 300), ("", 500), ("docs", 500)]
        {
            assert_eq!(WorkType::parse(word).tokens(), tokens, "{word}");
        }
    }
}
