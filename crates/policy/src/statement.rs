//! One compiled statement.

use std::sync::Arc;

use cedar_policy::{Effect, EntityUid, Expression, Policy};

use crate::inside;
use crate::listing::for_listing;
use crate::model::Model;
use crate::reads::Reads;
use crate::scope::Scope;
use crate::who::PrincipalEntity;

/// A statement of a compiled document.
#[derive(Debug)]
pub(crate) struct Statement {
    /// Its name in decisions.
    pub(crate) id: Arc<str>,
    pub(crate) permits: bool,
    pub(crate) scope: Scope,
    /// The org that its head requires of the resource, if it does.
    pub(crate) org: Option<EntityUid>,
    /// For calls.
    pub(crate) call: Condition,
    /// For listing, if that differs, which is the case if the conditions read the arguments.
    pub(crate) listing: Option<Condition>,
}

/// What must hold in addition to the head.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condition {
    /// `None` means that nothing else must hold.
    pub(crate) expression: Option<Expression>,
    pub(crate) reads: Reads,
}

impl Statement {
    /// Compiles a parsed policy. Fails only if Cedar cannot convert its own tree.
    pub(crate) fn new(id: String, policy: &Policy, model: &Model) -> Result<Self, String> {
        let scope = Scope::of(policy);
        let mut statement = Self {
            id: id.into(),
            permits: policy.effect() == Effect::Permit,
            org: scope.org(model),
            scope,
            call: Condition::default(),
            listing: None,
        };
        if !policy.has_non_scope_constraint() {
            return Ok(statement);
        }
        let tree = inside::tree(policy)?;
        statement.call = Condition { expression: inside::condition(policy), reads: Reads::of(tree.clauses()) };
        if let Some(clauses) = for_listing(tree.effect, tree.clauses()) {
            let reads = Reads::of(&clauses);
            let tree = tree.try_with_clauses(clauses).map_err(|error| error.to_string())?;
            let expression = inside::condition(&inside::policy(tree)?);
            statement.listing = Some(Condition { expression, reads });
        }
        Ok(statement)
    }

    /// Whether its head matches this principal. The slice has already checked the target.
    pub(crate) fn covers(&self, who: &PrincipalEntity) -> bool {
        self.scope.covers(who) && self.org.as_ref().is_none_or(|org| org == who.org())
    }

    /// The condition for a call or for a listing.
    pub(crate) fn condition(&self, listing: bool) -> &Condition {
        if listing { self.listing.as_ref().unwrap_or(&self.call) } else { &self.call }
    }
}
