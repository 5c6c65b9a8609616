//! Webhooks: they send an org's events to other systems.

use axum::Json;
use axum::extract::State;
use base::Scope;
use guard::{Access, DeadLetter, HookPhase, Webhook, WebhookHealth, WebhookSecret};
use http::StatusCode;
use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::document::Conflict;
use super::error::{ApiError, Result};
use super::extract::{Admitted, Nothing, Query};
use super::page::{Page, next_cursor};
use super::path::{Id, OrgPath, no_such};
use super::rights::{AuditWrite, OrgRead};
use super::text::WebhookUrl;
use super::wire::{SequenceNumber, Time, WebhookId, given};
use crate::hooks;
use crate::state::Shared;

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
    /// Where events are sent. The path may contain the receiver's secret, so without the scope `audit:write` only scheme and host are
    /// shown.
    url: String,
    /// Call phases, event types, and families of event types (`policy.*`).
    events: Vec<String>,
    disabled: bool,
    created_at: Time,
    updated_at: Time,
}

impl WebhookView {
    /// The webhook as the caller may see it.
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

/// A webhook's health.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookHealth)]
struct HealthView {
    #[schema(required)]
    last_success_at: Option<Time>,
    /// The last failure, even if deliveries have succeeded since.
    #[schema(required)]
    last_error: Option<String>,
    #[schema(required)]
    last_error_at: Option<Time>,
    /// Failed attempts to deliver the next message.
    tries: u32,
    /// When the next attempt is due.
    #[schema(required)]
    next_try_at: Option<Time>,
    /// Events of the org that this webhook has not processed yet.
    lag: i64,
    /// The number of dead letters: messages that could not be delivered.
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

/// A webhook with its signing secret.
#[derive(Serialize, ToSchema)]
struct WebhookSecretAnswer {
    webhook: WebhookView,
    /// The secret that signs deliveries. Shown only once.
    secret: String,
}

impl WebhookSecretAnswer {
    fn new(made: WebhookSecret, access: &Access) -> Self {
        Self { webhook: WebhookView::new(made.webhook, access), secret: made.secret }
    }
}

/// A message that could not be delivered.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeadLetter)]
struct DeadLetterView {
    /// The event's sequence number in the audit trail.
    sequence: i64,
    /// The message's type.
    r#type: String,
    /// The last failure.
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
    /// Call phases, event types, and families of event types (`policy.*`). Default: the three call phases.
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
    /// A disabled webhook sends nothing, and events from that time are not sent later.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    disabled: Option<bool>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RedeliverRequest {
    /// The event's sequence number in the audit trail.
    sequence: SequenceNumber,
}

/// The result of a redelivery.
#[derive(Serialize, ToSchema)]
struct RedeliverAnswer {
    /// The types of the delivered messages.
    delivered: Vec<String>,
    /// The failure of the next message, if any.
    #[schema(required)]
    error: Option<String>,
}

/// Adds a webhook. It receives events from now on. The signing secret is shown only once.
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
    let events = new.events.map_or_else(|| HookPhase::ALL.map(|phase| phase.word().to_owned()).to_vec(), |events| names(&events));
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

/// Shows one webhook and its health.
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

/// Changes a webhook. Pending messages are retried immediately.
#[utoipa::path(
    patch, path = "/api/org/{orgId}/webhooks/{webhookId}", operation_id = "changeWebhook", tag = "webhooks",
    params(OrgPath, Id<base::WebhookId>), request_body = WebhookChange,
    responses(
        (status = 200, description = "The changed webhook.", body = WebhookAnswer),
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

/// Removes a webhook and its dead letters.
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

/// Rotates a webhook's signing secret. The new secret is shown only once and signs the next delivery.
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

/// Lists messages that could not be delivered.
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

/// Sends an event again: its dead letters, or else all its messages that the webhook subscribes to.
#[utoipa::path(
    post, path = "/api/org/{orgId}/webhooks/{webhookId}/redeliver", operation_id = "redeliverWebhook", tag = "webhooks",
    params(OrgPath, Id<base::WebhookId>), request_body = RedeliverRequest,
    responses(
        (status = 200, description = "The result.", body = RedeliverAnswer),
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
    let missing = || ApiError::not_found("webhook or event").with_missing("webhook");
    let again = webhooks.again(&id, sequence).await?.ok_or_else(missing)?;
    let (webhook, secret, event, dead) = again;
    let wanted = if dead.is_empty() { webhook.events } else { dead };
    let mut answer = RedeliverAnswer { delivered: Vec::new(), error: None };
    let messages = hooks::messages(access.org(), &event, &wanted);
    if messages.is_empty() {
        answer.error = Some("the webhook does not subscribe to this event type; add it to the webhook's events first".to_owned());
    }
    for message in messages {
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

/// An event name that a webhook can subscribe to.
struct EventName(String);

impl<'de> Deserialize<'de> for EventName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wanted = String::deserialize(deserializer)?;
        if guard::is_subscribable(&wanted) {
            return Ok(Self(wanted));
        }
        Err(de::Error::custom(format!("there is no event `{wanted}`; {}", guard::SUBSCRIBABLE)))
    }
}

impl PartialSchema for EventName {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(guard::subscribable())).into()
    }
}

impl ToSchema for EventName {}

fn names(events: &[EventName]) -> Vec<String> {
    events.iter().map(|event| event.0.clone()).collect()
}
