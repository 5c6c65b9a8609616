//! Scopes: what a key, an agent or a login may do. A closed set, so that a misspelt scope is refused, not ignored.

use std::fmt;

macro_rules! scopes {
    ($($name:ident = $word:literal: $doc:literal;)*) => {
        /// One right.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Scope {
            $(#[doc = $doc] $name,)*
        }

        impl Scope {
            /// Every scope there is.
            pub const ALL: &'static [Scope] = &[$(Scope::$name,)*];

            /// The scope as keys and agents name it.
            pub const fn word(self) -> &'static str {
                match self { $(Scope::$name => $word,)* }
            }

            /// What it allows, for the generated reference.
            pub const fn meaning(self) -> &'static str {
                match self { $(Scope::$name => $doc,)* }
            }
        }
    };
}

scopes! {
    MemoryRead = "memory:read": "recall observations";
    MemoryWrite = "memory:write": "store observations";
    GraphRead = "graph:read": "query the knowledge graph";
    GraphWrite = "graph:write": "change the knowledge graph";
    CodeRead = "code:read": "read and search code";
    CodeWrite = "code:write": "write code";
    DecisionsWrite = "decisions:write": "record decisions";
    CollabWrite = "collab:write": "edit shared documents";
    MetricsRead = "metrics:read": "read the org's performance figures";
    BricksCreateDraft = "bricks:create_draft": "create draft bricks";
    BricksRead = "bricks:read": "read bricks";
    KitsCreateDraft = "kits:create_draft": "create draft kits";
    KitsRead = "kits:read": "read kits";
    WorkflowRun = "workflow:run": "run workflows";
    A2aInvoke = "a2a:invoke": "call peer agents";
    OrgRead = "org:read": "read the org's projects, keys, sessions, agents and users";
    ProjectsWrite = "projects:write": "create and change projects";
    KeysWrite = "keys:write": "mint and revoke keys";
    SessionsWrite = "sessions:write": "open and end sessions";
    AgentsWrite = "agents:write": "register, change and rotate agents";
    UsersWrite = "users:write": "add and change console users";
    PoliciesWrite = "policies:write": "change policies";
    WorkflowWrite = "workflow:write": "change workflows";
    A2aWrite = "a2a:write": "register peer agents";
    AuditRead = "audit:read": "read and export the audit trail";
    AuditWrite = "audit:write": "rotate and revoke audit keys";
    ConformanceRun = "conformance:run": "call the conformance suite's fixtures, where a server serves them";
}

impl Scope {
    /// The scope called `word`.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|scope| scope.word() == word)
    }

    const fn bit(self) -> u64 {
        1 << self as u64
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A set of scopes. `*` holds every scope, those of later releases too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ScopeSet {
    everything: bool,
    bits: u64,
}

impl ScopeSet {
    /// `*`.
    pub const EVERYTHING: Self = Self { everything: true, bits: 0 };
    /// Nothing at all.
    pub const NONE: Self = Self { everything: false, bits: 0 };

    /// The set of `scopes`.
    pub fn of(scopes: &[Scope]) -> Self {
        Self { everything: false, bits: scopes.iter().fold(0, |bits, scope| bits | scope.bit()) }
    }

    /// Reads words; the first unknown one comes back as the error.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut set = Self::NONE;
        for word in words {
            match Scope::parse(word) {
                Some(scope) => set.bits |= scope.bit(),
                None if word == "*" => set.everything = true,
                None => return Err(word.to_owned()),
            }
        }
        Ok(set)
    }

    /// Whether the set holds `scope`.
    pub const fn has(self, scope: Scope) -> bool {
        self.everything || self.bits & scope.bit() != 0
    }

    /// Whether everything in `other` is in this set: nobody mints more than they have.
    pub const fn covers(self, other: Self) -> bool {
        self.everything || (!other.everything && other.bits & !self.bits == 0)
    }

    /// What both sets hold.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        match (self.everything, other.everything) {
            (true, _) => other,
            (_, true) => self,
            (false, false) => Self { everything: false, bits: self.bits & other.bits },
        }
    }

    /// The words, in the order of [`Scope::ALL`].
    pub fn words(self) -> Vec<&'static str> {
        let everything = self.everything.then_some("*");
        let named = Scope::ALL.iter().filter(|scope| self.bits & scope.bit() != 0).map(|scope| scope.word());
        everything.into_iter().chain(named).collect()
    }

    /// The stored form: words with single spaces between them.
    pub fn to_row(self) -> String {
        self.words().join(" ")
    }

    /// Reads the stored form. A word this release does not know grants nothing.
    pub fn from_row(text: &str) -> Self {
        let known = text.split(' ').filter(|word| *word == "*" || Scope::parse(word).is_some());
        Self::parse(known).unwrap_or(Self::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_read_back_from_rows() {
        let set = ScopeSet::of(&[Scope::KitsRead, Scope::BricksRead]);
        assert_eq!(set.to_row(), "bricks:read kits:read");
        assert_eq!(ScopeSet::from_row(&set.to_row()), set);
        assert_eq!(ScopeSet::from_row("bricks:read from:the-future kits:read"), set);
        assert_eq!(ScopeSet::from_row(""), ScopeSet::NONE);
    }

    #[test]
    fn nobody_mints_more_than_they_have() {
        let some = ScopeSet::of(&[Scope::KitsRead]);
        assert!(ScopeSet::EVERYTHING.covers(some));
        assert!(!some.covers(ScopeSet::EVERYTHING));
        assert!(!some.covers(ScopeSet::of(&[Scope::KitsRead, Scope::KeysWrite])));
    }

    #[test]
    fn an_intersection_holds_what_both_sets_hold() {
        let some = ScopeSet::of(&[Scope::KitsRead, Scope::BricksRead]);
        let other = ScopeSet::of(&[Scope::KitsRead, Scope::KeysWrite]);
        assert_eq!(some.intersection(other), ScopeSet::of(&[Scope::KitsRead]));
        assert_eq!(ScopeSet::EVERYTHING.intersection(some), some);
        assert_eq!(some.intersection(ScopeSet::EVERYTHING), some);
        assert_eq!(some.intersection(ScopeSet::NONE), ScopeSet::NONE);
    }

    #[test]
    fn an_unknown_scope_is_named() {
        assert_eq!(ScopeSet::parse(["kits:read", "kits:eat"]), Err("kits:eat".to_owned()));
    }
}
