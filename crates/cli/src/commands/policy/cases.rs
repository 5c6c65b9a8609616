//! `toolcrib policy test`: questions to the gate from a file, and the answers that are expected.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::explain::{Question, Subject, names, reason, verdict};
use super::files::{Candidate, candidates, read};
use crate::output::harmless;
use crate::workplace::Workplace;

pub(super) const HELP: &str = "\
Examples:
  toolcrib policy test policies/cases.yaml
  toolcrib policy test cases.json --with starter=policies/starter.cedar

A file of cases is a list, in YAML or JSON:
  - name: the bot only reads      # may be left out
    agent: ci-bot                 # by id or name; or session: ses_…
    tool: bricks.create_draft
    arguments: {name: x}          # without them: is the tool listed?
    expect: deny                  # or allow
    policy: no-drafts             # who decides; may be left out

Exits with 1 when an answer is not the expected one.";

/// Most cases in a file: each is a request.
const CASES_MAX: usize = 10_000;

/// Which cases.
#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// File with the cases; - reads stdin
    #[arg(value_name = "CASES")]
    file: PathBuf,
    /// Policy to try out: FILE takes the place of the stored one that is called like the file, ID=FILE that of ID (repeatable)
    #[arg(long = "with", value_name = "FILE")]
    candidates: Vec<String>,
}

/// A case as files have it.
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

/// What is asked and expected.
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

/// What came of a case.
struct Outcome {
    name: String,
    /// Why it is not as expected.
    mismatch: Option<String>,
    /// What was answered, if anything.
    answer: Value,
}

/// Asks all cases; whether all answers are the expected ones.
pub(super) async fn run(place: &Workplace, args: &TestArgs) -> Result<bool> {
    let cases = parse(&read(&args.file)?, &args.file)?;
    let candidates = candidates(&args.candidates)?;
    let mut outcomes = Vec::new();
    for case in cases {
        outcomes.push(outcome(place, case, &candidates).await);
    }
    let failed = outcomes.iter().filter(|outcome| outcome.mismatch.is_some()).count();
    let passed = outcomes.len() - failed;
    let row = |outcome: &Outcome| json!({ "name": outcome.name, "ok": outcome.mismatch.is_none(), "mismatch": outcome.mismatch, "answer": outcome.answer });
    let report = json!({ "cases": outcomes.iter().map(row).collect::<Vec<_>>(), "passed": passed, "failed": failed });
    place.print_as(&report, || {
        let mut lines = outcomes.iter().map(line).collect::<Vec<_>>();
        lines.push(format!("{} cases: {passed} as expected, {failed} not", outcomes.len()));
        harmless(&lines.join("\n"), true)
    })?;
    Ok(failed == 0)
}

fn line(outcome: &Outcome) -> String {
    match &outcome.mismatch {
        None => format!("ok    {}", outcome.name),
        Some(mismatch) => format!("FAIL  {}: {mismatch}", outcome.name),
    }
}

async fn outcome(place: &Workplace, case: Case, candidates: &[Candidate]) -> Outcome {
    let subject = &case.subject;
    let name = case.name.clone().unwrap_or_else(|| format!("{}, {}: {}", subject.words(), case.tool, case.expect.word()));
    let question = Question { subject, tool: &case.tool, arguments: case.arguments.as_ref(), candidates };
    match question.ask(place).await {
        Ok(answer) => Outcome { name, mismatch: mismatch(&case, &answer), answer },
        // One case that cannot be asked must not hide the others.
        Err(error) => {
            let said = format!("{error:#}");
            let first = said.lines().next().unwrap_or_default();
            Outcome { name, mismatch: Some(format!("cannot be asked: {first}")), answer: Value::Null }
        }
    }
}

/// What differs from what was expected.
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
        return Some(format!("expected {}, but it is {}: {why}", case.expect.word(), verdict(answer)));
    }
    let wanted = case.policy.as_deref()?;
    let is_meant = |id: &&str| *id == wanted || id.split('#').next() == Some(wanted);
    if answer.get("beforePolicy").is_some_and(Value::is_string) || !deciders.iter().any(is_meant) {
        return Some(format!("{} as expected, but not by `{wanted}`: {why}", verdict(answer)));
    }
    None
}

/// The cases of a file: a list, or a list under `cases`. JSON is YAML too, so one reader takes both.
fn parse(text: &str, file: &Path) -> Result<Vec<Case>> {
    let name = file.display();
    // Otherwise `no` and `on` would be read as booleans, where people mean words.
    let options = serde_saphyr::options! { strict_booleans: true };
    let document: Value =
        serde_saphyr::from_str_with_options(text, options).with_context(|| format!("`{name}` is neither YAML nor JSON"))?;
    let list = match document {
        Value::Object(mut members) if members.len() == 1 => members.remove("cases"),
        other => Some(other),
    };
    let Some(Value::Array(list)) = list else {
        bail!("`{name}` has no list of cases: `toolcrib policy test --help` shows one");
    };
    if list.is_empty() || list.len() > CASES_MAX {
        bail!("`{name}` has {} cases: a file has 1 to {CASES_MAX}", list.len());
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
    fn a_case_that_cannot_be_read_is_named() {
        for (text, expected) in [
            ("- {agent: a, tool: t}", "case 1 in `cases.yaml`: missing field `expect`"),
            ("- {agent: a, tool: t, expect: maybe}", "unknown variant `maybe`"),
            ("- {agent: a, tool: t, expect: deny, polcy: x}", "unknown field `polcy`"),
            ("- {tool: t, expect: deny}", "an agent or a session"),
            ("- {agent: a, session: s, tool: t, expect: deny}", "an agent or a session"),
            ("- {agent: a", "neither YAML nor JSON"),
            ("[]", "has 0 cases"),
            ("just words", "no list of cases"),
        ] {
            let said = read_cases(text).unwrap_err();
            assert!(said.contains(expected), "{text}: {said}");
        }
    }

    #[test]
    fn answers_are_compared_with_what_was_expected() {
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
        let said = says(&format!("{deny}}}"), &permitted).unwrap();
        assert!(said.contains("expected deny, but it is allowed") && said.contains("starter#own-tools"), "{said}");
        let early = json!({ "allowed": false, "beforePolicy": "not in its list", "decision": forbidden["decision"] });
        assert!(says(&format!("{deny}, policy: readers}}"), &early).unwrap().contains("before policy: not in its list"));
    }
}
