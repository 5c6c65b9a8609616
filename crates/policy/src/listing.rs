//! Rewrites a statement for listing, when the arguments are not known yet: everything that depends on `context.input` is
//! assumed to favour the caller. A tool is listed if some arguments might pass, and the call is decided with its own arguments.
//!
//! | expression that reads the input | in a permit | in a forbid |
//! |---|---|---|
//! | `a && b`, `a \|\| b` | each side by itself | the same |
//! | `!a`, `unless { a }` | the reverse of `a` | the same |
//! | `if a then b else c`, where `a` reads it | `b \|\| c` | `b && c` |
//! | anything else | `true` | `false` |
//!
//! Expressions that do not read the input stay unchanged, so a condition on the principal still counts.

use std::sync::Arc;

use cedar_policy::pst::{BinaryOp, Clause, Effect, Expr, Literal, UnaryOp};

use crate::reads::reads_input;

/// The clauses for listing, or `None` if none of them reads the input, so that they can be used unchanged.
pub(crate) fn for_listing(effect: Effect, clauses: &[Clause]) -> Option<Vec<Clause>> {
    let lean = Lean::may_hold(effect == Effect::Permit);
    let mut changed = false;
    let clauses = clauses
        .iter()
        .map(|clause| match clause {
            Clause::When(condition) => Clause::When(settled(condition, lean, &mut changed)),
            Clause::Unless(condition) => Clause::Unless(settled(condition, lean.reverse(), &mut changed)),
        })
        .collect();
    changed.then_some(clauses)
}

/// The assumed value of an expression that reads the input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lean {
    True,
    False,
}

impl Lean {
    fn may_hold(holds: bool) -> Self {
        if holds { Lean::True } else { Lean::False }
    }

    fn reverse(self) -> Self {
        Self::may_hold(self == Lean::False)
    }

    fn literal(self) -> Arc<Expr> {
        Arc::new(Expr::Literal(Literal::Bool(self == Lean::True)))
    }

    /// Combines two expressions, either of which may count.
    fn either(self, left: Arc<Expr>, right: Arc<Expr>) -> Arc<Expr> {
        let op = if self == Lean::True { BinaryOp::Or } else { BinaryOp::And };
        Arc::new(Expr::BinaryOp { op, left, right })
    }
}

/// Replaces everything that reads the input. The recursion is not deeper than the nesting of the text, which the scan has
/// limited.
fn settled(expression: &Arc<Expr>, lean: Lean, changed: &mut bool) -> Arc<Expr> {
    if !reads_input(expression) {
        return Arc::clone(expression);
    }
    *changed = true;
    match expression.as_ref() {
        Expr::BinaryOp { op: op @ (BinaryOp::And | BinaryOp::Or), left, right } => {
            let (left, right) = (settled(left, lean, changed), settled(right, lean, changed));
            Arc::new(Expr::BinaryOp { op: *op, left, right })
        }
        Expr::UnaryOp { op: UnaryOp::Not, expr } => {
            Arc::new(Expr::UnaryOp { op: UnaryOp::Not, expr: settled(expr, lean.reverse(), changed) })
        }
        Expr::IfThenElse { cond, then_expr, else_expr } => {
            let (then_expr, else_expr) = (settled(then_expr, lean, changed), settled(else_expr, lean, changed));
            if reads_input(cond) {
                lean.either(then_expr, else_expr)
            } else {
                Arc::new(Expr::IfThenElse { cond: Arc::clone(cond), then_expr, else_expr })
            }
        }
        _ => lean.literal(),
    }
}
