//! The relay's access to webhooks: leases, positions in the trail, and delivery results.

use base::{Error, OrgId, Result, Timestamp, WebhookId, limits};
use store::{Row, params};

use super::happened::{self, Happened};
use super::sql;
use super::webhooks::{events_from_row, open_secret};
use crate::guard::Guard;

/// A webhook with something to deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueWebhook {
    /// Its id.
    pub id: WebhookId,
    /// The earliest time of the next delivery.
    pub next_try_at: Timestamp,
}

/// A webhook that this node has leased, with the next events of its org.
#[derive(Clone, Debug)]
pub struct Outbox {
    /// The tenant.
    pub org: OrgId,
    /// The webhook's id.
    pub id: WebhookId,
    /// Its URL.
    pub url: String,
    /// The event types it subscribes to.
    pub events: Vec<String>,
    /// The secret that signs deliveries.
    pub secret: String,
    /// The last finished event.
    pub sequence: i64,
    /// How many messages of the next event are finished.
    pub part: i64,
    /// Failed attempts to deliver the next message.
    pub tries: u32,
    /// The earliest time of the next delivery.
    pub next_try_at: Timestamp,
    /// The events after `sequence`.
    pub batch: Vec<Happened>,
}

/// A webhook's new position.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// The last finished event.
    pub sequence: i64,
    /// How many messages of the next event are finished.
    pub part: i64,
    /// Failed attempts to deliver the next message.
    pub tries: u32,
    /// The earliest time of the next delivery. `None` means at once.
    pub next_try_at: Option<Timestamp>,
    /// Whether a message was delivered.
    pub arrived: bool,
    /// The failure, if any.
    pub error: Option<String>,
    /// A dead letter: the event's sequence number, the message's index, and its type.
    pub dead: Option<(i64, i64, String)>,
    /// Whether to release the lease.
    pub release: bool,
}

/// The result of storing a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It is stored.
    Kept,
    /// Another node has leased the webhook, or it was removed. Messages may be delivered twice.
    Lost,
}

impl Guard {
    /// The org's webhooks with something to deliver, now or later.
    pub async fn due_webhooks(&self, org: &OrgId) -> Result<Vec<DueWebhook>> {
        let due =
            |row: &Row<'_>| Ok(DueWebhook { id: WebhookId::from_row(row.text("id")?), next_try_at: row.get("next_try_at")? });
        self.rows_of(org).query(sql::DUE_WEBHOOKS, &[], due).await
    }

    /// Leases a webhook for this node. `None` if another node has it, or if it is disabled or removed.
    pub async fn take_webhook(&self, org: &OrgId, id: &WebhookId, node: &str) -> Result<Option<Outbox>> {
        let (change, now) = (self.upkeep(org), self.clock.now());
        let (id, org, node) = (*id, *org, node.to_owned());
        let until = now.plus_ms(limits::HOOK_LEASE_MS);
        let vault = self.ledger.vault.clone();
        let taken = change.note(move |tx| {
            if tx.execute(sql::LEASE, &params![id, node, until, now])? == 0 {
                return Ok(None);
            }
            let outbox = tx.first(sql::OUTBOX, &params![id], |row| {
                Ok(Outbox {
                    org,
                    id,
                    url: row.get("url")?,
                    events: events_from_row(row.text("events")?)?,
                    secret: open_secret(&vault, &org, &id, row.text("sealed_secret")?)?,
                    part: row.get("part")?,
                    tries: u32::try_from(row.get::<i64>("tries")?).unwrap_or(u32::MAX),
                    next_try_at: row.get("next_try_at")?,
                    sequence: row.get("sequence")?,
                    batch: Vec::new(),
                })
            })?;
            Ok(outbox)
        });
        let Some(mut outbox) = taken.await? else {
            return Ok(None);
        };
        outbox.batch = happened::after(change.as_ref(), outbox.sequence).await?;
        Ok(Some(outbox))
    }

    /// Stores the position of a leased webhook, and keeps or releases the lease.
    pub async fn settle_webhook(&self, org: &OrgId, id: &WebhookId, node: &str, step: Step) -> Result<Settled> {
        let (now, id, node) = (self.clock.now(), *id, node.to_owned());
        let until = now.plus_ms(limits::HOOK_LEASE_MS);
        let written = self.upkeep(org).note(move |tx| {
            let holder = (!step.release).then_some(node.as_str());
            if tx.execute(sql::MOVE_LEASED, &params![id, node, step.sequence, holder, until])? == 0 {
                return Ok(Settled::Lost);
            }
            let next = step.next_try_at.unwrap_or(Timestamp::from_ms(0));
            let (arrived, failed) = (step.arrived.then_some(now), step.error.is_some().then_some(now));
            tx.execute(sql::SETTLE_WEBHOOK, &params![id, step.part, step.tries, next, arrived, step.error, failed])?;
            if let Some((sequence, part, message_type)) = &step.dead {
                let error = step.error.as_deref().unwrap_or_default();
                tx.execute(sql::INSERT_DEAD_LETTER, &params![id, sequence, part, message_type, error, now])?;
            }
            Ok::<_, Error>(Settled::Kept)
        });
        written.await
    }
}
