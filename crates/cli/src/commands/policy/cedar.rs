//! Cedar as the templates write it: a comment that says in words what the statement says in Cedar, and the statement.

use base::secret::hex;
use sha2::{Digest, Sha256};

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Permit,
    Forbid,
}

impl Effect {
    fn word(self) -> &'static str {
        match self {
            Effect::Permit => "permit",
            Effect::Forbid => "forbid",
        }
    }

    /// The first word of the id of what it writes: the command's.
    fn command(self) -> &'static str {
        match self {
            Effect::Permit => "grant",
            Effect::Forbid => "forbid",
        }
    }
}

/// Something with an id that Cedar uses and a name that people use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) id: String,
    pub(super) name: String,
}

/// Whom a statement is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Everyone,
    Agent(Named),
    Session(String),
    Project(Named),
}

/// What a statement is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// These, by canonical name.
    Tools(Vec<String>),
    /// Every tool of the server.
    AllTools,
    /// Those that only read, or those that do more.
    ToolsThat {
        /// Only read.
        only_read: bool,
    },
    /// All that a peer can do, by slug.
    Peer(String),
    /// One thing that a peer can do.
    Skill {
        /// The peer's slug.
        peer: String,
        /// The skill's id.
        skill: String,
    },
}

/// A statement to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) effect: Effect,
    pub(super) who: Who,
    /// Only while working in this project.
    pub(super) inside: Option<Named>,
    pub(super) what: What,
}

/// Most characters of a policy's id.
const ID_CHARS_MAX: usize = 64;
/// How much of a digest keeps two long ids apart.
const DIGEST_CHARS: usize = 8;

impl Statement {
    /// The document. The same statement is always the same text, so that saving it again changes nothing.
    pub(super) fn render(&self) -> String {
        let (principal, who) = self.principal();
        let (action, resource, what) = self.target();
        let mut conditions = Vec::new();
        if let Some(project) = &self.inside {
            conditions.push(format!("principal in Project::{}", quoted(&project.id)));
        }
        if let What::ToolsThat { only_read } = self.what {
            conditions.push(if only_read { "resource.readOnly" } else { "!resource.readOnly" }.to_owned());
        }
        let inside = self.inside.as_ref().map(|project| format!(", in the project {}", quoted(&project.name)));
        let verb = match (self.effect, &self.who) {
            (Effect::Permit, _) | (Effect::Forbid, Who::Everyone) => "may",
            (Effect::Forbid, _) => "must not",
        };
        let mut text = format!("// {who} {verb} {what}{}.\n", inside.unwrap_or_default());
        text.push_str(&format!("{} (\n  {principal},\n  {action},\n  {resource}\n)", self.effect.word()));
        if !conditions.is_empty() {
            text.push_str(&format!("\nwhen {{ {} }}", conditions.join(" && ")));
        }
        text.push_str(";\n");
        text
    }

    /// The head's first part, and its words.
    fn principal(&self) -> (String, String) {
        match &self.who {
            Who::Everyone => {
                let word = if self.effect == Effect::Permit { "Everyone" } else { "Nobody" };
                ("principal".to_owned(), word.to_owned())
            }
            // An agent is in itself: this is about the agent at its own door and about sessions that run for it.
            Who::Agent(agent) => (
                format!("principal in Agent::{}", quoted(&agent.id)),
                format!("The agent {}, at its own door and in sessions that run for it,", quoted(&agent.name)),
            ),
            Who::Session(session) => (format!("principal == Session::{}", quoted(session)), "This session".to_owned()),
            Who::Project(project) => (
                format!("principal in Project::{}", quoted(&project.id)),
                format!("Whoever works in the project {}", quoted(&project.name)),
            ),
        }
    }

    /// The head's other parts, and their words.
    fn target(&self) -> (String, String, String) {
        let any = "resource".to_owned();
        let every = "action in Action::\"tool_call\"".to_owned();
        match &self.what {
            What::Tools(tools) => match tools.as_slice() {
                [tool] => (format!("action == Action::{}", quoted(tool)), any, format!("call {}", quoted(tool))),
                tools => {
                    let actions = tools.iter().map(|tool| format!("Action::{}", quoted(tool))).collect::<Vec<_>>();
                    let names = tools.iter().map(|tool| quoted(tool)).collect::<Vec<_>>();
                    (format!("action in [{}]", actions.join(", ")), any, format!("call {}", names.join(", ")))
                }
            },
            What::AllTools => (every, any, "call any tool of this server".to_owned()),
            What::ToolsThat { only_read: true } => (every, any, "call tools that only read".to_owned()),
            What::ToolsThat { only_read: false } => (every, any, "call tools that change something".to_owned()),
            What::Peer(peer) => {
                let words = format!("{} the peer {}", self.peer_words(), quoted(peer));
                (self.peer_actions(), format!("resource in A2AAgent::{}", quoted(peer)), words)
            }
            What::Skill { peer, skill } => {
                let words = format!("{} {} of the peer {}", self.peer_words(), quoted(skill), quoted(peer));
                (self.peer_actions(), format!("resource == Skill::{}", quoted(&format!("{peer}.{skill}"))), words)
            }
        }
    }

    /// Whoever may call a peer may see it, and cancel what it began. Whoever must not may still cancel.
    fn peer_actions(&self) -> String {
        let also = match self.effect {
            Effect::Permit => ", Action::\"a2a_cancel\"",
            Effect::Forbid => "",
        };
        format!("action in [Action::\"a2a_discover\", Action::\"a2a_invoke\"{also}]")
    }

    fn peer_words(&self) -> &'static str {
        match self.effect {
            Effect::Permit => "see, call and cancel",
            Effect::Forbid => "see or call",
        }
    }

    /// An id that says what the policy does.
    pub(super) fn id(&self) -> String {
        let what = match &self.what {
            What::Tools(tools) => tools.join("-"),
            What::AllTools => "all-tools".to_owned(),
            What::ToolsThat { only_read: true } => "read-only-tools".to_owned(),
            What::ToolsThat { only_read: false } => "writing-tools".to_owned(),
            What::Peer(peer) => peer.clone(),
            What::Skill { peer, skill } => format!("{peer}.{skill}"),
        };
        let who = match &self.who {
            Who::Everyone => "everyone",
            Who::Agent(named) | Who::Project(named) => &named.name,
            Who::Session(session) => session,
        };
        let inside = self.inside.as_ref().map(|project| format!("-in-{}", project.name)).unwrap_or_default();
        let whole = format!("{}-{what}-{who}{inside}", self.effect.command());
        let plain = slug(&whole);
        if plain.len() <= ID_CHARS_MAX {
            return plain;
        }
        // Two that begin alike must not be cut to the same.
        let digest = hex(&Sha256::digest(&whole));
        let kept = plain.chars().take(ID_CHARS_MAX - DIGEST_CHARS - 1).collect::<String>();
        format!("{}-{}", kept.trim_end_matches(['-', '.']), digest.chars().take(DIGEST_CHARS).collect::<String>())
    }
}

/// Text as an id may have it: lower-case letters, digits, `.`, `_` and single `-`.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            'a'..='z' | '0'..='9' | '.' | '_' => slug.push(c),
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.trim_end_matches('-').to_owned()
}

/// Text as a string literal, for statements and for comments: nothing in it ends the literal or the line.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn named(id: &str, name: &str) -> Named {
        Named { id: id.to_owned(), name: name.to_owned() }
    }

    fn tools(names: &[&str]) -> What {
        What::Tools(names.iter().map(|name| (*name).to_owned()).collect())
    }

    fn forbid(who: Who, what: What) -> Statement {
        Statement { effect: Effect::Forbid, who, inside: None, what }
    }

    #[test]
    fn statements_read_like_sentences() {
        let one = forbid(Who::Agent(named("agt_1", "ci-bot")), tools(&["bricks.create_draft"]));
        expect![[r#"
            // The agent "ci-bot", at its own door and in sessions that run for it, must not call "bricks.create_draft".
            forbid (
              principal in Agent::"agt_1",
              action == Action::"bricks.create_draft",
              resource
            );
        "#]]
        .assert_eq(&one.render());
        assert_eq!(one.id(), "forbid-bricks.create_draft-ci-bot");
        let inside = Statement { inside: Some(named("prj_1", "web")), what: What::ToolsThat { only_read: false }, ..one };
        expect![[r#"
            // The agent "ci-bot", at its own door and in sessions that run for it, must not call tools that change something, in the project "web".
            forbid (
              principal in Agent::"agt_1",
              action in Action::"tool_call",
              resource
            )
            when { principal in Project::"prj_1" && !resource.readOnly };
        "#]]
        .assert_eq(&inside.render());
        assert_eq!(inside.id(), "forbid-writing-tools-ci-bot-in-web");
        let skill = What::Skill { peer: "ops".to_owned(), skill: "deploy".to_owned() };
        let peer = Statement { effect: Effect::Permit, who: Who::Everyone, inside: None, what: skill };
        expect![[r#"
            // Everyone may see, call and cancel "deploy" of the peer "ops".
            permit (
              principal,
              action in [Action::"a2a_discover", Action::"a2a_invoke", Action::"a2a_cancel"],
              resource == Skill::"ops.deploy"
            );
        "#]]
        .assert_eq(&peer.render());
        assert_eq!(peer.id(), "grant-ops.deploy-everyone");
    }

    /// Names are other people's: none may end a string or a comment and go on in Cedar.
    #[test]
    fn nothing_in_a_name_becomes_cedar() {
        let names = [
            "\");\npermit (principal, action, resource); //",
            "x\npermit (principal, action, resource);",
            "x\r\npermit (principal, action, resource);",
            "\\\"); permit (principal, action, resource); //",
            "x\u{2028}permit (principal, action, resource);\u{85}\u{202e}",
            "*/ permit (principal, action, resource); /*",
            "\\",
            "a\0b\u{7f}",
        ];
        for name in names {
            let statements = [
                forbid(Who::Agent(named(name, name)), tools(&[name, name])),
                forbid(Who::Session(name.to_owned()), tools(&[name])),
                forbid(Who::Project(named(name, name)), What::Peer(name.to_owned())),
                Statement {
                    inside: Some(named(name, name)),
                    ..forbid(Who::Everyone, What::Skill { peer: name.to_owned(), skill: name.to_owned() })
                },
            ];
            for statement in statements {
                let text = statement.render();
                // One statement, which ends with the text: what a document of one statement is called by itself.
                let whole = policy::statement_text("x", &text, "x").unwrap_or_else(|| panic!("{text}"));
                assert!(whole.starts_with("forbid (") && text.ends_with(&format!("{whole}\n")), "{text}");
                assert!(!whole.contains("permit (principal, action, resource)") || whole.matches("forbid").count() == 1);
                assert_eq!(text.lines().filter(|line| line.starts_with("permit")).count(), 0, "{text}");
            }
        }
    }

    #[test]
    fn ids_are_such_as_the_server_takes() {
        let id = |who: &str, tool: &str| forbid(Who::Agent(named("agt_1", who)), tools(&[tool])).id();
        assert_eq!(id("CI bot!", "bricks.list"), "forbid-bricks.list-ci-bot");
        assert_eq!(id("日本", "bricks.list"), "forbid-bricks.list");
        let (long, longer) = (id(&"a".repeat(100), "bricks.list"), id(&"a".repeat(101), "bricks.list"));
        assert!(long.len() <= ID_CHARS_MAX && longer.len() <= ID_CHARS_MAX && long != longer, "{long} {longer}");
        for id in [long, longer, id("\"\n", "../x")] {
            let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
            assert!(id.chars().all(fits) && id.starts_with("forbid-"), "{id}");
        }
    }
}
