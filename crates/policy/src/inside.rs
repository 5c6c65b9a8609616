//! The one place that uses parts of Cedar which its documentation hides: a policy's own expression tree.
//!
//! Evaluating the conditions of the statements that apply takes half the time of handing Cedar's authorizer a policy set: the
//! authorizer builds each policy's scope anew as an expression, evaluates it, and files every policy in a hash map. What it
//! decides is written down in `decide.rs` instead; tests hold both against each other and against another build of Cedar.

use cedar_policy::{Expression, Policy, pst};

/// The conditions of a policy as one expression; none if it has no conditions.
pub(crate) fn condition(policy: &Policy) -> Option<Expression> {
    policy.as_ref().non_scope_constraints().cloned().map(Expression::from)
}

/// A policy as a tree that can be walked and rebuilt. From Cedar's own tree: from the text it would be parsed again.
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
