//! The only module that uses undocumented parts of Cedar: the expression tree of a policy.
//!
//! Evaluating only the conditions of the statements that apply takes half the time of Cedar's authorizer: the authorizer builds
//! and evaluates each policy's scope as an expression and puts every policy into a hash map. `decide.rs` implements the same
//! decision. Tests compare both with each other and with another build of Cedar.

use cedar_policy::{Expression, Policy, pst};

/// The conditions of a policy as one expression; `None` if it has none.
pub(crate) fn condition(policy: &Policy) -> Option<Expression> {
    policy.as_ref().non_scope_constraints().cloned().map(Expression::from)
}

/// A policy as a tree that can be walked and rebuilt. It comes from Cedar's tree, because the text would be parsed again.
pub(crate) fn tree(policy: &Policy) -> Result<pst::Template, String> {
    let bare = Policy::from(policy.as_ref().clone());
    match bare.try_into_pst() {
        Ok(tree) => Ok(tree.body().clone()),
        Err(error) => Err(error.to_string()),
    }
}

/// The policy of a rebuilt tree.
pub(crate) fn policy(tree: pst::Template) -> Result<Policy, String> {
    let tree = pst::StaticPolicy::try_from(tree).map_err(|error| error.to_string())?;
    Policy::from_pst(tree.into()).map_err(|error| error.to_string())
}
