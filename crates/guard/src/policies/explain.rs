//! Explains what the gate would decide for a caller, and which policy decides, without a call.

use std::collections::BTreeMap;

use base::{
    Actor, AgentId, Allowlist, Error, Principal, ProjectId, ProjectView, Result, Scope, ScopeSet, SessionId, TokenId, ToolNames,
};
use policy::{Decision, Document, Input};
use serde_json::Value;

use super::{Policies, Policy, active};
use crate::admit::may_ask;
use crate::agents::Bounds;
use crate::spec::Spec;

/// The hypothetical caller.
#[derive(Clone, Copy, Debug)]
pub enum Subject {
    /// A registered agent, at the agent door.
    Agent(AgentId),
    /// A session, with a key that has every scope.
    Session(SessionId),
}

/// The gate's decision.
#[derive(Debug)]
pub struct Explanation {
    /// The checks before policy: scope, allowlist, capability and the arguments' schema.
    pub before_policy: Result<()>,
    /// The policy decision.
    pub decision: Decision,
    /// The hash of the evaluated policies.
    pub policy_set: String,
}

impl Explanation {
    /// Whether the call would be allowed, or the tool listed.
    pub fn is_allowed(&self) -> bool {
        self.before_policy.is_ok() && self.decision.allowed
    }
}

impl Policies<'_> {
    /// Explains the gate's decision about a tool for `subject`: for these arguments, or whether it is listed without arguments.
    /// `check` validates the arguments as in a call, after scope and allowlist and before policy.
    /// `candidates` replace the stored policies of the same name. `None` if there is no such subject.
    pub async fn explain(
        &self,
        subject: Subject,
        spec: &Spec,
        arguments: Option<&Value>,
        check: impl FnOnce(&Value) -> Result<()>,
        candidates: Vec<Document>,
    ) -> Result<Option<Explanation>> {
        let Some(principal) = self.principal(subject).await? else {
            return Ok(None);
        };
        let compiled = if candidates.is_empty() {
            self.active().await?
        } else {
            // A trial set is not cached, because nobody else uses it.
            self.access.require(Scope::PoliciesWrite)?;
            let _turn = self.guard.turn().await?;
            let stored = self.list().await?.into_iter().filter_map(Policy::into_document);
            let documents: BTreeMap<_, _> = stored.chain(candidates).map(|document| (document.id.clone(), document)).collect();
            active::compile_once(self.model().await?, documents.into_values().collect()).await?
        };
        let input = arguments.map_or(Input::Any, Input::These);
        let decision = compiled.decide(&principal, self.guard.clock.now(), &spec.name, input);
        let policy_set = compiled.hash().to_owned();
        let before_policy = may_ask(&principal, spec).and_then(|()| arguments.map_or(Ok(()), check));
        Ok(Some(Explanation { before_policy, decision, policy_set }))
    }

    async fn principal(&self, subject: Subject) -> Result<Option<Principal>> {
        match subject {
            Subject::Agent(id) => self.agent(&id).await,
            Subject::Session(id) => self.session(&id).await,
        }
    }

    async fn agent(&self, id: &AgentId) -> Result<Option<Principal>> {
        let Some(agent) = self.access.agents().get(id).await? else {
            return Ok(None);
        };
        Ok(Some(Principal {
            org: *self.access.org(),
            plan_has_graph: self.plan_has_graph().await?,
            project: match &agent.project {
                Some(project) => Some(self.project(project).await?),
                None => None,
            },
            actor: Actor::Agent { id: agent.id, token: TokenId::new(self.guard.clock.now()) },
            scopes: agent.scopes,
            allowlist: Allowlist::Only(agent.tools),
            tool_names: agent.tool_names,
        }))
    }

    async fn session(&self, id: &SessionId) -> Result<Option<Principal>> {
        let Some(session) = self.access.sessions().get(id).await? else {
            return Ok(None);
        };
        let bounds = match &session.agent {
            None => Bounds::NONE,
            Some(agent) => self.access.agents().bounds(agent).await?,
        };
        Ok(Some(Principal {
            org: *self.access.org(),
            plan_has_graph: self.plan_has_graph().await?,
            project: Some(self.project(&session.project).await?),
            actor: Actor::Session {
                id: session.id,
                agent: session.agent,
                label: session.agent_label.map(Into::into),
                work_type: session.work_type.map(Into::into),
                key: None,
            },
            scopes: bounds.scopes(ScopeSet::EVERYTHING),
            allowlist: bounds.allowlist(&session.allowlist),
            tool_names: ToolNames::Canonical,
        }))
    }

    async fn project(&self, id: &ProjectId) -> Result<ProjectView> {
        let project = self.access.projects().get(id).await?;
        let project = project.ok_or_else(|| Error::internal("the project of the agent or session is missing"))?;
        Ok(ProjectView {
            id: project.id,
            has_code: project.root.is_some() || self.access.projects().has_files(id).await?,
            root: project.root.map(Into::into),
            memory_enabled: project.memory_enabled,
            graph_enabled: project.graph_enabled,
        })
    }

    async fn plan_has_graph(&self) -> Result<bool> {
        Ok(self.guard.orgs().get(self.access.org()).await?.is_some_and(|org| org.plan_has_graph))
    }
}
