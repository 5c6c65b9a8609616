//! Scopes limit what a key, an agent or a login can do. They are a closed set, so that a misspelt scope is refused, not ignored.

use std::fmt;

macro_rules! scopes {
    ($($name:ident = $word:literal: $doc:literal;)*) => {
        /// One permission.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Scope {
            $(#[doc = $doc] $name,)*
        }

        impl Scope {
            /// All scopes.
            pub const ALL: &'static [Scope] = &[$(Scope::$name,)*];

            /// The name of the scope in keys and agents.
            pub const fn word(self) -> &'static str {
                match self { $(Scope::$name => $word,)* }
            }

            /// A description for the generated reference.
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
    MetricsRead = "metrics:read": "read the org's usage and performance figures";
    BricksCreateDraft = "bricks:create_draft": "create draft bricks";
    BricksRead = "bricks:read": "read bricks";
    KitsCreateDraft = "kits:create_draft": "create draft kits";
    KitsRead = "kits:read": "read kits";
    WorkflowRun = "workflow:run": "run workflows";
    A2aInvoke = "a2a:invoke": "call peer agents";
    OrgRead = "org:read": "read the org's projects, keys, sessions, agents, users, policies, webhooks and calls";
    ProjectsWrite = "projects:write": "create and change projects";
    KeysWrite = "keys:write": "create and revoke keys";
    SessionsWrite = "sessions:write": "open and end sessions";
    AgentsWrite = "agents:write": "register, change and rotate agents";
    UsersWrite = "users:write": "add and change console users";
    PoliciesWrite = "policies:write": "change policies";
    WorkflowWrite = "workflow:write": "change workflows";
    A2aWrite = "a2a:write": "register peer agents";
    AuditRead = "audit:read": "read and export the audit trail";
    AuditWrite = "audit:write": "rotate and revoke audit keys, manage webhooks";
    ConformanceRun = "conformance:run": "call the fixtures of the conformance suite, if the server serves them";
}

impl Scope {
    /// Parses the name of a scope.
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

/// A set of scopes. `*` includes every scope, also those of later releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ScopeSet {
    everything: bool,
    bits: u64,
}

impl ScopeSet {
    /// `*`.
    pub const EVERYTHING: Self = Self { everything: true, bits: 0 };
    /// The empty set.
    pub const NONE: Self = Self { everything: false, bits: 0 };

    /// The set of `scopes`.
    pub fn of(scopes: &[Scope]) -> Self {
        Self { everything: false, bits: scopes.iter().fold(0, |bits, scope| bits | scope.bit()) }
    }

    /// Parses names. The error is the first unknown one.
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

    /// Whether the set includes `scope`.
    pub const fn has(self, scope: Scope) -> bool {
        self.everything || self.bits & scope.bit() != 0
    }

    /// Whether this set includes all of `other`. A caller can only grant scopes that it has.
    pub const fn covers(self, other: Self) -> bool {
        self.everything || (!other.everything && other.bits & !self.bits == 0)
    }

    /// The scopes that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        match (self.everything, other.everything) {
            (true, _) => other,
            (_, true) => self,
            (false, false) => Self { everything: false, bits: self.bits & other.bits },
        }
    }

    /// The names, in the order of [`Scope::ALL`].
    pub fn words(self) -> Vec<&'static str> {
        let everything = self.everything.then_some("*");
        let named = Scope::ALL.iter().filter(|scope| self.bits & scope.bit() != 0).map(|scope| scope.word());
        everything.into_iter().chain(named).collect()
    }

    /// The stored form: names separated by single spaces.
    pub fn to_row(self) -> String {
        self.words().join(" ")
    }

    /// Parses the stored form. A name that this release does not know grants nothing.
    pub fn from_row(text: &str) -> Self {
        let known = text.split(' ').filter(|word| *word == "*" || Scope::parse(word).is_some());
        Self::parse(known).unwrap_or(Self::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_set_parses_back() {
        let set = ScopeSet::of(&[Scope::KitsRead, Scope::BricksRead]);
        assert_eq!(set.to_row(), "bricks:read kits:read");
        assert_eq!(ScopeSet::from_row(&set.to_row()), set);
        assert_eq!(ScopeSet::from_row("bricks:read from:the-future kits:read"), set);
        assert_eq!(ScopeSet::from_row(""), ScopeSet::NONE);
    }

    #[test]
    fn a_set_covers_only_its_own_scopes() {
        let some = ScopeSet::of(&[Scope::KitsRead]);
        assert!(ScopeSet::EVERYTHING.covers(some));
        assert!(!some.covers(ScopeSet::EVERYTHING));
        assert!(!some.covers(ScopeSet::of(&[Scope::KitsRead, Scope::KeysWrite])));
    }

    #[test]
    fn an_intersection_has_only_common_scopes() {
        let some = ScopeSet::of(&[Scope::KitsRead, Scope::BricksRead]);
        let other = ScopeSet::of(&[Scope::KitsRead, Scope::KeysWrite]);
        assert_eq!(some.intersection(other), ScopeSet::of(&[Scope::KitsRead]));
        assert_eq!(ScopeSet::EVERYTHING.intersection(some), some);
        assert_eq!(some.intersection(ScopeSet::EVERYTHING), some);
        assert_eq!(some.intersection(ScopeSet::NONE), ScopeSet::NONE);
    }

    #[test]
    fn an_unknown_scope_is_returned_as_the_error() {
        assert_eq!(ScopeSet::parse(["kits:read", "kits:eat"]), Err("kits:eat".to_owned()));
    }
}
