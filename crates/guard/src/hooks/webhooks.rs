//! Webhooks of an org: where its events are sent. The signing secret is shown once and encrypted at rest.

use base::limits::{WEBHOOK_EVENTS_MAX, WEBHOOKS_MAX};
use base::secret::mint;
use base::{Cursor, Error, Kind, OrgId, Page, PageRequest, Result, Timestamp, WebhookId};
use store::{OrgTx, Row, params};

use super::happened::{self, Happened};
use super::sql;
use crate::access::Access;
use crate::audit::{self, Event};
use crate::guard::Guard;
use crate::tenants::start_of;
use crate::vault::Vault;

/// What receivers' libraries know a signing secret by.
const SECRET_PREFIX: &str = "whsec_";

/// A webhook, without its secret.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// Where events are sent.
    pub url: String,
    /// Which: phases, event types, and families of them (`policy.*`).
    pub events: Vec<String>,
    /// Whether nothing is sent.
    pub disabled: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// How a webhook does.
#[derive(Clone, Debug)]
pub struct WebhookHealth {
    /// When the receiver last took something.
    pub last_success_at: Option<Timestamp>,
    /// What went wrong last.
    pub last_error: Option<String>,
    /// When that was.
    pub last_error_at: Option<Timestamp>,
    /// Failed deliveries of the message that is next.
    pub tries: u32,
    /// When it is tried again, if it has failed.
    pub next_try_at: Option<Timestamp>,
    /// Events of the org that it has not got past.
    pub lag: i64,
    /// Messages that were given up.
    pub dead_letters: i64,
}

/// A webhook at a moment when its secret is known.
#[derive(Clone, Debug)]
pub struct WebhookSecret {
    /// The webhook.
    pub webhook: Webhook,
    /// What deliveries are signed with.
    pub secret: String,
}

/// A message that was given up.
#[derive(Clone, Debug)]
pub struct DeadLetter {
    /// The event's place in the trail.
    pub sequence: i64,
    /// The message's place among those of the event.
    pub part: i64,
    /// The message's type.
    pub message_type: String,
    /// What went wrong the last time.
    pub error: String,
    /// When that was.
    pub failed_at: Timestamp,
}

/// A webhook to be made. Whoever asks has checked the url.
#[derive(Clone, Debug)]
pub struct NewWebhook {
    /// Where events are sent.
    pub url: String,
    /// Which.
    pub events: Vec<String>,
}

/// What is to change; what is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct WebhookChange {
    /// Where events are sent.
    pub url: Option<String>,
    /// Which.
    pub events: Option<Vec<String>>,
    /// Whether nothing is sent.
    pub disabled: Option<bool>,
}

impl Webhook {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: WebhookId::from_row(row.text(0)?),
            url: row.get(1)?,
            events: events_from_row(row.text(2)?)?,
            disabled: row.get(3)?,
            created_at: row.get(4)?,
            updated_at: row.get(5)?,
        })
    }

    /// Scheme and host of its address. The rest of it may hold a secret of the receiver's.
    pub fn origin(&self) -> String {
        origin_of(&self.url)
    }

    /// What the record says of it. The path and query of an address may hold a secret of the receiver's.
    fn event(&self, event_type: &'static str) -> Event {
        Event::new(event_type, "webhook", self.id)
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
    /// The webhooks of the org that `access` was let into. They tell of every project, so a key for some has no say in them.
    pub fn webhooks<'a>(&self, access: &'a Access) -> Result<Webhooks<'a>> {
        access.require_reach(None)?;
        Ok(Webhooks { access })
    }
}

impl Webhooks<'_> {
    /// Makes a webhook. It gets what happens from now on.
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
            let there = tx.first(sql::COUNT_WEBHOOKS, &[], |row| row.get::<i64>(0))?.unwrap_or(0);
            if usize::try_from(there).unwrap_or(usize::MAX) >= WEBHOOKS_MAX {
                return Err(Error::new(Kind::Conflict, format!("an org has at most {WEBHOOKS_MAX} webhooks")));
            }
            tx.execute(sql::INSERT_WEBHOOK, &params![row.id, row.url, events_to_row(&row.events)?, sealed, now])?;
            access.record(tx, row.event("webhook.added"))?;
            start_at_the_end(tx, &row.id)
        });
        write.await?;
        Ok(WebhookSecret { webhook, secret })
    }

    /// All of them, newest first.
    pub async fn list(&self, page: &PageRequest) -> Result<Page<Webhook>> {
        let start = start_of(page);
        let params = params![start.created_at, start.id, start.rows];
        let rows = self.access.rows.query(sql::LIST_WEBHOOKS, &params, Webhook::from_row).await?;
        Ok(Page::from_rows(rows, page.rows, |webhook| Cursor { created_at: webhook.created_at, id: webhook.id.to_string() }))
    }

    /// One of them, and how it does.
    pub async fn get(&self, id: &WebhookId) -> Result<Option<(Webhook, WebhookHealth)>> {
        let rows = &self.access.rows;
        let Some(webhook) = rows.first(sql::WEBHOOK, &params![id], Webhook::from_row).await? else {
            return Ok(None);
        };
        let newest = happened::newest(rows).await?;
        let health = |row: &Row<'_>| {
            let tries = u32::try_from(row.get::<i64>(3)?).unwrap_or(u32::MAX);
            Ok(WebhookHealth {
                last_success_at: row.get(0)?,
                last_error: row.get(1)?,
                last_error_at: row.get(2)?,
                tries,
                next_try_at: if tries > 0 { Some(row.get(4)?) } else { None },
                lag: newest.saturating_sub(row.get(5)?).max(0),
                dead_letters: row.get(6)?,
            })
        };
        let health = rows.first(sql::WEBHOOK_HEALTH, &params![id], health).await?;
        Ok(health.map(|health| (webhook, health)))
    }

    /// Changes a webhook. What happened while it was disabled is not sent when it is enabled again.
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
            access.record(tx, webhook.event("webhook.changed"))?;
            if wakes {
                start_at_the_end(tx, &id)?;
            }
            Ok(Some(webhook))
        });
        write.await
    }

    /// Gives a webhook a new secret; the next delivery is signed with it.
    pub async fn rotate(&self, id: &WebhookId) -> Result<Option<WebhookSecret>> {
        let (secret, now) = (mint(SECRET_PREFIX), self.access.clock.now());
        let sealed = self.seal(id, &secret)?;
        let (id, access) = (*id, self.access.clone());
        let write = self.access.write(move |tx| {
            if tx.execute(sql::ROTATE_WEBHOOK, &params![id, sealed, now])? == 0 {
                return Ok(None);
            }
            tx.execute(sql::REVOKE_LEASE, &params![id])?;
            access.record(tx, Event::new("webhook.rotated", "webhook", id))?;
            tx.first(sql::WEBHOOK, &params![id], Webhook::from_row)
        });
        Ok(write.await?.map(|webhook| WebhookSecret { webhook, secret }))
    }

    /// Removes a webhook and what it could not deliver.
    pub async fn delete(&self, id: &WebhookId) -> Result<bool> {
        let (id, access) = (*id, self.access.clone());
        let write = self.access.write(move |tx| {
            if tx.execute(sql::DELETE_WEBHOOK, &params![id])? == 0 {
                return Ok(false);
            }
            tx.execute(sql::DELETE_CURSOR, &params![id])?;
            tx.execute(sql::DELETE_DEAD_LETTERS, &params![id])?;
            access.record(tx, Event::new("webhook.removed", "webhook", id))?;
            Ok(true)
        });
        write.await
    }

    /// A page of what was given up, newest first. None when there is no such webhook.
    pub async fn dead_letters(&self, id: &WebhookId, page: &PageRequest) -> Result<Option<Page<DeadLetter>>> {
        let rows = &self.access.rows;
        if rows.first(sql::WEBHOOK, &params![id], |_| Ok(())).await?.is_none() {
            return Ok(None);
        }
        // A place that no letter ever had has nothing older.
        let place = |id: &str| id.split_once('_').and_then(|(sequence, part)| Some((sequence.parse().ok()?, part.parse().ok()?)));
        let (sequence, part): (i64, i64) =
            page.after.as_ref().map_or((i64::MAX, 0), |cursor| place(&cursor.id).unwrap_or_default());
        let letter = |row: &Row<'_>| {
            Ok(DeadLetter {
                sequence: row.get(0)?,
                part: row.get(1)?,
                message_type: row.get(2)?,
                error: row.get(3)?,
                failed_at: row.get(4)?,
            })
        };
        let letters = rows.query(sql::DEAD_LETTERS, &params![id, sequence, part, page.rows.saturating_add(1)], letter).await?;
        let cursor_of =
            |letter: &DeadLetter| Cursor { created_at: letter.failed_at, id: format!("{}_{}", letter.sequence, letter.part) };
        Ok(Some(Page::from_rows(letters, page.rows, cursor_of)))
    }

    /// What it takes to send an event once more: where to, signed with what, the event, and which of its messages were given up.
    /// That someone wants it sent is on the record before it is.
    pub async fn again(&self, id: &WebhookId, sequence: i64) -> Result<Option<(NewWebhook, String, Happened, Vec<String>)>> {
        let (rows, org, vault) = (&self.access.rows, *self.access.org(), &self.access.ledger.vault);
        let address = |row: &Row<'_>| {
            let webhook = NewWebhook { url: row.get(0)?, events: events_from_row(row.text(1)?)? };
            Ok((webhook, open_secret(vault, &org, id, row.text(2)?)?))
        };
        let Some((webhook, secret)) = rows.first(sql::ADDRESS, &params![id], address).await? else {
            return Ok(None);
        };
        let Some(event) = happened::at(rows, sequence).await? else {
            return Ok(None);
        };
        let dead = rows.query(sql::DEAD_LETTERS_AT, &params![id, sequence], |row| row.get::<String>(0)).await?;
        let wanted = Event::new("webhook.redelivered", "webhook", id).with("sequence", sequence);
        self.access.ledger.note(rows, &self.access.by(), wanted)?.await?;
        Ok(Some((webhook, secret, event, dead)))
    }

    /// A message that was given up has arrived after all.
    pub async fn revived(&self, id: &WebhookId, sequence: i64, message_type: &str) -> Result<()> {
        let (id, message_type) = (*id, message_type.to_owned());
        let write = self.access.write(move |tx| tx.execute(sql::DELETE_DEAD_LETTER, &params![id, sequence, message_type]));
        write.await.map(drop)
    }

    fn seal(&self, id: &WebhookId, secret: &str) -> Result<String> {
        self.access.ledger.vault.seal(&place_of(self.access.org(), id), secret.as_bytes())
    }
}

/// Puts a webhook's cursor behind everything that has happened.
fn start_at_the_end(tx: &mut OrgTx<'_, '_>, id: &WebhookId) -> Result<()> {
    let newest = tx.first(audit::sql::LAST, &[], |row| row.get::<i64>(0))?.unwrap_or(0);
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
        return Err(Error::invalid("events", format!("a webhook names 1 to {WEBHOOK_EVENTS_MAX} events")));
    }
    Ok(events)
}

fn events_to_row(events: &[String]) -> Result<String> {
    serde_json::to_string(events).map_err(Error::internal)
}

pub(super) fn events_from_row(text: &str) -> Result<Vec<String>> {
    serde_json::from_str(text).map_err(Error::internal)
}

/// Scheme and host.
fn origin_of(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    format!("{scheme}://{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_names_no_path() {
        assert_eq!(origin_of("https://hooks.example:8443/T0/secret?k=v"), "https://hooks.example:8443");
        assert_eq!(origin_of("http://h?secret"), "http://h");
    }
}
