//! The head of a statement: its principal, action and resource. A statement whose head cannot match a call is not evaluated for
//! it, because it could neither apply nor fail.

use cedar_policy::{ActionConstraint, EntityUid, Policy, PrincipalConstraint, ResourceConstraint};

use crate::model::{About, Model, Target};
use crate::who::PrincipalEntity;

/// The head of a statement.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    principal: PrincipalConstraint,
    action: ActionConstraint,
    resource: ResourceConstraint,
}

impl Scope {
    pub(crate) fn of(policy: &Policy) -> Self {
        Self {
            principal: policy.principal_constraint(),
            action: policy.action_constraint(),
            resource: policy.resource_constraint(),
        }
    }

    /// The one entity that a principal must be or be in. It separates thousands of rules for thousands of agents.
    pub(crate) fn anchor(&self) -> Option<&EntityUid> {
        match &self.principal {
            PrincipalConstraint::Any | PrincipalConstraint::Is(_) => None,
            PrincipalConstraint::Eq(uid) | PrincipalConstraint::In(uid) | PrincipalConstraint::IsIn(_, uid) => Some(uid),
        }
    }

    /// Whether it is the same for every principal of an org.
    pub(crate) fn is_about_everyone(&self) -> bool {
        matches!(self.principal, PrincipalConstraint::Any)
    }

    /// Whether it matches `who`.
    pub(crate) fn covers(&self, who: &PrincipalEntity) -> bool {
        match &self.principal {
            PrincipalConstraint::Any => true,
            PrincipalConstraint::Is(kind) => who.uid().type_name() == kind,
            PrincipalConstraint::Eq(uid) => who.uid() == uid,
            PrincipalConstraint::In(uid) => who.is_in(uid),
            PrincipalConstraint::IsIn(kind, uid) => who.uid().type_name() == kind && who.is_in(uid),
        }
    }

    /// Whether it matches `target`, as far as that does not depend on the org.
    pub(crate) fn may_cover(&self, target: &Target, model: &Model) -> bool {
        self.action_matches(target) && self.resource_matches(target, model)
    }

    fn action_matches(&self, target: &Target) -> bool {
        let is = |uid: &EntityUid| *uid == target.action;
        match &self.action {
            ActionConstraint::Any => true,
            ActionConstraint::Eq(uid) => is(uid),
            ActionConstraint::In(uids) => uids.iter().any(|uid| is(uid) || target.parent.as_ref() == Some(uid)),
        }
    }

    fn resource_matches(&self, target: &Target, model: &Model) -> bool {
        match &self.resource {
            ResourceConstraint::Any => true,
            ResourceConstraint::Is(kind) => target.resource.type_name() == kind,
            ResourceConstraint::Eq(uid) => target.resource == *uid,
            ResourceConstraint::In(uid) => resource_may_be_in(uid, target, model),
            ResourceConstraint::IsIn(kind, uid) => target.resource.type_name() == kind && resource_may_be_in(uid, target, model),
        }
    }

    /// The org that the resource must belong to, which is the caller's org.
    pub(crate) fn org(&self, model: &Model) -> Option<EntityUid> {
        match &self.resource {
            ResourceConstraint::In(uid) | ResourceConstraint::IsIn(_, uid) if model.types.org.is_type_of(uid) => {
                Some(uid.clone())
            }
            _ => None,
        }
    }
}

fn resource_may_be_in(uid: &EntityUid, target: &Target, model: &Model) -> bool {
    let peer = match model.about(&target.resource) {
        Some(About::Skill { peer, .. }) => Some(peer),
        _ => None,
    };
    *uid == target.resource || Some(uid) == peer || model.types.org.is_type_of(uid)
}
