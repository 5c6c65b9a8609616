//! Exchanges an agent's key and secret for an access token. All failures have the same answer and cost the same work.

use std::sync::Arc;

use base::limits::AGENT_TOKEN_TTL_MS;
use base::secret::{SecretHash, mint};
use base::{AgentId, EventKind, OrgId, RequestId, ScopeSet, Timestamp, TokenId};
use store::params;

use super::sql;
use crate::audit::{By, Event};
use crate::failures::Attempts;
use crate::guard::Guard;
use crate::refusal::Refusal;

const TOKEN_PREFIX: &str = "agt_live_";

/// A new access token.
#[derive(Debug)]
pub struct Token {
    /// The secret.
    pub access_token: String,
    /// When it expires.
    pub expires_at: Timestamp,
    /// The agent's org.
    pub org: OrgId,
    /// The agent's current scopes.
    pub scopes: ScopeSet,
}

impl Guard {
    /// Authenticates an agent that connects from `address`.
    pub async fn authenticate(
        &self,
        agent_key: &str,
        agent_secret: &str,
        address: &str,
        request: RequestId,
    ) -> Result<Token, Refusal> {
        // The name comes from the caller, so it is hashed: a long one needs no more memory than a short one.
        let max = self.limits.login_failures_per_minute;
        let names = [format!("agent:{}", SecretHash::of(agent_key).hex()), format!("address:{address}")];
        let names = names.map(|name| Attempts { name, max });
        self.failures.check(&names)?;
        let presented = SecretHash::of(agent_secret);
        let found = self
            .store
            .first(sql::BY_AGENT_KEY, &params![agent_key], |row| {
                let agent = (OrgId::from_row(row.text("org_id")?), AgentId::from_row(row.text("id")?));
                Ok((
                    agent,
                    row.get::<String>("secret_hash")?,
                    row.get::<bool>("disabled")?,
                    row.get::<Option<i64>>("calls_per_minute")?,
                ))
            })
            .await?;
        let stored = found.as_ref().map_or_else(|| SecretHash::of("").hex(), |(_, hash, ..)| hash.clone());
        let right = presented.matches(&stored);
        match found {
            Some(((org, agent), _, false, per_minute)) if right => {
                // Many agents may start at the same time from one address, so only failures count. Concurrent guesses are handled as if one
                // after another. After the last allowed failure, right and wrong secrets look the same.
                self.failures.check(&names)?;
                // Each token is a row and an audit entry, so the agent's rate limit applies.
                self.rates.allowance(&org, agent.as_str(), self.agent_rate(per_minute)).take(1).await?;
                self.issue_token(org, agent, presented, request).await?.ok_or(Refusal::Unauthorized)
            }
            _ => {
                self.failures.attempt(&names)?;
                Err(Refusal::Unauthorized)
            }
        }
    }

    /// `None` if the agent was rotated or disabled in the meantime.
    async fn issue_token(
        &self,
        org: OrgId,
        agent: AgentId,
        secret: SecretHash,
        request: RequestId,
    ) -> Result<Option<Token>, Refusal> {
        let now = self.clock.now();
        let expires_at = now.plus_ms(AGENT_TOKEN_TTL_MS);
        let access_token = mint(TOKEN_PREFIX);
        let (hash, ledger) = (SecretHash::of(&access_token).hex(), Arc::clone(&self.ledger));
        let scopes = self
            .own_change(&org)
            .write(move |tx| {
                let scopes = tx.first(sql::STILL_ENABLED, &params![agent, secret.hex()], |row| {
                    Ok(ScopeSet::from_row(row.text("scopes")?))
                })?;
                if scopes.is_some() {
                    tx.execute(sql::DELETE_EXPIRED_TOKENS, &params![agent, now])?;
                    let token = TokenId::new(now);
                    tx.execute(sql::INSERT_TOKEN, &params![token, agent, hash, now, expires_at])?;
                    let event = Event::new(EventKind::AgentAuthenticated, "agent", agent).with("tokenId", token.as_str());
                    ledger.write(tx, &By::agent(&agent, request), event)?;
                }
                Ok(scopes)
            })
            .await?;
        Ok(scopes.map(|scopes| Token { access_token, expires_at, org, scopes }))
    }
}
