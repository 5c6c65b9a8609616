//! Webhooks: where an org's events are sent.

use axum::Json;
use axum::extract::State;
use base::Scope;
use guard::{Access, DeadLetter, Webhook, WebhookHealth, WebhookSecret};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::document::Conflict;
use super::error::{ApiError, Result};
use super::extract::{Admitted, Nothing, Query};
use super::page::{Page, next_cursor};
use super::path::{Id, OrgPath, no_such};
use super::rights::{AuditWrite, OrgRead};
use super::text::{EventName, WebhookUrl};
use super::wire::{SequenceNumber, Time, WebhookId, given};
use crate::hooks;
use crate::state::Shared;

/// What a webhook gets when it does not say.
const PHASES: [&str; 3] = ["pre-verb", "post-verb", "verb-error"];

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(create, list))
        .routes(routes!(show, change, delete))
        .routes(routes!(rotate))
        .routes(routes!(dead_letters))
        .routes(routes!(redeliver))
}

/// A webhook, without its secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Webhook)]
struct WebhookView {
    id: WebhookId,
    /// Where events are sent. Its path may hold a secret of the receiver's: who lacks the scope `audit:write` sees scheme and host.
    url: String,
    /// Phases of calls, types of events, and families of those (`policy.*`).
    events: Vec<String>,
    disabled: bool,
    created_at: Time,
    updated_at: Time,
}

impl WebhookView {
    /// The webhook as this caller may see it.
    fn new(webhook: Webhook, access: &Access) -> Self {
        let url = if access.require(Scope::AuditWrite).is_ok() { webhook.url } else { webhook.origin() };
        Self {
            id: webhook.id.into(),
            url,
            events: webhook.events,
            disabled: webhook.disabled,
            created_at: webhook.created_at.into(),
            updated_at: webhook.updated_at.into(),
        }
    }
}

/// How a webhook does.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookHealth)]
struct HealthView {
    #[schema(required)]
    last_success_at: Option<Time>,
    /// What went wrong last, whether or not it has gone well since.
    #[schema(required)]
    last_error: Option<String>,
    #[schema(required)]
    last_error_at: Option<Time>,
    /// Failed deliveries of the message that is next.
    tries: u32,
    /// When that is tried again.
    #[schema(required)]
    next_try_at: Option<Time>,
    /// Events of the org that it has not got past.
    lag: i64,
    /// Messages that were given up.
    dead_letters: i64,
}

impl From<WebhookHealth> for HealthView {
    fn from(health: WebhookHealth) -> Self {
        Self {
            last_success_at: health.last_success_at.map(Time),
            last_error: health.last_error,
            last_error_at: health.last_error_at.map(Time),
            tries: health.tries,
            next_try_at: health.next_try_at.map(Time),
            lag: health.lag,
            dead_letters: health.dead_letters,
        }
    }
}

#[derive(Serialize, ToSchema)]
struct WebhookAnswer {
    webhook: WebhookView,
}

#[derive(Serialize, ToSchema)]
struct WebhookHealthAnswer {
    webhook: WebhookView,
    health: HealthView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WebhooksAnswer {
    webhooks: Vec<WebhookView>,
    #[schema(required)]
    next_cursor: Option<String>,
}

/// A webhook at a moment when its secret is known.
#[derive(Serialize, ToSchema)]
struct WebhookSecretAnswer {
    webhook: WebhookView,
    /// What deliveries are signed with. It is shown this once.
    secret: String,
}

impl WebhookSecretAnswer {
    fn new(made: WebhookSecret, access: &Access) -> Self {
        Self { webhook: WebhookView::new(made.webhook, access), secret: made.secret }
    }
}

/// A message that was given up.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeadLetter)]
struct DeadLetterView {
    /// The event's place in the audit trail.
    sequence: i64,
    /// The message's type.
    r#type: String,
    /// What went wrong the last time.
    error: String,
    failed_at: Time,
}

impl From<DeadLetter> for DeadLetterView {
    fn from(letter: DeadLetter) -> Self {
        Self { sequence: letter.sequence, r#type: letter.message_type, error: letter.error, failed_at: letter.failed_at.into() }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DeadLettersAnswer {
    dead_letters: Vec<DeadLetterView>,
    #[schema(required)]
    next_cursor: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewWebhook {
    url: WebhookUrl,
    /// Phases of calls, types of events, and families of those (`policy.*`); the three phases when left out.
    #[schema(min_items = 1, max_items = 50)]
    events: Option<Vec<EventName>>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct WebhookChange {
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    url: Option<WebhookUrl>,
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, min_items = 1, max_items = 50)]
    events: Option<Vec<EventName>>,
    /// Nothing is sent while it is disabled, nor afterwards what happened meanwhile.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    disabled: Option<bool>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RedeliverRequest {
    /// The event's place in the audit trail.
    sequence: SequenceNumber,
}

/// What became of a redelivery.
#[derive(Serialize, ToSchema)]
struct RedeliverAnswer {
    /// Types of the messages that the receiver took.
    delivered: Vec<String>,
    /// What went wrong with the one after them.
    #[schema(required)]
    error: Option<String>,
}

/// Adds a webhook. It gets what happens from now on. Its signing secret is shown this once.
#[utoipa::path(
    post, path = "/api/org/{orgId}/webhooks", operation_id = "createWebhook", tag = "webhooks", params(OrgPath),
    request_body = NewWebhook,
    responses(
        (status = 201, description = "Added.", body = WebhookSecretAnswer), Admitted<AuditWrite>, Body<NewWebhook>, Conflict
    )
)]
async fn create(
    State(state): State<Shared>,
    access: Admitted<AuditWrite>,
    _: Query<Nothing>,
    Body(new): Body<NewWebhook>,
) -> Result<(StatusCode, Json<WebhookSecretAnswer>)> {
    let webhooks = state.guard.webhooks(&access)?;
    let events = new.events.map_or_else(|| PHASES.map(str::to_owned).to_vec(), |events| names(&events));
    let made = webhooks.create(guard::NewWebhook { url: checked(&state, &new.url)?, events }).await?;
    Ok((StatusCode::CREATED, Json(WebhookSecretAnswer::new(made, &access))))
}

/// Lists the webhooks.
#[utoipa::path(
    get, path = "/api/org/{orgId}/webhooks", operation_id = "listWebhooks", tag = "webhooks", params(OrgPath, Page),
    responses((status = 200, description = "A page of webhooks.", body = WebhooksAnswer), Admitted<OrgRead>)
)]
async fn list(State(state): State<Shared>, access: Admitted<OrgRead>, Query(page): Query<Page>) -> Result<Json<WebhooksAnswer>> {
    let page = state.guard.webhooks(&access)?.list(&page.request()).await?;
    let next_cursor = next_cursor(page.next.as_ref());
    let webhooks = page.items.into_iter().map(|webhook| WebhookView::new(webhook, &access)).collect();
    Ok(Json(WebhooksAnswer { webhooks, next_cursor }))
}

/// Shows one webhook, and how it does.
#[utoipa::path(
    get, path = "/api/org/{orgId}/webhooks/{webhookId}", operation_id = "getWebhook", tag = "webhooks",
    params(OrgPath, Id<base::WebhookId>),
    responses((status = 200, description = "The webhook.", body = WebhookHealthAnswer), Admitted<OrgRead>)
)]
async fn show(
    State(state): State<Shared>,
    access: Admitted<OrgRead>,
    Id(id): Id<base::WebhookId>,
    _: Query<Nothing>,
) -> Result<Json<WebhookHealthAnswer>> {
    let (webhook, health) = state.guard.webhooks(&access)?.get(&id).await?.ok_or_else(no_such::<base::WebhookId>)?;
    Ok(Json(WebhookHealthAnswer { webhook: WebhookView::new(webhook, &access), health: health.into() }))
}

/// Changes a webhook. What waits for it is tried again at once.
#[utoipa::path(
    patch, path = "/api/org/{orgId}/webhooks/{webhookId}", operation_id = "changeWebhook", tag = "webhooks",
    params(OrgPath, Id<base::WebhookId>), request_body = WebhookChange,
    responses(
        (status = 200, description = "The webhook as it is now.", body = WebhookAnswer),
        Admitted<AuditWrite>, Body<WebhookChange>
    )
)]
async fn change(
    State(state): State<Shared>,
    access: Admitted<AuditWrite>,
    Id(id): Id<base::WebhookId>,
    _: Query<Nothing>,
    Body(change): Body<WebhookChange>,
) -> Result<Json<WebhookAnswer>> {
    let webhooks = state.guard.webhooks(&access)?;
    let change = guard::WebhookChange {
        url: change.url.map(|url| checked(&state, &url)).transpose()?,
        events: change.events.map(|events| names(&events)),
        disabled: change.disabled,
    };
    let changed = webhooks.change(&id, change).await?.ok_or_else(no_such::<base::WebhookId>)?;
    Ok(Json(WebhookAnswer { webhook: WebhookView::new(changed, &access) }))
}

/// Removes a webhook, and what it could not deliver.
#[utoipa::path(
    delete, path = "/api/org/{orgId}/webhooks/{webhookId}", operation_id = "deleteWebhook", tag = "webhooks",
    params(OrgPath, Id<base::WebhookId>),
    responses((status = 204, description = "Removed."), Admitted<AuditWrite>)
)]
async fn delete(
    State(state): State<Shared>,
    access: Admitted<AuditWrite>,
    Id(id): Id<base::WebhookId>,
    _: Query<Nothing>,
) -> Result<StatusCode> {
    match state.guard.webhooks(&access)?.delete(&id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(no_such::<base::WebhookId>()),
    }
}

/// Gives a webhook a new signing secret, shown this once. The next delivery is signed with it.
#[utoipa::path(
    post, path = "/api/org/{orgId}/webhooks/{webhookId}/rotate", operation_id = "rotateWebhook", tag = "webhooks",
    params(OrgPath, Id<base::WebhookId>),
    responses((status = 200, description = "The new secret.", body = WebhookSecretAnswer), Admitted<AuditWrite>)
)]
async fn rotate(
    State(state): State<Shared>,
    access: Admitted<AuditWrite>,
    Id(id): Id<base::WebhookId>,
    _: Query<Nothing>,
) -> Result<Json<WebhookSecretAnswer>> {
    let rotated = state.guard.webhooks(&access)?.rotate(&id).await?.ok_or_else(no_such::<base::WebhookId>)?;
    Ok(Json(WebhookSecretAnswer::new(rotated, &access)))
}

/// Lists messages that were given up.
#[utoipa::path(
    get, path = "/api/org/{orgId}/webhooks/{webhookId}/dead-letters", operation_id = "listDeadLetters", tag = "webhooks",
    params(OrgPath, Id<base::WebhookId>, Page),
    responses((status = 200, description = "A page of dead letters.", body = DeadLettersAnswer), Admitted<OrgRead>)
)]
async fn dead_letters(
    State(state): State<Shared>,
    access: Admitted<OrgRead>,
    Id(id): Id<base::WebhookId>,
    Query(page): Query<Page>,
) -> Result<Json<DeadLettersAnswer>> {
    let page = state.guard.webhooks(&access)?.dead_letters(&id, &page.request()).await?;
    let page = page.ok_or_else(no_such::<base::WebhookId>)?;
    let next_cursor = next_cursor(page.next.as_ref());
    Ok(Json(DeadLettersAnswer { dead_letters: page.items.into_iter().map(DeadLetterView::from).collect(), next_cursor }))
}

/// Sends an event once more, now: those of its messages that were given up, or else all that the webhook wants.
#[utoipa::path(
    post, path = "/api/org/{orgId}/webhooks/{webhookId}/redeliver", operation_id = "redeliverWebhook", tag = "webhooks",
    params(OrgPath, Id<base::WebhookId>), request_body = RedeliverRequest,
    responses(
        (status = 200, description = "What became of it.", body = RedeliverAnswer),
        Admitted<AuditWrite>, Body<RedeliverRequest>
    )
)]
async fn redeliver(
    State(state): State<Shared>,
    access: Admitted<AuditWrite>,
    Id(id): Id<base::WebhookId>,
    _: Query<Nothing>,
    Body(request): Body<RedeliverRequest>,
) -> Result<Json<RedeliverAnswer>> {
    let webhooks = state.guard.webhooks(&access)?;
    let sequence = i64::try_from(request.sequence.0).unwrap_or(i64::MAX);
    let again = webhooks.again(&id, sequence).await?.ok_or_else(|| ApiError::not_found("webhook or event"))?;
    let (webhook, secret, event, dead) = again;
    let wanted = if dead.is_empty() { webhook.events } else { dead };
    let mut answer = RedeliverAnswer { delivered: Vec::new(), error: None };
    for message in hooks::messages(access.org(), &event, &wanted) {
        let now = state.guard.clock().now();
        if let Err(error) = state.courier.deliver(&webhook.url, &secret, &message, now).await {
            answer.error = Some(error);
            break;
        }
        webhooks.revived(&id, sequence, &message.message_type).await?;
        answer.delivered.push(message.message_type);
    }
    Ok(Json(answer))
}

fn checked(state: &Shared, url: &WebhookUrl) -> Result<String> {
    let checked = state.courier.checked(&url.0).map_err(ApiError::invalid)?;
    Ok(checked.to_string())
}

fn names(events: &[EventName]) -> Vec<String> {
    events.iter().map(|event| event.0.clone()).collect()
}
