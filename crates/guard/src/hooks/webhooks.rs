//! Webhooks of an org. The signing secret is shown once and encrypted at rest.

use base::limits::{WEBHOOK_EVENTS_MAX, WEBHOOKS_MAX};
use base::secret::mint;
use base::{Cursor, Error, EventKind, Kind, OrgId, Page, PageRequest, Result, Timestamp, WebhookId};
use store::{OrgTx, Row, params};

use super::happened::{self, Happened};
use super::phase::{SUBSCRIBABLE, is_subscribable};
use super::sql;
use crate::access::Access;
use crate::audit::{self, Event};
use crate::change;
use crate::guard::Guard;
use crate::tenants::start_of;
use crate::vault::Vault;

/// The prefix of signing secrets, which receivers' libraries expect.
const SECRET_PREFIX: &str = "whsec_";

/// A webhook, without its secret.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// Where events are sent.
    pub url: String,
    /// Its subscriptions: phases, event types, and families of event types (`policy.*`).
    pub events: Vec<String>,
    /// Whether it is disabled.
    pub disabled: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A webhook's health.
#[derive(Clone, Debug)]
pub struct WebhookHealth {
    /// When the last message was delivered.
    pub last_success_at: Option<Timestamp>,
    /// The last failure.
    pub last_error: Option<String>,
    /// When that failure happened.
    pub last_error_at: Option<Timestamp>,
    /// Failed attempts to deliver the next message.
    pub tries: u32,
    /// When it is retried, after a failure.
    pub next_try_at: Option<Timestamp>,
    /// Events of the org that it has not processed yet.
    pub lag: i64,
    /// The number of dead letters.
    pub dead_letters: i64,
}

/// A webhook with its secret.
#[derive(Clone, Debug)]
pub struct WebhookSecret {
    /// The webhook.
    pub webhook: Webhook,
    /// The secret that signs deliveries.
    pub secret: String,
}

/// A message that could not be delivered.
#[derive(Clone, Debug)]
pub struct DeadLetter {
    /// The event's sequence number in the trail.
    pub sequence: i64,
    /// The message's index among those of the event.
    pub part: i64,
    /// The message's type.
    pub message_type: String,
    /// The last failure.
    pub error: String,
    /// When that failure happened.
    pub failed_at: Timestamp,
}

/// A webhook to create. The caller has checked the URL.
#[derive(Clone, Debug)]
pub struct NewWebhook {
    /// Where events are sent.
    pub url: String,
    /// Its subscriptions.
    pub events: Vec<String>,
}

/// A change of a webhook. `None` keeps the current value.
#[derive(Clone, Debug, Default)]
pub struct WebhookChange {
    /// Where events are sent.
    pub url: Option<String>,
    /// Its subscriptions.
    pub events: Option<Vec<String>>,
    /// Whether it is disabled.
    pub disabled: Option<bool>,
}

impl Webhook {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: WebhookId::from_row(row.text("id")?),
            url: row.get("url")?,
            events: events_from_row(row.text("events")?)?,
            disabled: row.get("disabled")?,
            created_at: row.get("created_at")?,
            updated_at: row.get("updated_at")?,
        })
    }

    /// The scheme and host of its URL. The rest may contain the receiver's secret.
    pub fn origin(&self) -> String {
        origin_of(&self.url)
    }

    /// The audit event. It omits the path and query of the URL, which may contain the receiver's secret.
    fn event(&self, kind: EventKind) -> Event {
        Event::new(kind, "webhook", self.id)
            .with("origin", origin_of(&self.url))
            .with("events", self.events.clone())
            .with("disabled", self.disabled)
    }
}

/// The org's webhooks, for a management call.
pub struct Webhooks<'a> {
    access: &'a Access,
}

impl Guard {
    /// The webhooks of the caller's org. They cover every project, so a key limited to some projects may not manage them.
    pub fn webhooks<'a>(&self, access: &'a Access) -> Result<Webhooks<'a>> {
        access.require_reach(None)?;
        Ok(Webhooks { access })
    }
}

impl Webhooks<'_> {
    /// Creates a webhook. It receives events from now on.
    pub async fn create(&self, new: NewWebhook) -> Result<WebhookSecret> {
        let (now, secret) = (self.access.clock.now(), mint(SECRET_PREFIX));
        let webhook = Webhook {
            id: WebhookId::new(now),
            url: new.url,
            events: checked_events(new.events)?,
            disabled: false,
            created_at: now,
            updated_at: now,
        };
        let sealed = self.seal(&webhook.id, &secret)?;
        let (row, access) = (webhook.clone(), self.access.clone());
        let write = self.access.write(move |tx| {
            let there = tx.first(sql::COUNT_WEBHOOKS, &[], |row| row.get::<i64>("count"))?.unwrap_or(0);
            if usize::try_from(there).unwrap_or(usize::MAX) >= WEBHOOKS_MAX {
                return Err(Error::new(
                    Kind::Conflict,
                    format!("an org may have at most {WEBHOOKS_MAX} webhooks; delete one first"),
                ));
            }
            tx.execute(sql::INSERT_WEBHOOK, &params![row.id, row.url, events_to_row(&row.events)?, sealed, now])?;
            access.record(tx, row.event(EventKind::WebhookAdded))?;
            start_at_the_end(tx, &row.id)
        });
        write.await?;
        Ok(WebhookSecret { webhook, secret })
    }

    /// Lists the webhooks, newest first.
    pub async fn list(&self, page: &PageRequest) -> Result<Page<Webhook>> {
        let start = start_of(page);
        let params = params![start.created_at, start.id, start.rows];
        let rows = self.access.rows.query(sql::LIST_WEBHOOKS, &params, Webhook::from_row).await?;
        Ok(Page::from_rows(rows, page.rows, |webhook| Cursor { created_at: webhook.created_at, id: webhook.id.to_string() }))
    }

    /// Returns one webhook with its health.
    pub async fn get(&self, id: &WebhookId) -> Result<Option<(Webhook, WebhookHealth)>> {
        let rows = &self.access.rows;
        let Some(webhook) = rows.first(sql::WEBHOOK, &params![id], Webhook::from_row).await? else {
            return Ok(None);
        };
        let newest = happened::newest(rows).await?;
        let health = |row: &Row<'_>| {
            let tries = u32::try_from(row.get::<i64>("tries")?).unwrap_or(u32::MAX);
            Ok(WebhookHealth {
                last_success_at: row.get("last_success_at")?,
                last_error: row.get("last_error")?,
                last_error_at: row.get("last_error_at")?,
                tries,
                next_try_at: if tries > 0 { Some(row.get("next_try_at")?) } else { None },
                lag: newest.saturating_sub(row.get("sequence")?).max(0),
                dead_letters: row.get("dead_letters")?,
            })
        };
        let health = rows.first(sql::WEBHOOK_HEALTH, &params![id], health).await?;
        Ok(health.map(|health| (webhook, health)))
    }

    /// Changes a webhook. Events from while it was disabled are not sent later.
    pub async fn change(&self, id: &WebhookId, change: WebhookChange) -> Result<Option<Webhook>> {
        let events = change.events.map(checked_events).transpose()?;
        let (id, now, access) = (*id, self.access.clock.now(), self.access.clone());
        let write = self.access.write(move |tx| {
            let Some(mut webhook) = tx.first(sql::WEBHOOK, &params![id], Webhook::from_row)? else {
                return Ok(None);
            };
            let wakes = webhook.disabled && change.disabled == Some(false);
            if let Some(url) = &change.url {
                webhook.url.clone_from(url);
            }
            if let Some(events) = &events {
                webhook.events.clone_from(events);
            }
            webhook.disabled = change.disabled.unwrap_or(webhook.disabled);
            webhook.updated_at = now;
            let events = events_to_row(&webhook.events)?;
            tx.execute(sql::UPDATE_WEBHOOK, &params![id, webhook.url, events, webhook.disabled, now])?;
            tx.execute(sql::REVOKE_LEASE, &params![id])?;
            access.record(tx, webhook.event(EventKind::WebhookChanged))?;
            if wakes {
                start_at_the_end(tx, &id)?;
            }
            Ok(Some(webhook))
        });
        write.await
    }

    /// Rotates a webhook's secret. The next delivery is signed with the new one.
    pub async fn rotate(&self, id: &WebhookId) -> Result<Option<WebhookSecret>> {
        let (secret, now) = (mint(SECRET_PREFIX), self.access.clock.now());
        let sealed = self.seal(id, &secret)?;
        let (id, access) = (*id, self.access.clone());
        let write = self.access.write(move |tx| {
            if tx.execute(sql::ROTATE_WEBHOOK, &params![id, sealed, now])? == 0 {
                return Ok(None);
            }
            tx.execute(sql::REVOKE_LEASE, &params![id])?;
            access.record(tx, Event::new(EventKind::WebhookRotated, "webhook", id))?;
            tx.first(sql::WEBHOOK, &params![id], Webhook::from_row)
        });
        Ok(write.await?.map(|webhook| WebhookSecret { webhook, secret }))
    }

    /// Removes a webhook and its dead letters.
    pub async fn delete(&self, id: &WebhookId) -> Result<bool> {
        let (id, access) = (*id, self.access.clone());
        let write = self.access.write(move |tx| {
            if tx.execute(sql::DELETE_WEBHOOK, &params![id])? == 0 {
                return Ok(false);
            }
            tx.execute(sql::DELETE_CURSOR, &params![id])?;
            tx.execute(sql::DELETE_DEAD_LETTERS, &params![id])?;
            access.record(tx, Event::new(EventKind::WebhookRemoved, "webhook", id))?;
            Ok(true)
        });
        write.await
    }

    /// A page of dead letters, newest first. `None` if there is no such webhook.
    pub async fn dead_letters(&self, id: &WebhookId, page: &PageRequest) -> Result<Option<Page<DeadLetter>>> {
        let rows = &self.access.rows;
        if rows.first(sql::WEBHOOK, &params![id], |_| Ok(())).await?.is_none() {
            return Ok(None);
        }
        // There is nothing older than a position before the first letter.
        let place = |id: &str| id.split_once('_').and_then(|(sequence, part)| Some((sequence.parse().ok()?, part.parse().ok()?)));
        let (sequence, part): (i64, i64) =
            page.after.as_ref().map_or((i64::MAX, 0), |cursor| place(&cursor.id).unwrap_or_default());
        let letter = |row: &Row<'_>| {
            Ok(DeadLetter {
                sequence: row.get("sequence")?,
                part: row.get("part")?,
                message_type: row.get("message_type")?,
                error: row.get("error")?,
                failed_at: row.get("failed_at")?,
            })
        };
        let letters = rows.query(sql::DEAD_LETTERS, &params![id, sequence, part, page.rows.saturating_add(1)], letter).await?;
        let cursor_of =
            |letter: &DeadLetter| Cursor { created_at: letter.failed_at, id: format!("{}_{}", letter.sequence, letter.part) };
        Ok(Some(Page::from_rows(letters, page.rows, cursor_of)))
    }

    /// The data to send an event again: the webhook, its secret, the event, and the types of its dead letters. The redelivery is audited
    /// first.
    pub async fn again(&self, id: &WebhookId, sequence: i64) -> Result<Option<(NewWebhook, String, Happened, Vec<String>)>> {
        let (rows, org, vault) = (&self.access.rows, *self.access.org(), &self.access.ledger.vault);
        let address = |row: &Row<'_>| {
            let webhook = NewWebhook { url: row.get("url")?, events: events_from_row(row.text("events")?)? };
            Ok((webhook, open_secret(vault, &org, id, row.text("sealed_secret")?)?))
        };
        let Some((webhook, secret)) = rows.first(sql::ADDRESS, &params![id], address).await? else {
            return Ok(None);
        };
        let Some(event) = happened::at(rows, sequence).await? else {
            return Ok(None);
        };
        let dead = rows.query(sql::DEAD_LETTERS_AT, &params![id, sequence], |row| row.get::<String>("message_type")).await?;
        let wanted = Event::new(EventKind::WebhookRedelivered, "webhook", id).with("sequence", sequence);
        self.access.ledger.note(rows, &self.access.by(), wanted)?.await?;
        Ok(Some((webhook, secret, event, dead)))
    }

    /// Removes a dead letter that was delivered.
    pub async fn revived(&self, id: &WebhookId, sequence: i64, message_type: &str) -> Result<()> {
        let (id, message_type) = (*id, message_type.to_owned());
        let delete = move |tx: &mut OrgTx<'_, '_>| tx.execute(sql::DELETE_DEAD_LETTER, &params![id, sequence, message_type]);
        change::upkeep(&self.access.rows).write(delete).await.map(drop)
    }

    fn seal(&self, id: &WebhookId, secret: &str) -> Result<String> {
        self.access.ledger.vault.seal(&place_of(self.access.org(), id), secret.as_bytes())
    }
}

/// Sets a webhook's cursor to the end of the trail.
fn start_at_the_end(tx: &mut OrgTx<'_, '_>, id: &WebhookId) -> Result<()> {
    let newest = tx.first(audit::sql::LAST, &[], |row| row.get::<i64>("sequence"))?.unwrap_or(0);
    tx.execute(sql::SET_CURSOR, &params![id, newest]).map(drop)
}

fn place_of(org: &OrgId, id: &WebhookId) -> String {
    format!("webhooks/{org}/{id}")
}

pub(super) fn open_secret(vault: &Vault, org: &OrgId, id: &WebhookId, sealed: &str) -> Result<String> {
    String::from_utf8(vault.open(&place_of(org, id), sealed)?).map_err(Error::internal)
}

fn checked_events(events: Vec<String>) -> Result<Vec<String>> {
    if events.is_empty() || events.len() > WEBHOOK_EVENTS_MAX {
        return Err(Error::new(Kind::InvalidParams, format!("a webhook must have 1 to {WEBHOOK_EVENTS_MAX} events")));
    }
    match events.iter().find(|event| !is_subscribable(event)) {
        None => Ok(events),
        Some(unknown) => Err(Error::new(Kind::InvalidParams, format!("there is no event `{unknown}`; {SUBSCRIBABLE}"))),
    }
}

fn events_to_row(events: &[String]) -> Result<String> {
    serde_json::to_string(events).map_err(Error::internal)
}

pub(super) fn events_from_row(text: &str) -> Result<Vec<String>> {
    serde_json::from_str(text).map_err(Error::internal)
}

/// The scheme and host of a URL.
fn origin_of(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    format!("{scheme}://{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audit_entry_omits_the_path() {
        assert_eq!(origin_of("https://hooks.example:8443/T0/secret?k=v"), "https://hooks.example:8443");
        assert_eq!(origin_of("http://h?secret"), "http://h");
    }
}
