//! `toolcrib policy explain`: shows whether a call would be allowed and which statement decides. It calls no tool.

use anyhow::{Result, bail};
use base::AgentId;
use clap::Args;
use serde_json::{Value, json};

use super::files::{Candidate, candidates};
use super::text;
use crate::commands::tools::read_arguments;
use crate::output::sanitized;
use crate::workplace::Workplace;

pub(super) const HELP: &str = "\
Examples:
  toolcrib policy explain --agent ci-bot --tool bricks.create_draft
  toolcrib policy explain --session \"$SESSION\" --tool bricks.list \\
    --arguments '{\"limit\": 500}'
  toolcrib policy explain --agent ci-bot --tool bricks.list --with new.cedar

Without --arguments, this shows whether the tool is listed, and ignores
log-only policies. Exits with 0 for any decision. To check for expected
decisions, use `toolcrib policy test`.";

/// Describes the call to explain.
#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// Agent that would make the call, by id or name
    #[arg(long, value_name = "AGENT", conflicts_with = "session", required_unless_present = "session")]
    agent: Option<String>,
    /// Session that would make the call, by id
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Tool to call
    #[arg(long, value_name = "TOOL")]
    tool: String,
    /// Arguments as a JSON object; @FILE reads them from a file, - from stdin
    #[arg(long, value_name = "JSON")]
    arguments: Option<String>,
    /// Try this policy: ID=FILE replaces the stored policy ID, FILE the one with the file's name (repeatable)
    #[arg(long = "with", value_name = "FILE")]
    candidates: Vec<String>,
}

/// The caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// An agent, by id or name.
    Agent(String),
    /// A session, by id.
    Session(String),
}

impl Subject {
    pub(super) fn of(agent: Option<String>, session: Option<String>) -> Result<Self> {
        match (agent, session) {
            (Some(agent), None) => Ok(Self::Agent(agent)),
            (None, Some(session)) => Ok(Self::Session(session)),
            _ => bail!("name either an agent or a session"),
        }
    }

    pub(super) fn words(&self) -> String {
        match self {
            Self::Agent(agent) => format!("agent `{agent}`"),
            Self::Session(session) => format!("session `{session}`"),
        }
    }
}

/// A call to explain.
pub(super) struct Question<'a> {
    pub(super) subject: &'a Subject,
    pub(super) tool: &'a str,
    pub(super) arguments: Option<&'a Value>,
    pub(super) candidates: &'a [Candidate],
}

impl Question<'_> {
    /// Sends the request.
    pub(super) async fn ask(&self, place: &Workplace) -> Result<Value> {
        let mut asked = match self.subject {
            Subject::Agent(agent) => json!({ "agentId": place.id_of("agents", AgentId::PREFIX, "name", agent).await? }),
            Subject::Session(session) => json!({ "sessionId": session }),
        };
        if let Some(members) = asked.as_object_mut() {
            members.insert("tool".to_owned(), json!(self.tool));
            if let Some(arguments) = self.arguments {
                members.insert("arguments".to_owned(), arguments.clone());
            }
            if !self.candidates.is_empty() {
                let tried = self.candidates.iter().map(|tried| json!({ "id": tried.id, "cedar": tried.cedar }));
                members.insert("with".to_owned(), tried.collect());
            }
        }
        place.api.post(&place.path("/policy/explain"), &asked).await
    }
}

pub(super) async fn run(place: &Workplace, args: &ExplainArgs) -> Result<()> {
    let subject = Subject::of(args.agent.clone(), args.session.clone())?;
    let arguments = args.arguments.as_deref().map(|text| read_arguments(text, std::io::stdin())).transpose()?;
    let candidates = candidates(&args.candidates)?;
    let question = Question { subject: &subject, tool: &args.tool, arguments: arguments.as_ref(), candidates: &candidates };
    let answer = question.ask(place).await?;
    let stored = place.api.get(&place.path("/policies")).await?;
    let texts = Texts { candidates: &candidates, stored: &stored };
    place.print_as(&answer, || sanitized(&explained(&question, &answer, &texts), true))
}

/// The policies to quote statements from.
struct Texts<'a> {
    candidates: &'a [Candidate],
    stored: &'a Value,
}

impl Texts<'_> {
    /// The text of a statement, by its name in decisions.
    fn statement(&self, id: &str) -> Option<&str> {
        let document = id.split('#').next().unwrap_or(id);
        let tried = self.candidates.iter().find(|tried| tried.id == document).map(|tried| tried.cedar.as_str());
        let cedar = tried.or_else(|| {
            let stored = self.stored.get("policies")?.as_array()?;
            stored.iter().find(|policy| text(policy, "/id") == document)?.get("cedar")?.as_str()
        });
        policy::statement_text(document, cedar?, id)
    }

    /// The statements with their text, indented.
    fn quoted(&self, ids: &[&str]) -> String {
        let quote = |id: &&str| {
            let statement = self.statement(id).unwrap_or("(text not available)");
            let lines = statement.lines().map(|line| format!("\n    {line}")).collect::<String>();
            format!("\n\n  {id}{lines}")
        };
        ids.iter().map(quote).collect()
    }
}

fn explained(question: &Question<'_>, answer: &Value, texts: &Texts<'_>) -> String {
    let decision = answer.get("decision").unwrap_or(&Value::Null);
    let does = match question.arguments {
        Some(_) => format!("calling `{}`", question.tool),
        None => format!("listing `{}`", question.tool),
    };
    let mut explanation = format!("{}: {} {does}", verdict(answer), question.subject.words());
    let step = match answer.get("beforePolicy").and_then(Value::as_str) {
        Some(why) => {
            explanation.push_str(&format!("\ndecided before policy (scope, allowlist, project or arguments): {why}"));
            "policy alone"
        }
        None => "decided by policy",
    };
    let why = reason(decision);
    explanation.push_str(&format!("\n{step}: {why}"));
    explanation.push_str(&texts.quoted(&names(decision)));
    for failure in decision.get("errors").and_then(Value::as_array).into_iter().flatten() {
        let whose = failure.get("policy").and_then(Value::as_str).unwrap_or("the call itself");
        explanation.push_str(&format!("\n\n  {whose} could not be evaluated: {}", text(failure, "/message")));
        if let Some(statement) = texts.statement(whose) {
            explanation.push_str(&statement.lines().map(|line| format!("\n    {line}")).collect::<String>());
        }
    }
    if text(decision, "/reason") == "no_permit" {
        explanation.push_str("\nhint: create a permit with `toolcrib policy grant`");
    }
    if let Some(trial) = decision.get("logOnly").filter(|trial| trial.is_object()) {
        let changes = trial.get("allowed") != decision.get("allowed");
        let what = if changes { "would change this" } else { "would not change this, but could not be evaluated" };
        explanation.push_str(&format!("\n\nlog-only policies {what}: {}, {}", verdict(trial), reason(trial)));
        explanation.push_str(&texts.quoted(&names(trial)));
    }
    explanation
}

pub(super) fn verdict(answer: &Value) -> &'static str {
    if answer.get("allowed") == Some(&Value::Bool(true)) { "allowed" } else { "refused" }
}

/// The reason in plain words.
pub(super) fn reason(decision: &Value) -> &str {
    match text(decision, "/reason") {
        "permitted" => "permitted, and not forbidden",
        "forbidden" => "forbidden",
        "no_permit" => "no statement permits it",
        "error" => "a statement could not be evaluated, so the call is denied",
        "broken" => "a policy is invalid, so every call is denied",
        "unknown_action" => "the tool is unknown, so the call is denied",
        other => other,
    }
}

/// The statements that decided.
pub(super) fn names(decision: &Value) -> Vec<&str> {
    decision.get("policies").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn explanation_quotes_the_deciding_statements() {
        let subject = Subject::Agent("ci-bot".to_owned());
        let stored = json!({ "policies": [
            { "id": "starter", "cedar": policy::STARTER },
            { "id": "both", "cedar": "// Why.\nforbid (principal,\n  action, resource); // done;\npermit (principal, action, resource);" },
        ] });
        let tried = [Candidate { id: "late".to_owned(), cedar: "@id(\"x;y\") permit (principal, action, resource);".to_owned() }];
        let texts = Texts { candidates: &tried, stored: &stored };
        let arguments = json!({});
        let question = Question { subject: &subject, tool: "bricks.list", arguments: Some(&arguments), candidates: &tried };
        let answer = json!({
            "allowed": false, "beforePolicy": "it is not in the list",
            "decision": {
                "allowed": false, "reason": "forbidden", "policies": ["both#1"],
                "errors": [{ "policy": "both#2", "message": "no such attribute" }, { "policy": null, "message": "too large" }],
                "logOnly": { "allowed": true, "reason": "permitted", "policies": ["starter#own-tools", "late#x;y", "gone"] },
            },
        });
        expect![[r#"
            refused: agent `ci-bot` calling `bricks.list`
            decided before policy (scope, allowlist, project or arguments): it is not in the list
            policy alone: forbidden

              both#1
                forbid (principal,
                  action, resource);

              both#2 could not be evaluated: no such attribute
                permit (principal, action, resource);

              the call itself could not be evaluated: too large

            log-only policies would change this: allowed, permitted, and not forbidden

              starter#own-tools
                @id("own-tools")
                permit (principal, action in Action::"tool_call", resource);

              late#x;y
                @id("x;y") permit (principal, action, resource);

              gone
                (text not available)"#]]
        .assert_eq(&explained(&question, &answer, &texts));
    }
}
