//! The form of a statement for listing, when nobody knows the arguments yet: whatever depends on `context.input` is assumed to
//! turn out in the caller's favour. A tool is listed if some arguments might pass; the call itself is decided with its own.
//!
//! | expression that reads the input | in a permit | in a forbid |
//! |---|---|---|
//! | `a && b`, `a \|\| b` | each side by itself | the same |
//! | `!a`, `unless { a }` | the reverse of `a` | the same |
//! | `if a then b else c`, where `a` reads it | `b \|\| c` | `b && c` |
//! | anything else | `true` | `false` |
//!
//! What does not read the input stays as it is, so that a condition on the principal still counts.

use std::sync::Arc;

use cedar_policy::pst::{BinaryOp, Clause, Effect, Expr, Literal, UnaryOp};

use crate::reads::reads_input;

/// The clauses for listing, or nothing if none of them reads the input: then they serve as they are.
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

/// Which way an expression that reads the input is assumed to turn out.
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

    /// Two expressions of which either may count.
    fn either(self, left: Arc<Expr>, right: Arc<Expr>) -> Arc<Expr> {
        let op = if self == Lean::True { BinaryOp::Or } else { BinaryOp::And };
        Arc::new(Expr::BinaryOp { op, left, right })
    }
}

/// The expression with everything settled that reads the input. The recursion is no deeper than the text's nesting, which the
/// scan has bounded.
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
