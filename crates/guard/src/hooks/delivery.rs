//! What the relay needs to deliver events to a webhook: its lease, its place in the trail, and how a delivery went.

use base::{Error, OrgId, Result, Timestamp, WebhookId, limits};
use store::{Row, params};

use super::happened::{self, Happened};
use super::sql;
use super::webhooks::{events_from_row, open_secret};
use crate::guard::Guard;

/// A webhook that has something to deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueWebhook {
    /// Which.
    pub id: WebhookId,
    /// Not before.
    pub next_try_at: Timestamp,
}

/// A webhook that this node may serve for a while, and the next events of its org.
#[derive(Clone, Debug)]
pub struct Outbox {
    /// The tenant.
    pub org: OrgId,
    /// Which webhook.
    pub id: WebhookId,
    /// Where it is.
    pub url: String,
    /// Event types that it wants.
    pub events: Vec<String>,
    /// What deliveries are signed with.
    pub secret: String,
    /// The last event that is done with.
    pub sequence: i64,
    /// How many messages of the next event have arrived.
    pub part: i64,
    /// Failed deliveries of the next message.
    pub tries: u32,
    /// Not before.
    pub next_try_at: Timestamp,
    /// The events after `sequence`.
    pub batch: Vec<Happened>,
}

/// How far a webhook has come, to be written down.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// The last event that is done with.
    pub sequence: i64,
    /// How many messages of the event after it have arrived.
    pub part: i64,
    /// Failed deliveries of the next message.
    pub tries: u32,
    /// When the next delivery may be tried; at once when there is nothing to wait for.
    pub next_try_at: Option<Timestamp>,
    /// Whether the receiver has taken something.
    pub arrived: bool,
    /// What the receiver, or the way to it, said instead.
    pub error: Option<String>,
    /// A message that is given up: its event's place, its own among the event's messages, and its type.
    pub dead: Option<(i64, i64, String)>,
    /// Whether this node is done with the webhook for now.
    pub release: bool,
}

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It is written down.
    Kept,
    /// Another node serves the webhook by now, or it is gone: what was delivered may be delivered again.
    Lost,
}

impl Guard {
    /// The org's webhooks that have something to deliver, now or later.
    pub async fn due_webhooks(&self, org: &OrgId) -> Result<Vec<DueWebhook>> {
        let due = |row: &Row<'_>| Ok(DueWebhook { id: WebhookId::from_row(row.text(0)?), next_try_at: row.get(1)? });
        self.rows_of(org).query(sql::DUE_WEBHOOKS, &[], due).await
    }

    /// Takes a webhook for this node. None when another node has it, or it is disabled or gone.
    pub async fn take_webhook(&self, org: &OrgId, id: &WebhookId, node: &str) -> Result<Option<Outbox>> {
        let (rows, now) = (self.rows_of(org), self.clock.now());
        let (id, org, node) = (*id, *org, node.to_owned());
        let until = now.plus_ms(limits::HOOK_LEASE_MS);
        let vault = self.ledger.vault.clone();
        let taken = rows.note(move |tx| {
            if tx.execute(sql::LEASE, &params![id, node, until, now])? == 0 {
                return Ok(None);
            }
            let outbox = tx.first(sql::OUTBOX, &params![id], |row| {
                Ok(Outbox {
                    org,
                    id,
                    url: row.get(0)?,
                    events: events_from_row(row.text(1)?)?,
                    secret: open_secret(&vault, &org, &id, row.text(2)?)?,
                    part: row.get(3)?,
                    tries: u32::try_from(row.get::<i64>(4)?).unwrap_or(u32::MAX),
                    next_try_at: row.get(5)?,
                    sequence: row.get(6)?,
                    batch: Vec::new(),
                })
            })?;
            Ok(outbox)
        });
        let Some(mut outbox) = taken.await? else {
            return Ok(None);
        };
        outbox.batch = happened::after(&rows, outbox.sequence).await?;
        Ok(Some(outbox))
    }

    /// Writes down how far a webhook of this node has come, and keeps or gives back its lease.
    pub async fn settle_webhook(&self, org: &OrgId, id: &WebhookId, node: &str, step: Step) -> Result<Settled> {
        let (now, id, node) = (self.clock.now(), *id, node.to_owned());
        let until = now.plus_ms(limits::HOOK_LEASE_MS);
        let written = self.rows_of(org).note(move |tx| {
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
