//! Writes Cedar statements, each with a comment that says the same in words.

use base::secret::hex;
use sha2::{Digest, Sha256};

/// The effect of a statement.
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

    /// The command that writes it, which is the first word of the policy's id.
    fn command(self) -> &'static str {
        match self {
            Effect::Permit => "grant",
            Effect::Forbid => "forbid",
        }
    }
}

/// An id for Cedar and a name for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) id: String,
    pub(super) name: String,
}

/// The principals of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PrincipalScope {
    Everyone,
    Agent(Named),
    Session(String),
    Project(Named),
}

/// The actions and resources of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// These tools, by canonical name.
    Tools(Vec<String>),
    /// Every built-in tool.
    AllTools,
    /// All read-only tools, or all other tools.
    ToolsThat {
        /// Whether these are the read-only tools.
        only_read: bool,
    },
}

/// A statement to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) effect: Effect,
    pub(super) who: PrincipalScope,
    /// Limits the statement to this project.
    pub(super) inside: Option<Named>,
    pub(super) what: What,
}

/// Maximum length of a policy's id, in characters.
const ID_CHARS_MAX: usize = 64;
/// Length of the digest that keeps long ids unique.
const DIGEST_CHARS: usize = 8;

impl Statement {
    /// Renders the policy. The same statement always gives the same text, so that saving it again changes nothing.
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
            (Effect::Permit, _) | (Effect::Forbid, PrincipalScope::Everyone) => "may",
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

    /// The principal in Cedar and in words.
    fn principal(&self) -> (String, String) {
        match &self.who {
            PrincipalScope::Everyone => {
                let word = if self.effect == Effect::Permit { "Everyone" } else { "Nobody" };
                ("principal".to_owned(), word.to_owned())
            }
            // In Cedar an entity is in itself, so this covers the agent itself and its sessions.
            PrincipalScope::Agent(agent) => (
                format!("principal in Agent::{}", quoted(&agent.id)),
                format!("The agent {}, directly or in its sessions,", quoted(&agent.name)),
            ),
            PrincipalScope::Session(session) => (format!("principal == Session::{}", quoted(session)), "This session".to_owned()),
            PrincipalScope::Project(project) => (
                format!("principal in Project::{}", quoted(&project.id)),
                format!("Everyone who works in the project {}", quoted(&project.name)),
            ),
        }
    }

    /// The action and the resource in Cedar, and both in words.
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
            What::AllTools => (every, any, "call any built-in tool".to_owned()),
            What::ToolsThat { only_read: true } => (every, any, "call read-only tools".to_owned()),
            What::ToolsThat { only_read: false } => (every, any, "call tools that are not read-only".to_owned()),
        }
    }

    /// An id that describes the policy.
    pub(super) fn id(&self) -> String {
        let what = match &self.what {
            What::Tools(tools) => tools.join("-"),
            What::AllTools => "all-tools".to_owned(),
            What::ToolsThat { only_read: true } => "read-only-tools".to_owned(),
            What::ToolsThat { only_read: false } => "writing-tools".to_owned(),
        };
        let who = match &self.who {
            PrincipalScope::Everyone => "everyone",
            PrincipalScope::Agent(named) | PrincipalScope::Project(named) => &named.name,
            PrincipalScope::Session(session) => session,
        };
        let inside = self.inside.as_ref().map(|project| format!("-in-{}", project.name)).unwrap_or_default();
        let whole = format!("{}-{what}-{who}{inside}", self.effect.command());
        let plain = slug(&whole);
        if plain.len() <= ID_CHARS_MAX {
            return plain;
        }
        // A digest keeps two ids with the same beginning distinct after truncation.
        let digest = hex(&Sha256::digest(&whole));
        let kept = plain.chars().take(ID_CHARS_MAX - DIGEST_CHARS - 1).collect::<String>();
        format!("{}-{}", kept.trim_end_matches(['-', '.']), digest.chars().take(DIGEST_CHARS).collect::<String>())
    }
}

/// Turns text into an id: lower-case letters, digits, `.`, `_` and single `-`.
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

/// Quotes text for statements and comments, so that it cannot end the literal or the line.
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

    fn forbid(who: PrincipalScope, what: What) -> Statement {
        Statement { effect: Effect::Forbid, who, inside: None, what }
    }

    #[test]
    fn statements_are_rendered_with_a_comment() {
        let one = forbid(PrincipalScope::Agent(named("agt_1", "ci-bot")), tools(&["bricks.create_draft"]));
        expect![[r#"
            // The agent "ci-bot", directly or in its sessions, must not call "bricks.create_draft".
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
            // The agent "ci-bot", directly or in its sessions, must not call tools that are not read-only, in the project "web".
            forbid (
              principal in Agent::"agt_1",
              action in Action::"tool_call",
              resource
            )
            when { principal in Project::"prj_1" && !resource.readOnly };
        "#]]
        .assert_eq(&inside.render());
        assert_eq!(inside.id(), "forbid-writing-tools-ci-bot-in-web");
        let several = tools(&["bricks.list", "kits.list"]);
        let everyone = Statement { effect: Effect::Permit, who: PrincipalScope::Everyone, inside: None, what: several };
        expect![[r#"
            // Everyone may call "bricks.list", "kits.list".
            permit (
              principal,
              action in [Action::"bricks.list", Action::"kits.list"],
              resource
            );
        "#]]
        .assert_eq(&everyone.render());
        assert_eq!(everyone.id(), "grant-bricks.list-kits.list-everyone");
    }

    /// Names are untrusted. None may end a string or comment and inject Cedar.
    #[test]
    fn names_cannot_inject_cedar() {
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
                forbid(PrincipalScope::Agent(named(name, name)), tools(&[name, name])),
                forbid(PrincipalScope::Session(name.to_owned()), tools(&[name])),
                forbid(PrincipalScope::Project(named(name, name)), What::AllTools),
                Statement { inside: Some(named(name, name)), ..forbid(PrincipalScope::Everyone, tools(&[name])) },
            ];
            for statement in statements {
                let text = statement.render();
                // The document must have exactly one statement, which then has the document's name.
                let whole = policy::statement_text("x", &text, "x").unwrap_or_else(|| panic!("{text}"));
                assert!(whole.starts_with("forbid (") && text.ends_with(&format!("{whole}\n")), "{text}");
                assert!(!whole.contains("permit (principal, action, resource)") || whole.matches("forbid").count() == 1);
                assert_eq!(text.lines().filter(|line| line.starts_with("permit")).count(), 0, "{text}");
            }
        }
    }

    #[test]
    fn ids_are_valid_for_the_server() {
        let id = |who: &str, tool: &str| forbid(PrincipalScope::Agent(named("agt_1", who)), tools(&[tool])).id();
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
