//! The agent door: an access token.

use std::sync::Arc;

use base::secret::SecretHash;
use base::{Actor, AgentId, OrgId, Principal, ProjectId, ProjectView, ScopeSet, Timestamp, TokenId, ToolNames};
use policy::Compiled;
use store::{Row, params};

use super::{Caller, CredentialKey, bearer, sql};
use crate::guard::Guard;
use crate::refusal::Refusal;
use crate::sessions::allowlist_from_row;

impl Guard {
    /// Identifies a request at the agent door.
    pub async fn identify_agent(&self, authorization: Option<&str>) -> Result<Arc<Caller>, Refusal> {
        let hash = SecretHash::of(bearer(authorization)?);
        let credential = CredentialKey::Token(hash);
        if let Some(caller) = self.remembered(&credential).await? {
            return Ok(caller);
        }
        let org = self
            .store
            .first(sql::ORG_OF_TOKEN, &params![hash.hex()], |row| Ok(OrgId::from_row(row.text(0)?)))
            .await?
            .ok_or(Refusal::Unauthorized)?;
        let change_number = self.store.change_number(&org).await?;
        let policies = self.policies_in_force(&org, change_number).await?;
        let found = self
            .rows_of(&org)
            .first(sql::TOKEN, &params![hash.hex()], |row| self.agent_caller(&org, change_number, &policies, row))
            .await?;
        let caller = Arc::new(found.flatten().ok_or(Refusal::Unauthorized)?);
        self.still_good(&caller)?;
        self.callers.insert(credential, Arc::clone(&caller));
        Ok(caller)
    }

    fn agent_caller(
        &self,
        org: &OrgId,
        change_number: u64,
        policies: &Arc<Compiled>,
        row: &Row<'_>,
    ) -> base::Result<Option<Caller>> {
        let disabled: bool = row.get(7)?;
        if disabled {
            return Ok(None);
        }
        let id = AgentId::from_row(row.text(2)?);
        let project = match row.get::<Option<String>>(8)? {
            Some(project) => Some(ProjectView {
                id: ProjectId::from_row(&project),
                has_root: row.get::<Option<String>>(9)?.is_some(),
                memory_enabled: row.get(10)?,
                graph_enabled: row.get(11)?,
            }),
            None => None,
        };
        let rate = self.agent_rate(row.get::<Option<i64>>(6)?);
        let principal = Principal {
            org: *org,
            plan_has_graph: row.get(12)?,
            project,
            actor: Actor::Agent { id, token: TokenId::from_row(row.text(0)?) },
            scopes: ScopeSet::from_row(row.text(3)?),
            allowlist: allowlist_from_row(Some(row.text(4)?))?,
            tool_names: ToolNames::parse(row.text(5)?).unwrap_or_default(),
        };
        Ok(Some(Caller {
            principal,
            change_number,
            credential_expires_at: Some(row.get::<Timestamp>(1)?),
            session_expires_at: None,
            allowance: self.rates.allowance(org, id.as_str(), rate),
            policies: Arc::clone(policies),
        }))
    }
}
