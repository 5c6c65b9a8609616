//! The closed set of audit event types. The table in `docs/audit.md` and the list of events that webhooks can subscribe to come from it.

use std::collections::BTreeSet;

macro_rules! events {
    ($($name:ident = $word:literal: $when:literal;)*) => {
        /// The type of an audit entry.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum EventKind {
            $(#[doc = $when] $name,)*
        }

        impl EventKind {
            /// All event types, in the order of the documentation.
            pub const ALL: &'static [EventKind] = &[$(EventKind::$name,)*];

            /// The value of `eventType`.
            pub const fn word(self) -> &'static str {
                match self {
                    $(EventKind::$name => $word,)*
                }
            }

            /// A sentence for the documentation that says when the event is written.
            pub const fn when(self) -> &'static str {
                match self {
                    $(EventKind::$name => $when,)*
                }
            }
        }
    };
}

events! {
    CallCompleted = "call.completed": "A tool answered.";
    CallFailed = "call.failed": "A tool failed, or returned an error.";
    CallCancelled = "call.cancelled": "The caller disconnected before the tool answered.";
    CallRefused = "call.refused": "A call was refused: unknown tool, missing scope, allowlist, invalid arguments or policy.";
    DoorForbidden = "door.forbidden": "A door answered 403: the credential is valid, but not for this session.";
    ApiForbidden = "api.forbidden": "The management API answered 403. The payload names the `route` and the `reason`.";
    RefusalsCounted = "refusals.counted": "A credential got more than ten 403s in a minute. The payload has the `count` of the others.";
    DataRead = "data.read": "Somebody read agents' data ([memory](memory.md), [graph](graph.md)) or code through the management API. \
        The payload names the project and the `route`, but not the query.";
    PolicySaved = "policy.saved": "Somebody saved a policy. The payload has the SHA-256 of its text.";
    PolicyModeChanged = "policy.mode_changed": "The mode of a policy changed. The payload has `from` and `to` (`enforce` or `log_only`).";
    PolicyDeleted = "policy.deleted": "Somebody deleted a policy.";
    KeyMinted = "key.minted": "Somebody created an API key.";
    KeyRevoked = "key.revoked": "Somebody revoked an API key. In a cascade, the payload names the key or user that the \
        cascade began with (`togetherWith`).";
    AgentRegistered = "agent.registered": "Somebody registered an agent.";
    AgentChanged = "agent.changed": "Somebody changed an agent.";
    AgentRotated = "agent.rotated": "An agent got a new secret.";
    AgentRemoved = "agent.removed": "Somebody removed an agent.";
    AgentAuthenticated = "agent.authenticated": "An agent got a token.";
    SessionOpened = "session.opened": "Somebody opened a session. The payload names its key (`keyId`).";
    SessionEnded = "session.ended": "A session ended.";
    SessionKeysRevoked = "session.keys_revoked": "An instance admin's key was replaced. The keys of its sessions were revoked.";
    UserAdded = "user.added": "Somebody added a person.";
    UserChanged = "user.changed": "Somebody changed a person's role or password, or disabled them.";
    UserRemoved = "user.removed": "Somebody removed a person.";
    UserLoggedIn = "user.logged_in": "A person logged in.";
    UserLoggedOut = "user.logged_out": "A person logged out.";
    OrgCreated = "org.created": "The instance admin created the org.";
    OrgChanged = "org.changed": "The instance admin changed the org.";
    ProjectCreated = "project.created": "Somebody created a project.";
    ProjectChanged = "project.changed": "Somebody changed a project.";
    BrickVersionAdded = "brick.version_added": "A person drafted a new version of a brick.";
    BrickPublished = "brick.published": "A person published a brick. If it was published with a kit, the payload names the kit \
        (`togetherWith`).";
    BrickDeprecated = "brick.deprecated": "A person deprecated a brick.";
    KitVersionAdded = "kit.version_added": "A person drafted a new version of a kit.";
    KitPublished = "kit.published": "A person published a kit.";
    KitDeprecated = "kit.deprecated": "A person deprecated a kit.";
    MemoryForgotten = "memory.forgotten": "Somebody deleted the text of an observation.";
    MemoryRolledBack = "memory.rolled_back": "Somebody deleted the observations of an agent or a session.";
    MemoryImported = "memory.imported": "Somebody [imported](memory.md#from-elsewhere) observations. The payload has the \
        number of `lines`.";
    GraphMerged = "graph.merged": "Somebody merged one entity into another.";
    GraphSplit = "graph.split": "Somebody undid a merge.";
    GraphRolledBack = "graph.rolled_back": "Somebody retracted the facts of an agent or a session.";
    CodeRestored = "code.restored": "Somebody gave a file the content of an earlier version. The payload has the `path` and the `version`.";
    CodeRolledBack = "code.rolled_back": "Somebody undid what an agent or a session wrote to files.";
    WebhookAdded = "webhook.added": "Somebody added a [webhook](hooks.md). The payload has only the origin of its URL.";
    WebhookChanged = "webhook.changed": "Somebody changed a webhook.";
    WebhookRotated = "webhook.rotated": "A webhook got a new secret.";
    WebhookRemoved = "webhook.removed": "Somebody removed a webhook.";
    WebhookRedelivered = "webhook.redelivered": "Somebody requested the redelivery of an event to a webhook.";
    AuditExported = "audit.exported": "Somebody exported the audit trail.";
    AuditPruned = "audit.pruned": "Old entries were removed. The payload has the number of the last one.";
    AuditRestored = "audit.restored": "The data was restored from a [backup](operating.md#restore). The payload has the \
        time of the backup.";
    AuditKeyRotated = "audit.key_rotated": "A new key signs the audit trail from here on. The old key signed this entry.";
    AuditKeyRevoked = "audit.key_revoked": "Somebody revoked a signing key.";
}

impl EventKind {
    /// Parses the value of `eventType`.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == word)
    }

    /// The part of the word before the dot.
    pub fn family(self) -> &'static str {
        self.word().split_once('.').map_or(self.word(), |(family, _)| family)
    }
}

/// Event types to select: one type (`key.minted`), or a family (`policy.*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventChoice {
    /// One event type.
    One(EventKind),
    /// All event types of a family.
    Family(&'static str),
}

impl EventChoice {
    /// All choices: the event types, then the families.
    pub fn words() -> Vec<String> {
        let families: BTreeSet<_> = EventKind::ALL.iter().map(|kind| kind.family()).collect();
        let families = families.into_iter().map(|family| format!("{family}.*"));
        EventKind::ALL.iter().map(|kind| kind.word().to_owned()).chain(families).collect()
    }

    /// Parses a choice.
    pub fn parse(word: &str) -> Option<Self> {
        match word.strip_suffix(".*") {
            Some(family) => EventKind::ALL.iter().map(|kind| kind.family()).find(|known| *known == family).map(Self::Family),
            None => EventKind::parse(word).map(Self::One),
        }
    }

    /// The selected event types.
    pub fn kinds(self) -> Vec<EventKind> {
        match self {
            Self::One(kind) => vec![kind],
            Self::Family(family) => EventKind::ALL.iter().copied().filter(|kind| kind.family() == family).collect(),
        }
    }
}

/// Whether an event type equals `wanted`, or belongs to the family `wanted.*`.
pub fn is_of(event_type: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(family) => family.ends_with('.') && event_type.starts_with(family),
        None => event_type == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_parses_back_to_its_event() {
        let words: std::collections::BTreeSet<_> = EventKind::ALL.iter().map(|kind| kind.word()).collect();
        assert_eq!(words.len(), EventKind::ALL.len());
        for kind in EventKind::ALL {
            assert_eq!(EventKind::parse(kind.word()), Some(*kind));
            assert!(kind.when().ends_with('.'));
        }
        assert_eq!(EventKind::parse("key.mintd"), None);
    }

    #[test]
    fn choices_are_known_types_and_families() {
        for word in EventChoice::words() {
            let kinds = EventChoice::parse(&word).unwrap().kinds();
            assert!(!kinds.is_empty() && kinds.iter().all(|kind| is_of(kind.word(), &word)), "{word}");
            let count = EventKind::ALL.iter().filter(|kind| is_of(kind.word(), &word)).count();
            assert_eq!(kinds.len(), count, "{word}");
        }
        assert_eq!(EventChoice::parse("key.*").unwrap().kinds(), [EventKind::KeyMinted, EventKind::KeyRevoked]);
        for unknown in ["key.mintd", "keys.*", "*", ".*", "policy.", "policy", ""] {
            assert_eq!(EventChoice::parse(unknown), None, "{unknown}");
        }
    }
}
