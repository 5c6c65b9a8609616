//! One policy document, from text to statements that have names.

use std::collections::{BTreeMap, HashSet};
use std::str::FromStr;

use cedar_policy::ffi::DetailedError;
use cedar_policy::{Effect, Policy, PolicySet};

use crate::finding::{Complaint, Finding, Places, located};
use crate::limits::{DOCUMENT_BYTES_MAX, STATEMENT_NAME_CHARS_MAX, STATEMENTS_MAX};
use crate::scan::scan;

/// One statement of a checked document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementInfo {
    /// The value of its `@id` annotation, or its number in the document, from 1. A document of one statement without an `@id`
    /// needs neither.
    pub name: Option<String>,
    /// Whether it permits; otherwise it forbids.
    pub permits: bool,
    /// The line it begins on, from 1.
    pub line: usize,
    /// The column it begins at, from 1, in Unicode scalar values.
    pub column: usize,
    /// What the validator finds odd and yet allows: a statement that never applies, characters that look like others.
    pub warnings: Vec<Finding>,
}

impl StatementInfo {
    /// The name that decisions and the audit trail use for this statement of `document`.
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

/// The text of the statement of `document` that decisions call `id`, from its first annotation to its semicolon. None when the
/// text `cedar` has no such statement, or is none that can be read.
pub fn statement_text<'t>(document: &str, cedar: &'t str, id: &str) -> Option<&'t str> {
    let source = Source::parse(cedar).ok()?;
    let statement = source.statements.iter().find(|statement| statement_id(document, statement.name.as_deref()) == id)?;
    let end = scan(cedar).ends.into_iter().find(|end| *end > statement.offset)?;
    cedar.get(statement.offset..end)
}

/// A parsed document.
pub(crate) struct Source {
    /// Its statements in the order of the text.
    pub(crate) statements: Vec<Statement>,
    /// The same as the parser holds them, under the parser's own names.
    pub(crate) policies: PolicySet,
}

pub(crate) struct Statement {
    pub(crate) name: Option<String>,
    /// Where it begins, in bytes.
    pub(crate) offset: usize,
    pub(crate) policy: Policy,
}

impl Source {
    /// Parses a document, or says everything that keeps it from being one.
    pub(crate) fn parse(text: &str) -> Result<Self, Vec<Complaint>> {
        if text.len() > DOCUMENT_BYTES_MAX {
            let message = format!("a policy document has at most {DOCUMENT_BYTES_MAX} bytes, this one has {}", text.len());
            return Err(vec![Complaint::new(0, message)]);
        }
        let scanned = scan(text);
        if let Some(complaint) = scanned.too_deep {
            return Err(vec![complaint]);
        }
        if scanned.statements.len() > STATEMENTS_MAX {
            let message =
                format!("a policy document has at most {STATEMENTS_MAX} statements, this one has {}", scanned.statements.len());
            let place = scanned.statements.get(STATEMENTS_MAX).copied().unwrap_or_default();
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

    /// What a caller may know of the statements of `text`, which this was parsed from, with warnings by the parser's names.
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

    /// Where the statement begins that the parser calls `id`.
    pub(crate) fn offset_of(&self, id: &str) -> usize {
        self.statements.get(number(id)).map_or(0, |statement| statement.offset)
    }
}

const EMPTY: &str = "a policy document needs at least one statement; an empty one would permit nothing without saying so";
const TEMPLATE: &str = "templates (`?principal`, `?resource`) are not supported; name the entity instead";

/// The statements of a parsed set in the order of the text, with their names.
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

/// Why an `@id` cannot stand in an audit trail.
fn bad_name(name: &str) -> Option<String> {
    if name.trim().is_empty() {
        return Some("`@id` needs a value, as in `@id(\"readers\")`".to_owned());
    }
    if name.chars().count() > STATEMENT_NAME_CHARS_MAX || name.contains(char::is_control) {
        return Some(format!("an `@id` has at most {STATEMENT_NAME_CHARS_MAX} characters and no control characters"));
    }
    None
}

/// Cedar calls the statements of a text `policy0`, `policy1` and so on, in their order.
fn number(id: &str) -> usize {
    id.strip_prefix("policy").and_then(|number| number.parse().ok()).unwrap_or(usize::MAX)
}

fn start_of(starts: &[usize], id: &str) -> usize {
    starts.get(number(id)).copied().unwrap_or_default()
}

/// What Cedar says, where it says it, or at `otherwise` if it does not say where.
pub(crate) fn complaint(error: &DetailedError, otherwise: usize) -> Complaint {
    let offset = error.source_locations.first().map_or(otherwise, |label| label.loc.start);
    let label = error.source_locations.iter().find_map(|label| label.label.as_deref());
    let mut message = without_parsers_name(&error.message).to_owned();
    for more in [label, error.help.as_deref()].into_iter().flatten() {
        message.push_str("; ");
        message.push_str(more);
    }
    Complaint::new(offset, message)
}

/// The validator begins with "for policy `policy0`, ", a name that nobody gave.
fn without_parsers_name(message: &str) -> &str {
    let rest = message.strip_prefix("for policy `policy").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.and_then(|rest| rest.strip_prefix("`, ")).unwrap_or(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_quoted_whole() {
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
