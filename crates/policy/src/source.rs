//! Parses one policy document into named statements.

use std::collections::{BTreeMap, HashSet};
use std::str::FromStr;

use base::limits::{POLICY_BYTES_MAX, POLICY_STATEMENT_NAME_CHARS_MAX, POLICY_STATEMENTS_MAX};
use base::near::nearest;
use cedar_policy::ffi::DetailedError;
use cedar_policy::{Effect, Policy, PolicySet};

use crate::finding::{Complaint, Finding, Places, located};
use crate::scan::scan;

/// One statement of a checked document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementInfo {
    /// The value of its `@id` annotation, or its number in the document, from 1. A single statement without an `@id` has no
    /// name.
    pub name: Option<String>,
    /// Whether it is a permit. Otherwise it is a forbid.
    pub permits: bool,
    /// The line where it starts, from 1.
    pub line: usize,
    /// The column where it starts, from 1, in Unicode scalar values.
    pub column: usize,
    /// Warnings of the validator, such as a statement that never applies, or characters that look like others.
    pub warnings: Vec<Finding>,
}

impl StatementInfo {
    /// The name of this statement of `document` in decisions and in the audit trail.
    pub fn id(&self, document: &str) -> String {
        statement_id(document, self.name.as_deref())
    }
}

/// `<document>`, or `<document>#<name>`.
pub(crate) fn statement_id(document: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{document}#{name}"),
        None => document.to_owned(),
    }
}

/// The text of the statement of `document` with the name `id`, from its first annotation to its semicolon. `None` if `cedar`
/// has no such statement or does not parse.
pub fn statement_text<'t>(document: &str, cedar: &'t str, id: &str) -> Option<&'t str> {
    let source = Source::parse(cedar).ok()?;
    let statement = source.statements.iter().find(|statement| statement_id(document, statement.name.as_deref()) == id)?;
    let end = scan(cedar).ends.into_iter().find(|end| *end > statement.offset)?;
    cedar.get(statement.offset..end)
}

/// A parsed document.
pub(crate) struct Source {
    /// Its statements in text order.
    pub(crate) statements: Vec<Statement>,
    /// The same statements as the parser holds them, under the parser's names.
    pub(crate) policies: PolicySet,
}

pub(crate) struct Statement {
    pub(crate) name: Option<String>,
    /// Its start in bytes.
    pub(crate) offset: usize,
    pub(crate) policy: Policy,
}

impl Source {
    /// Parses a document, or returns everything that is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, Vec<Complaint>> {
        if text.len() > POLICY_BYTES_MAX {
            let message = format!("a policy document can have at most {POLICY_BYTES_MAX} bytes; this one has {}", text.len());
            return Err(vec![Complaint::new(0, message)]);
        }
        let scanned = scan(text);
        if let Some(complaint) = scanned.too_deep {
            return Err(vec![complaint]);
        }
        if scanned.statements.len() > POLICY_STATEMENTS_MAX {
            let message = format!(
                "a policy document can have at most {POLICY_STATEMENTS_MAX} statements; this one has {}",
                scanned.statements.len()
            );
            let place = scanned.statements.get(POLICY_STATEMENTS_MAX).copied().unwrap_or_default();
            return Err(vec![Complaint::new(place, message)]);
        }
        let policies = PolicySet::from_str(text)
            .map_err(|errors| errors.iter().map(|error| complaint(&DetailedError::from(error), 0)).collect::<Vec<_>>())?;
        let starts = scanned.statements;
        let templates: Vec<Complaint> =
            policies.templates().map(|template| Complaint::new(start_of(&starts, template.id().as_ref()), TEMPLATE)).collect();
        if !templates.is_empty() {
            return Err(templates);
        }
        let statements = named(&policies, &starts)?;
        if statements.is_empty() {
            return Err(vec![Complaint::new(0, EMPTY)]);
        }
        Ok(Self { statements, policies })
    }

    /// The statements of `text`, which this was parsed from, with warnings by the parser's names.
    pub(crate) fn infos(&self, text: &str, warnings: Vec<(String, Complaint)>) -> Vec<StatementInfo> {
        let mut places = Places::new(text);
        let mut infos: Vec<StatementInfo> = self
            .statements
            .iter()
            .map(|statement| {
                let (line, column) = places.place(statement.offset);
                let permits = statement.policy.effect() == Effect::Permit;
                StatementInfo { name: statement.name.clone(), permits, line, column, warnings: Vec::new() }
            })
            .collect();
        let mut by_statement: BTreeMap<usize, Vec<Complaint>> = BTreeMap::new();
        for (id, warning) in warnings {
            by_statement.entry(number(&id)).or_default().push(warning);
        }
        for (number, warnings) in by_statement {
            if let Some(info) = infos.get_mut(number) {
                info.warnings = located(text, warnings);
            }
        }
        infos
    }

    /// The start of the statement that the parser calls `id`.
    pub(crate) fn offset_of(&self, id: &str) -> usize {
        self.statements.get(number(id)).map_or(0, |statement| statement.offset)
    }
}

const EMPTY: &str = "a policy document needs at least one statement";
const TEMPLATE: &str = "templates (`?principal`, `?resource`) are not supported; name the entity instead";

/// The statements of a parsed set in text order, with their names.
fn named(policies: &PolicySet, starts: &[usize]) -> Result<Vec<Statement>, Vec<Complaint>> {
    let mut parsed: Vec<(usize, &Policy)> = policies.policies().map(|policy| (number(policy.id().as_ref()), policy)).collect();
    parsed.sort_by_key(|(number, _)| *number);
    let alone = parsed.len() == 1;
    let mut complaints = Vec::new();
    let mut taken = HashSet::new();
    let mut statements = Vec::with_capacity(parsed.len());
    for (number, policy) in parsed {
        let offset = starts.get(number).copied().unwrap_or_default();
        let name = match policy.annotation("id") {
            Some(name) => {
                if let Some(message) = bad_name(name) {
                    complaints.push(Complaint::new(offset, message));
                }
                Some(name.to_owned())
            }
            None if alone => None,
            None => Some((number + 1).to_string()),
        };
        if !taken.insert(name.clone()) {
            let name = name.as_deref().unwrap_or_default();
            complaints.push(Complaint::new(offset, format!("`{}` names two statements of this document", name.escape_debug())));
        }
        statements.push(Statement { name, offset, policy: policy.clone() });
    }
    if complaints.is_empty() { Ok(statements) } else { Err(complaints) }
}

/// Why an `@id` cannot be used in an audit trail.
fn bad_name(name: &str) -> Option<String> {
    if name.trim().is_empty() {
        return Some("`@id` needs a value, as in `@id(\"readers\")`".to_owned());
    }
    if name.chars().count() > POLICY_STATEMENT_NAME_CHARS_MAX || name.contains(char::is_control) {
        return Some(format!(
            "an `@id` must have at most {POLICY_STATEMENT_NAME_CHARS_MAX} characters and no control characters"
        ));
    }
    None
}

/// Cedar names the statements of a text `policy0`, `policy1` and so on, in order.
fn number(id: &str) -> usize {
    id.strip_prefix("policy").and_then(|number| number.parse().ok()).unwrap_or(usize::MAX)
}

fn start_of(starts: &[usize], id: &str) -> usize {
    starts.get(number(id)).copied().unwrap_or_default()
}

/// A message of Cedar at its position, or at `otherwise` if it has none.
pub(crate) fn complaint(error: &DetailedError, otherwise: usize) -> Complaint {
    let offset = error.source_locations.first().map_or(otherwise, |label| label.loc.start);
    let label = error.source_locations.iter().find_map(|label| label.label.as_deref());
    let mut message = without_parsers_name(&error.message).to_owned();
    let help = error.help.as_deref().and_then(|help| near_help(&error.message, help));
    for more in [label, help].into_iter().flatten() {
        message.push_str("; ");
        message.push_str(more);
    }
    Complaint::new(offset, message)
}

/// The validator's help, unless it suggests a name that is not similar. It suggests the least different name, however different.
fn near_help<'a>(message: &str, help: &'a str) -> Option<&'a str> {
    let Some(suggested) = help.strip_prefix("did you mean ").and_then(|suggestion| names(suggestion).next()) else {
        return Some(help);
    };
    // The message can also name what the unknown name belongs to, such as an entity type.
    if names(message).any(|unknown| nearest(unknown, [suggested]).is_some()) {
        return Some(help);
    }
    message.contains("unrecognized action").then_some("`toolcrib tools` lists all tools")
}

/// The names in backticks. For an entity such as `Action::"kits.get"`, this is the part in quotes.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).map(|name| {
        let quoted = name.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"'));
        quoted.map_or(name, |(quoted, _)| quoted)
    })
}

/// The validator starts with "for policy `policy0`, ", which is not a name that the author knows.
fn without_parsers_name(message: &str) -> &str {
    let rest = message.strip_prefix("for policy `policy").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.and_then(|rest| rest.strip_prefix("`, ")).unwrap_or(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_similar_names_are_suggested() {
        let help = |unknown: &str, suggested: &str| {
            let message = format!("for policy `policy0`, unrecognized action `Action::\"{unknown}\"`");
            near_help(&message, &format!("did you mean `Action::\"{suggested}\"`?")).map(str::to_owned)
        };
        assert_eq!(help("bricks.lists", "bricks.list").unwrap(), "did you mean `Action::\"bricks.list\"`?");
        assert_eq!(help("nosuch", "kits.get").unwrap(), "`toolcrib tools` lists all tools");
        assert_eq!(near_help("unrecognized entity type `Robot`", "did you mean `Project`?"), None);
        let attribute = "attribute `readonly` on entity type `Tool` not found";
        assert_eq!(near_help(attribute, "did you mean `readOnly`?"), Some("did you mean `readOnly`?"));
        assert_eq!(near_help("unexpected token `;`", "expected `)`"), Some("expected `)`"));
    }

    #[test]
    fn a_statement_is_quoted_completely() {
        let text = "// One;\n@id(\"a\") @note(\";\")\npermit (principal, action, resource) when { \"};\" == \"\" }; // more;\n\
                    forbid (principal, action, resource);";
        let quoted = |id| statement_text("doc", text, id);
        assert_eq!(
            quoted("doc#a"),
            Some("@id(\"a\") @note(\";\")\npermit (principal, action, resource) when { \"};\" == \"\" };")
        );
        assert_eq!(quoted("doc#2"), Some("forbid (principal, action, resource);"));
        for unknown in ["doc", "doc#1", "doc#3", "other#2"] {
            assert_eq!(quoted(unknown), None, "{unknown}");
        }
        assert_eq!(
            statement_text("doc", "permit (principal, action, resource);", "doc"),
            Some("permit (principal, action, resource);")
        );
        assert_eq!(statement_text("doc", "permit (", "doc"), None);
    }
}
