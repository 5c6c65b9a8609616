//! The principal of a request as a Cedar entity, and the other entities of a decision.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base::{Actor, Principal};
use cedar_policy::{Entities, Entity, EntityUid, RestrictedExpression};

use crate::model::{About, Model, Target};

/// The caller. Everything in it comes from the door, and nothing from a request body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PrincipalEntity {
    uid: EntityUid,
    agent: Option<EntityUid>,
    project: Option<EntityUid>,
    org: EntityUid,
    label: Option<Arc<str>>,
    work_type: Option<Arc<str>>,
}

impl PrincipalEntity {
    pub(crate) fn new(model: &Model, principal: &Principal) -> Self {
        let types = &model.types;
        let project = principal.project.as_ref().map(|project| types.project.entity(project.id.as_str()));
        let org = types.org.entity(principal.org.as_str());
        match &principal.actor {
            Actor::Session { id, agent, label, work_type, key: _ } => Self {
                uid: types.session.entity(id.as_str()),
                agent: agent.as_ref().map(|agent| types.agent.entity(agent.as_str())),
                project,
                org,
                label: label.clone(),
                work_type: work_type.clone(),
            },
            Actor::Agent { id, token: _ } => {
                Self { uid: types.agent.entity(id.as_str()), agent: None, project, org, label: None, work_type: None }
            }
        }
    }

    pub(crate) fn uid(&self) -> &EntityUid {
        &self.uid
    }

    pub(crate) fn org(&self) -> &EntityUid {
        &self.org
    }

    /// The entities that it belongs to.
    pub(crate) fn ancestors(&self) -> impl Iterator<Item = &EntityUid> {
        self.agent.iter().chain(&self.project).chain(std::iter::once(&self.org))
    }

    /// Cedar's `in`: it is this entity or belongs to it.
    pub(crate) fn is_in(&self, uid: &EntityUid) -> bool {
        self.uid == *uid || self.ancestors().any(|ancestor| ancestor == uid)
    }

    /// The principal and everything above it. For a session's agent, only its org is known.
    fn entities(&self) -> Result<Vec<Entity>, String> {
        let texts = [("label", &self.label), ("workType", &self.work_type)];
        let attributes: HashMap<String, RestrictedExpression> =
            texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), string(text.as_ref()?)))).collect();
        let org = HashSet::from([self.org.clone()]);
        let mut entities = vec![entity(self.uid.clone(), attributes, self.ancestors().cloned().collect())?];
        let middle = self.agent.iter().chain(&self.project);
        entities.extend(middle.map(|uid| Entity::new_no_attrs(uid.clone(), org.clone())));
        entities.push(Entity::new_no_attrs(self.org.clone(), HashSet::new()));
        Ok(entities)
    }
}

/// The entities of a decision: the principal's and, with a target, the action, the resource and the ones that the statements
/// name.
pub(crate) fn entities(
    model: &Model,
    who: &PrincipalEntity,
    target: Option<&Target>,
    named: &[EntityUid],
) -> Result<Entities, String> {
    let mut entities = who.entities()?;
    if let Some(target) = target {
        entities.push(Entity::new_no_attrs(target.action.clone(), target.parent.iter().cloned().collect()));
        let mut added = HashSet::from([&target.action]);
        for uid in std::iter::once(&target.resource).chain(named) {
            // A skill refers to its peer, so the peer must be included.
            let peer = match model.about(uid) {
                Some(About::Skill { peer, .. }) => Some(peer),
                _ => None,
            };
            for uid in peer.into_iter().chain([uid]) {
                if added.insert(uid) {
                    entities.extend(known(model, uid, who.org())?);
                }
            }
        }
    }
    Entities::from_entities(entities, None).map_err(|error| error.to_string())
}

/// A tool, peer, skill or action of the model as an entity of this org; `None` if the model does not know it.
fn known(model: &Model, uid: &EntityUid, org: &EntityUid) -> Result<Option<Entity>, String> {
    let in_org = HashSet::from([org.clone()]);
    let flag = |name: &str, flag: bool| (name.to_owned(), RestrictedExpression::new_bool(flag));
    let text = |name: &str, text: &str| (name.to_owned(), string(text));
    let entity = match model.about(uid) {
        Some(About::Tool { read_only, destructive }) => {
            let attributes = [flag("readOnly", *read_only), flag("destructive", *destructive)];
            entity(uid.clone(), attributes.into(), in_org)?
        }
        Some(About::Peer { trust, health }) => {
            entity(uid.clone(), [text("trust", trust), text("health", health)].into(), in_org)?
        }
        Some(About::Skill { peer, tags }) => {
            let tags = RestrictedExpression::new_set(tags.iter().map(|tag| string(tag)));
            let peer_value = RestrictedExpression::new_entity_uid(peer.clone());
            let attributes = [("agent".to_owned(), peer_value), ("tags".to_owned(), tags)];
            entity(uid.clone(), attributes.into(), HashSet::from([peer.clone()]))?
        }
        None => {
            return Ok(model
                .parent_of_action(uid)
                .map(|parent| Entity::new_no_attrs(uid.clone(), HashSet::from([parent.clone()]))));
        }
    };
    Ok(Some(entity))
}

fn entity(
    uid: EntityUid,
    attributes: HashMap<String, RestrictedExpression>,
    parents: HashSet<EntityUid>,
) -> Result<Entity, String> {
    Entity::new(uid, attributes, parents).map_err(|error| error.to_string())
}

fn string(text: &str) -> RestrictedExpression {
    RestrictedExpression::new_string(text.to_owned())
}
