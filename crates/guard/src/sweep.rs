//! Cleans up expired credentials some time after they expired. Sessions are kept, because other rows refer to them.

use base::limits::{DEAD_SESSION_KEYS_KEPT_MS, SWEEP_ROWS_MAX, TASKS_KEPT_MS};
use base::{OrgId, PageRequest, Result, Timestamp, limits};
use store::params;

use crate::guard::Guard;
use crate::{agents, hooks, keys, users};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// The start of the day (UTC) of a time. Only whole days are pruned, because each pruning writes an audit entry.
fn start_of_day(time: Timestamp) -> Timestamp {
    Timestamp::from_ms(time.ms().div_euclid(DAY_MS).saturating_mul(DAY_MS))
}

/// The number of removed rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Keys of sessions that ended or expired long ago.
    pub session_keys: u64,
    /// Expired access tokens of agents.
    pub agent_tokens: u64,
    /// Expired console logins.
    pub logins: u64,
    /// Tasks of calls that ended long ago.
    pub tasks: u64,
    /// Audit entries beyond their retention time.
    pub audit_entries: u64,
}

impl Swept {
    /// Whether nothing was removed.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// One kind of row to clean up: how to check whether an org has any, and how to remove some.
struct Kind {
    any: &'static str,
    delete: &'static str,
    dead_since: Timestamp,
}

impl Guard {
    /// Removes expired credentials of all orgs, in bounded transactions. Several nodes on one database may do this: each removes what the
    /// others have left. Audit trails are pruned only if `audit_keep_days` is set.
    pub async fn sweep(&self, audit_keep_days: Option<u32>) -> Result<Swept> {
        let now = self.clock.now();
        let session_keys = Kind {
            any: keys::sql::ANY_DEAD_SESSION_KEY,
            delete: keys::sql::DELETE_DEAD_SESSION_KEYS,
            dead_since: now.plus_ms(-DEAD_SESSION_KEYS_KEPT_MS),
        };
        let agent_tokens =
            Kind { any: agents::sql::ANY_EXPIRED_TOKEN, delete: agents::sql::DELETE_SOME_EXPIRED_TOKENS, dead_since: now };
        let logins = Kind { any: users::sql::ANY_EXPIRED_LOGIN, delete: users::sql::DELETE_SOME_EXPIRED_LOGINS, dead_since: now };
        let tasks = Kind {
            any: hooks::sql::ANY_OLD_TASK,
            delete: hooks::sql::DELETE_SOME_OLD_TASKS,
            dead_since: now.plus_ms(-TASKS_KEPT_MS),
        };
        let (mut page, mut swept) = (PageRequest { rows: limits::PAGE_ROWS_MAX, after: None }, Swept::default());
        self.rates.forget_full().await?;
        // A node of an older release may have created orgs since the start.
        self.give_starters().await?;
        loop {
            let orgs = self.orgs().list(&page).await?;
            for org in &orgs.items {
                swept.session_keys += self.sweep_org(&org.id, &session_keys).await?;
                swept.agent_tokens += self.sweep_org(&org.id, &agent_tokens).await?;
                swept.logins += self.sweep_org(&org.id, &logins).await?;
                swept.tasks += self.sweep_org(&org.id, &tasks).await?;
                if let Some(before) = audit_keep_days.map(|days| start_of_day(now.plus_ms(-i64::from(days) * DAY_MS))) {
                    swept.audit_entries += self.prune_org(&org.id, before).await?;
                }
            }
            match orgs.next {
                Some(next) => page.after = Some(next),
                None => return Ok(swept),
            }
        }
    }

    async fn sweep_org(&self, org: &OrgId, kind: &Kind) -> Result<u64> {
        let (change, delete, since) = (self.upkeep(org), kind.delete, kind.dead_since);
        let mut removed = 0;
        // Checked first, because a write costs a commit even if it finds nothing, and most orgs have nothing to remove.
        while change.first(kind.any, &params![since], |_| Ok(())).await?.is_some() {
            let some = change.write(move |tx| tx.execute(delete, &params![since, SWEEP_ROWS_MAX])).await?;
            // Another node was faster.
            if some == 0 {
                break;
            }
            removed += some;
        }
        Ok(removed)
    }
}
