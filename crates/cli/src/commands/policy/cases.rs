//! `toolcrib policy test`: checks policy decisions against the expected ones in a file.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::explain::{Question, Subject, names, reason, verdict};
use super::files::{Candidate, candidates, read};
use crate::output::sanitized;
use crate::workplace::Workplace;

pub(super) const HELP: &str = "\
Examples:
  toolcrib policy test policies/cases.yaml
  toolcrib policy test cases.json --with starter=policies/starter.cedar

A file of cases is a list, in YAML or JSON:
  - name: the bot only reads      # optional
    agent: ci-bot                 # by id or name; or session: ses_…
    tool: bricks.create_draft
    arguments: {name: x}          # without: is the tool listed?
    expect: deny                  # or allow
    policy: no-drafts             # policy that decides; optional

Exits with 1 if a decision differs from the expected one.";

/// Maximum number of cases in a file. Each is one request.
const CASES_MAX: usize = 10_000;

/// Selects the cases and the policies to try.
#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// File with test cases; - reads stdin
    #[arg(value_name = "CASES")]
    file: PathBuf,
    /// Try this policy: ID=FILE replaces the stored policy ID, FILE the one with the file's name (repeatable)
    #[arg(long = "with", value_name = "FILE")]
    candidates: Vec<String>,
}

/// A case as written in a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Option<String>,
    agent: Option<String>,
    session: Option<String>,
    tool: String,
    arguments: Option<Map<String, Value>>,
    expect: Expected,
    policy: Option<String>,
}

/// A case: the call to check and the expected decision.
#[derive(Debug)]
struct Case {
    name: Option<String>,
    subject: Subject,
    tool: String,
    arguments: Option<Value>,
    expect: Expected,
    policy: Option<String>,
}

impl Case {
    fn read(value: Value) -> Result<Self> {
        let Written { name, agent, session, tool, arguments, expect, policy } = Written::deserialize(value)?;
        let subject = Subject::of(agent, session)?;
        Ok(Self { name, subject, tool, arguments: arguments.map(Value::Object), expect, policy })
    }
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Expected {
    Allow,
    Deny,
}

impl Expected {
    fn word(self) -> &'static str {
        match self {
            Expected::Allow => "allow",
            Expected::Deny => "deny",
        }
    }
}

/// The result of a case.
struct CaseResult {
    name: String,
    /// How the decision differs from the expected one.
    mismatch: Option<String>,
    /// The server's response, if there is one.
    answer: Value,
}

/// Runs all cases. Returns whether every decision is as expected.
pub(super) async fn run(place: &Workplace, args: &TestArgs) -> Result<bool> {
    let cases = parse(&read(&args.file)?, &args.file)?;
    let candidates = candidates(&args.candidates)?;
    let mut outcomes = Vec::new();
    for case in cases {
        outcomes.push(outcome(place, case, &candidates).await);
    }
    let failed = outcomes.iter().filter(|outcome| outcome.mismatch.is_some()).count();
    let passed = outcomes.len() - failed;
    let row = |outcome: &CaseResult| json!({ "name": outcome.name, "ok": outcome.mismatch.is_none(), "mismatch": outcome.mismatch, "answer": outcome.answer });
    let report = json!({ "cases": outcomes.iter().map(row).collect::<Vec<_>>(), "passed": passed, "failed": failed });
    place.print_as(&report, || {
        let mut lines = outcomes.iter().map(line).collect::<Vec<_>>();
        lines.push(format!("{} cases: {passed} passed, {failed} failed", outcomes.len()));
        sanitized(&lines.join("\n"), true)
    })?;
    Ok(failed == 0)
}

fn line(outcome: &CaseResult) -> String {
    match &outcome.mismatch {
        None => format!("ok    {}", outcome.name),
        Some(mismatch) => format!("FAIL  {}: {mismatch}", outcome.name),
    }
}

async fn outcome(place: &Workplace, case: Case, candidates: &[Candidate]) -> CaseResult {
    let subject = &case.subject;
    let name = case.name.clone().unwrap_or_else(|| format!("{}, {}: {}", subject.words(), case.tool, case.expect.word()));
    let question = Question { subject, tool: &case.tool, arguments: case.arguments.as_ref(), candidates };
    match question.ask(place).await {
        Ok(answer) => CaseResult { name, mismatch: mismatch(&case, &answer), answer },
        // One failed request must not hide the other cases.
        Err(error) => {
            let message = format!("{error:#}");
            let first = message.lines().next().unwrap_or_default();
            CaseResult { name, mismatch: Some(format!("request failed: {first}")), answer: Value::Null }
        }
    }
}

/// Describes how the decision differs from the expected one.
fn mismatch(case: &Case, answer: &Value) -> Option<String> {
    let decision = answer.get("decision").unwrap_or(&Value::Null);
    let deciders = names(decision);
    let why = match answer.get("beforePolicy").and_then(Value::as_str) {
        Some(why) => format!("before policy: {why}"),
        None if deciders.is_empty() => reason(decision).to_owned(),
        None => format!("{} ({})", reason(decision), deciders.join(", ")),
    };
    let allowed = verdict(answer) == "allowed";
    if allowed != (case.expect == Expected::Allow) {
        return Some(format!("expected {}, but the call is {}: {why}", case.expect.word(), verdict(answer)));
    }
    let wanted = case.policy.as_deref()?;
    let is_wanted = |id: &&str| *id == wanted || id.split('#').next() == Some(wanted);
    if answer.get("beforePolicy").is_some_and(Value::is_string) || !deciders.iter().any(is_wanted) {
        return Some(format!("{} as expected, but not by `{wanted}`: {why}", verdict(answer)));
    }
    None
}

/// Parses a list of cases, or a list under `cases`. JSON is valid YAML, so one parser reads both.
fn parse(text: &str, file: &Path) -> Result<Vec<Case>> {
    let name = file.display();
    // Otherwise `no` and `on` would be parsed as booleans.
    let options = serde_saphyr::options! { strict_booleans: true };
    let document: Value =
        serde_saphyr::from_str_with_options(text, options).with_context(|| format!("`{name}` is neither valid YAML nor JSON"))?;
    let list = match document {
        Value::Object(mut members) if members.len() == 1 => members.remove("cases"),
        other => Some(other),
    };
    let Some(Value::Array(list)) = list else {
        bail!("`{name}` has no list of cases; see `toolcrib policy test --help`");
    };
    if list.is_empty() || list.len() > CASES_MAX {
        bail!("`{name}` has {} cases; it must have 1 to {CASES_MAX}", list.len());
    }
    let case = |(index, value)| Case::read(value).with_context(|| format!("case {} in `{name}`", index + 1));
    list.into_iter().enumerate().map(case).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_cases(text: &str) -> Result<Vec<Case>, String> {
        parse(text, Path::new("cases.yaml")).map_err(|error| format!("{error:#}"))
    }

    const ONE: &str = "agent: no\n    tool: bricks.list\n    expect: deny";

    #[test]
    fn cases_are_yaml_or_json() {
        for text in [
            format!("- {}", ONE.replace("\n    ", "\n  ")),
            format!("cases:\n  - {ONE}\n"),
            r#"[{"agent": "no", "tool": "bricks.list", "expect": "deny"}]"#.to_owned(),
            r#"{"cases": [{"agent": "no", "tool": "bricks.list", "expect": "deny"}]}"#.to_owned(),
        ] {
            let cases = read_cases(&text).unwrap();
            let subject = Subject::Agent("no".to_owned());
            assert_eq!((cases.len(), &cases[0].subject, cases[0].expect), (1, &subject, Expected::Deny), "{text}");
        }
        let cases = read_cases("- {session: s, tool: t, expect: allow, arguments: {limit: 5, deep: {on: [1.5, null]}}}").unwrap();
        assert_eq!(cases[0].arguments, Some(json!({ "limit": 5, "deep": { "on": [1.5, null] } })));
    }

    #[test]
    fn invalid_case_is_reported() {
        for (text, expected) in [
            ("- {agent: a, tool: t}", "case 1 in `cases.yaml`: missing field `expect`"),
            ("- {agent: a, tool: t, expect: maybe}", "unknown variant `maybe`"),
            ("- {agent: a, tool: t, expect: deny, polcy: x}", "unknown field `polcy`"),
            ("- {tool: t, expect: deny}", "either an agent or a session"),
            ("- {agent: a, session: s, tool: t, expect: deny}", "either an agent or a session"),
            ("- {agent: a", "neither valid YAML nor JSON"),
            ("[]", "has 0 cases"),
            ("just words", "no list of cases"),
        ] {
            let error = read_cases(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn decisions_are_compared_with_the_expected_ones() {
        let says = |case: &str, answer: &Value| mismatch(&read_cases(&format!("[{case}]")).unwrap().remove(0), answer);
        let decided = |allowed: bool, reason: &str, by: &[&str]| {
            json!({
                "allowed": allowed, "beforePolicy": null, "decision": { "allowed": allowed, "reason": reason, "policies": by },
            })
        };
        let deny = "{agent: a, tool: t, expect: deny";
        assert_eq!(says(&format!("{deny}}}"), &decided(false, "no_permit", &[])), None);
        let forbidden = decided(false, "forbidden", &["readers#2"]);
        for policy in ["readers", "readers#2"] {
            assert_eq!(says(&format!("{deny}, policy: {policy}}}"), &forbidden), None);
        }
        for policy in ["reader", "readers#1"] {
            assert!(says(&format!("{deny}, policy: \"{policy}\"}}"), &forbidden).unwrap().contains("not by"), "{policy}");
        }
        let permitted = decided(true, "permitted", &["starter#own-tools"]);
        let text = says(&format!("{deny}}}"), &permitted).unwrap();
        assert!(text.contains("expected deny, but the call is allowed") && text.contains("starter#own-tools"), "{text}");
        let early = json!({ "allowed": false, "beforePolicy": "not in its list", "decision": forbidden["decision"] });
        assert!(says(&format!("{deny}, policy: readers}}"), &early).unwrap().contains("before policy: not in its list"));
    }
}
