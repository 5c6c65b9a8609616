//! What the conditions of a statement read: parts of the context, and entities. Anything that no statement reads is not built
//! for a call.

use std::collections::BTreeSet;
use std::sync::Arc;

use cedar_policy::pst::{Clause, EntityUID, Expr, Literal, Var};

use crate::model::words;

/// Everything that the conditions of some statements read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reads {
    pub(crate) input: InputReads,
    /// `context.call.now`, which is the most expensive part, and `context.call.door`.
    pub(crate) now: bool,
    pub(crate) door: bool,
    /// The variables. Naming a session, agent, project or org reads the principal's entities, because no others are known.
    pub(crate) principal: bool,
    pub(crate) action: bool,
    pub(crate) resource: bool,
    /// Named tools, peers, skills and actions, as type and id.
    pub(crate) named: BTreeSet<(String, String)>,
}

/// The part of `context.input` that is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum InputReads {
    #[default]
    Nothing,
    /// Only these members. There may be none, because `context has input` also reads the input.
    Members(BTreeSet<String>),
    Everything,
}

impl InputReads {
    /// Whether a member of the input is read.
    pub(crate) fn covers(&self, member: &str) -> bool {
        match self {
            InputReads::Nothing => false,
            InputReads::Members(members) => members.contains(member),
            InputReads::Everything => true,
        }
    }

    fn add(&mut self, member: Option<&str>) {
        if *self == InputReads::Nothing {
            *self = InputReads::Members(BTreeSet::new());
        }
        if let (InputReads::Members(members), Some(member)) = (self, member) {
            members.insert(member.to_owned());
        }
    }

    fn merge(&mut self, other: &InputReads) {
        match other {
            InputReads::Nothing => {}
            InputReads::Everything => *self = InputReads::Everything,
            InputReads::Members(members) => {
                self.add(None);
                members.iter().for_each(|member| self.add(Some(member)));
            }
        }
    }
}

impl Reads {
    /// What these clauses read.
    pub(crate) fn of(clauses: &[Clause]) -> Self {
        let mut reads = Self::default();
        for Clause::When(condition) | Clause::Unless(condition) in clauses {
            reads.visit(condition);
        }
        reads
    }

    /// Adds what others read.
    pub(crate) fn merge(&mut self, other: &Reads) {
        self.input.merge(&other.input);
        self.now |= other.now;
        self.door |= other.door;
        self.principal |= other.principal;
        self.action |= other.action;
        self.resource |= other.resource;
        self.named.extend(other.named.iter().cloned());
    }

    fn visit(&mut self, expression: &Expr) {
        if let Some(part) = context_part(expression) {
            self.add_part(&part);
            return;
        }
        match expression {
            Expr::Var(Var::Principal) => self.principal = true,
            Expr::Var(Var::Action) => self.action = true,
            Expr::Var(Var::Resource) => self.resource = true,
            Expr::Literal(Literal::EntityUID(EntityUID { ty, eid })) => match ty.to_string() {
                kind if words::OF_PRINCIPALS.contains(&kind.as_str()) => self.principal = true,
                kind => {
                    self.named.insert((kind, eid.to_string()));
                }
            },
            other => children(other).into_iter().for_each(|child| self.visit(child)),
        }
    }

    fn add_part(&mut self, part: &ContextPart<'_>) {
        match part {
            ContextPart::Call(member) => {
                self.now |= *member != Some("door");
                self.door |= *member != Some("now");
            }
            ContextPart::Input(member) => self.input.add(*member),
            ContextPart::AllInput => self.input = InputReads::Everything,
            ContextPart::Whole => {
                self.now = true;
                self.door = true;
                self.input = InputReads::Everything;
            }
        }
    }
}

/// Whether an expression reads the input anywhere.
pub(crate) fn reads_input(expression: &Expr) -> bool {
    match context_part(expression) {
        Some(ContextPart::Call(_)) => false,
        Some(_) => true,
        None => children(expression).into_iter().any(|child| reads_input(child)),
    }
}

/// A part of the context in an expression.
enum ContextPart<'a> {
    /// One member of the call, or all of it.
    Call(Option<&'a str>),
    /// One member of the input, or only whether there is an input.
    Input(Option<&'a str>),
    AllInput,
    Whole,
}

/// The part of the context that this expression reads. `None` means that it reads something else, so look inside it.
fn context_part(expression: &Expr) -> Option<ContextPart<'_>> {
    match expression {
        Expr::Var(Var::Context) => Some(ContextPart::Whole),
        Expr::GetAttr { expr, attr } if is_context(expr) => Some(match attr.as_str() {
            "call" => ContextPart::Call(None),
            "input" => ContextPart::AllInput,
            _ => ContextPart::Whole,
        }),
        Expr::GetAttr { expr, attr } => part_below(expr, attr),
        Expr::HasAttr { expr, attrs } if is_context(expr) => {
            let second = attrs.get(1).map(|attr| attr.as_str());
            Some(match attrs.first().as_str() {
                "call" => ContextPart::Call(second),
                "input" => ContextPart::Input(second),
                _ => ContextPart::Whole,
            })
        }
        Expr::HasAttr { expr, attrs } => part_below(expr, attrs.first()),
        _ => None,
    }
}

/// The part that `<expression>.<member>` reads, if the expression is `context.call` or `context.input`.
fn part_below<'a>(expression: &Expr, member: &'a str) -> Option<ContextPart<'a>> {
    match expression {
        Expr::GetAttr { expr, attr } if is_context(expr) => match attr.as_str() {
            "call" => Some(ContextPart::Call(Some(member))),
            "input" => Some(ContextPart::Input(Some(member))),
            _ => None,
        },
        _ => None,
    }
}

fn is_context(expression: &Expr) -> bool {
    matches!(expression, Expr::Var(Var::Context))
}

/// The parts of an expression. An expression kind of a later Cedar counts as having no parts. Its reads would be missing, so
/// the statement would fail, which denies.
fn children(expression: &Expr) -> Vec<&Arc<Expr>> {
    match expression {
        Expr::UnaryOp { expr, .. } | Expr::GetAttr { expr, .. } | Expr::HasAttr { expr, .. } | Expr::Like { expr, .. } => {
            vec![expr]
        }
        Expr::BinaryOp { left, right, .. } => vec![left, right],
        Expr::Is { expr, in_expr, .. } => std::iter::once(expr).chain(in_expr).collect(),
        Expr::IfThenElse { cond, then_expr, else_expr } => vec![cond, then_expr, else_expr],
        Expr::Set(items) => items.iter().collect(),
        Expr::Record(members) => members.values().collect(),
        _ => Vec::new(),
    }
}
