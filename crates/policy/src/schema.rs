//! The Cedar schema as text. Authors of policies read it, and the validator is built from it, so they cannot disagree.

use std::fmt::Write;

use crate::shape::{LeftOut, RecordShape, Shape};

/// The entities and the actions that exist without any tool.
const COMMON: &str = r#"// The entities, actions and attributes that policies can use. Generated from the tools, with the ids of the API.

entity Org;
entity Project in [Org];
entity Agent in [Project, Org];
// A session runs in a project and may run for a registered agent. Its opener chooses the label and the work type.
entity Session in [Agent, Project, Org] {
  workType?: String,
  label?: String,
};
entity User in [Org];
entity Tool in [Org] {
  readOnly: Bool,
  destructive: Bool,
};
// trust: "external" or "trusted". health: "healthy", "degraded", "unreachable" or "unknown".
entity A2AAgent in [Org] {
  trust: String,
  health: String,
};
entity Skill in [A2AAgent] {
  agent: A2AAgent,
  tags: Set<String>,
};

// The attributes of `context.call` in every call. door: "session" or "agent".
type Call = {
  now: datetime,
  door: String,
};

// Every tool of this server is a member of `tool_call`, and every skill of a peer is a member of `a2a_invoke`.
action "tool_call" appliesTo {
  principal: [Session, Agent],
  resource: [Tool],
  context: { call: Call },
};
action "a2a_invoke" appliesTo {
  principal: [Session, Agent],
  resource: [Skill],
  context: { call: Call },
};
// Listing a peer's skills.
action "a2a_discover" appliesTo {
  principal: [Session, Agent],
  resource: [A2AAgent, Skill],
  context: { call: Call },
};
// Cancelling a task that a peer works on.
action "a2a_cancel" appliesTo {
  principal: [Session, Agent],
  resource: [A2AAgent, Skill],
  context: { call: Call },
};
"#;

/// A schema that is being written.
pub(crate) struct SchemaText(String);

impl SchemaText {
    pub(crate) fn new() -> Self {
        Self(COMMON.to_owned())
    }

    /// Adds the action of one tool or skill to the group `parent`, for resources of the type `resource`.
    pub(crate) fn add(&mut self, name: &str, (parent, resource): (&str, &str), input: &RecordShape, left_out: &[LeftOut]) {
        let mut lines = String::from("\n");
        for member in left_out {
            let path = if member.path.is_empty() { "input".to_owned() } else { format!("input.{}", member.path.escape_debug()) };
            line(&mut lines, 0, &format!("// Not visible here: {path}; {}.", member.reason));
        }
        line(&mut lines, 0, &format!("action {} in [\"{parent}\"] appliesTo {{", quoted(name)));
        line(&mut lines, 1, "principal: [Session, Agent],");
        line(&mut lines, 1, &format!("resource: [{resource}],"));
        line(&mut lines, 1, "context: {");
        line(&mut lines, 2, "call: Call,");
        line(&mut lines, 2, &format!("input: {},", record(input, 2)));
        line(&mut lines, 1, "},");
        line(&mut lines, 0, "};");
        self.0.push_str(&lines);
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}

fn line(text: &mut String, depth: usize, words: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}{words}", "  ".repeat(depth));
}

fn record(record: &RecordShape, depth: usize) -> String {
    if record.members.is_empty() {
        return "{}".to_owned();
    }
    let mut text = String::from("{\n");
    for member in &record.members {
        let mark = if member.optional { "?" } else { "" };
        line(&mut text, depth + 1, &format!("{}{mark}: {},", attribute(&member.name), shape(&member.shape, depth + 1)));
    }
    text.push_str(&"  ".repeat(depth));
    text.push('}');
    text
}

fn shape(of: &Shape, depth: usize) -> String {
    match of {
        Shape::String => "String".to_owned(),
        Shape::Long => "Long".to_owned(),
        Shape::Bool => "Bool".to_owned(),
        Shape::Decimal => "decimal".to_owned(),
        Shape::Set(items) => format!("Set<{}>", shape(items, depth)),
        Shape::Record(members) => record(members, depth),
    }
}

/// A name as an attribute, without quotes if it is a plain word.
fn attribute(name: &str) -> String {
    let plain =
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain && !RESERVED.contains(&name) { name.to_owned() } else { quoted(name) }
}

/// Reserved words of Cedar. Quoted, they are plain names.
const RESERVED: [&str; 9] = ["true", "false", "if", "then", "else", "in", "is", "like", "has"];

/// A name as a string literal. Peers choose names too, so nothing in them may end the literal.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.escape_debug())
}
