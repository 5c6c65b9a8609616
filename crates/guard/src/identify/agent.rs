//! The agent door: an access token.

use std::sync::Arc;

use base::secret::SecretHash;
use base::{Actor, AgentId, OrgId, Principal, ScopeSet, Timestamp, TokenId, ToolNames};
use policy::Compiled;
use store::{Row, params};

use super::{Caller, CredentialKey, bearer, project_from_row, sql};
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
            .first(sql::ORG_OF_TOKEN, &params![hash.hex()], |row| Ok(OrgId::from_row(row.text("org_id")?)))
            .await?
            .ok_or(Refusal::Unauthorized)?;
        let change_number = self.store.change_number(&org).await?;
        let policies = self.active_policies(&org, change_number).await?;
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
        let disabled: bool = row.get("disabled")?;
        if disabled {
            return Ok(None);
        }
        let id = AgentId::from_row(row.text("agent_id")?);
        let project = row.get::<Option<String>>("project_id")?.map(|_| project_from_row(row)).transpose()?;
        let rate = self.agent_rate(row.get::<Option<i64>>("calls_per_minute")?);
        let principal = Principal {
            org: *org,
            plan_has_graph: row.get("plan_has_graph")?,
            project,
            actor: Actor::Agent { id, token: TokenId::from_row(row.text("token_id")?) },
            scopes: ScopeSet::from_row(row.text("scopes")?),
            allowlist: allowlist_from_row(Some(row.text("tools")?))?,
            tool_names: ToolNames::parse(row.text("tool_names")?).unwrap_or_default(),
        };
        Ok(Some(Caller {
            principal,
            change_number,
            credential_expires_at: Some(row.get::<Timestamp>("expires_at")?),
            session_expires_at: None,
            allowance: self.rates.allowance(org, id.as_str(), rate),
            policies: Arc::clone(policies),
        }))
    }
}
