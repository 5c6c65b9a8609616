//! Policies of an org: list, check, save, delete and explain. The gate evaluates them.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use base::{Error, Kind};
use guard::{NotSaved, Policy, Subject};
use http::StatusCode;
use mcp::codes::Cause;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::allowlist::no_such_tool;
use super::body::Body;
use super::error::{ApiError, Code, Result};
use super::explanation::{ExplainAnswer, ExplainRequest};
use super::extract::{Admitted, Nothing, Query};
use super::path::{Named, OrgPath, PolicyName};
use super::rights::{OrgRead, PoliciesWrite};
use super::text::Cedar;
use super::wire::Time;
use super::words::PolicyMode;
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(list))
        .routes(routes!(show, put, delete))
        .routes(routes!(check))
        .routes(routes!(explain))
}

/// An enforced or log-only policy.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Policy)]
struct PolicyView {
    id: String,
    /// The Cedar text. `null` in the version that deleted it.
    #[schema(required)]
    cedar: Option<String>,
    mode: PolicyMode,
    /// The version, from 1. Each change creates a new one.
    version: u32,
    created_by: String,
    created_at: Time,
}

impl From<Policy> for PolicyView {
    fn from(policy: Policy) -> Self {
        Self {
            id: policy.id,
            cedar: policy.cedar,
            mode: PolicyMode(policy.mode),
            version: policy.version,
            created_by: policy.created_by,
            created_at: policy.created_at.into(),
        }
    }
}

/// A problem in a policy's text.
#[derive(Serialize, ToSchema)]
#[schema(as = Finding)]
struct FindingView {
    /// Counted from 1.
    line: usize,
    /// Counted from 1, in characters.
    column: usize,
    message: String,
}

impl From<policy::Finding> for FindingView {
    fn from(finding: policy::Finding) -> Self {
        Self { line: finding.line, column: finding.column, message: finding.message }
    }
}

/// A stored policy that does not match the schema any more, or cannot be parsed.
#[derive(Serialize, ToSchema)]
#[schema(as = FlaggedPolicy)]
struct FlaggedView {
    id: String,
    /// Whether the text cannot be parsed. While such a policy is enforced, every call is denied.
    broken: bool,
    findings: Vec<FindingView>,
}

#[derive(Serialize, ToSchema)]
struct PoliciesAnswer {
    policies: Vec<PolicyView>,
    /// Stored policies that do not match the schema any more, or cannot be parsed.
    flagged: Vec<FlaggedView>,
    /// The Cedar schema for policies.
    schema: String,
}

#[derive(Serialize, ToSchema)]
struct PolicyAnswer {
    policy: PolicyView,
}

#[derive(Serialize, ToSchema)]
struct PolicyVersionsAnswer {
    /// The newest versions, newest first.
    versions: Vec<PolicyView>,
}

#[derive(Serialize, ToSchema)]
struct FindingsAnswer {
    findings: Vec<FindingView>,
}

/// Why a policy was not saved.
#[derive(Serialize, ToSchema)]
struct PolicyFindings {
    error: String,
    #[schema(value_type = String)]
    code: Code,
    findings: Vec<FindingView>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PolicyRequest {
    cedar: Cedar,
    /// Default: `enforce`.
    mode: Option<PolicyMode>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CheckRequest {
    cedar: Cedar,
}

/// Lists the enforced and log-only policies by name, with the Cedar schema.
#[utoipa::path(
    get, path = "/api/org/{orgId}/policies", operation_id = "listPolicies", tag = "policies", params(OrgPath),
    responses((status = 200, description = "All policies.", body = PoliciesAnswer), Admitted<OrgRead>)
)]
async fn list(State(state): State<Shared>, access: Admitted<OrgRead>, _: Query<Nothing>) -> Result<Json<PoliciesAnswer>> {
    let policies = state.guard.policies(&access)?;
    let flagged = policies.flagged().await?.into_iter();
    let flagged = flagged
        .map(|flagged| FlaggedView { id: flagged.document, broken: flagged.broken, findings: spelled(flagged.findings) })
        .collect();
    let schema = policies.schema().await?;
    let policies = policies.list().await?.into_iter().map(PolicyView::from).collect();
    Ok(Json(PoliciesAnswer { policies, flagged, schema }))
}

/// Shows the versions of a policy, even if it was deleted.
#[utoipa::path(
    get, path = "/api/org/{orgId}/policies/{policyId}", operation_id = "showPolicy", tag = "policies",
    params(OrgPath, Named<PolicyName>),
    responses((status = 200, description = "Its versions.", body = PolicyVersionsAnswer), Admitted<OrgRead>)
)]
async fn show(
    State(state): State<Shared>,
    access: Admitted<OrgRead>,
    id: Named<PolicyName>,
    _: Query<Nothing>,
) -> Result<Json<PolicyVersionsAnswer>> {
    let versions = state.guard.policies(&access)?.versions(id.text()).await?;
    if versions.is_empty() {
        return Err(ApiError::not_found("policy"));
    }
    Ok(Json(PolicyVersionsAnswer { versions: versions.into_iter().map(PolicyView::from).collect() }))
}

/// Saves a policy after a strict check. It applies from the next request. Saving the same text again changes nothing.
#[utoipa::path(
    put, path = "/api/org/{orgId}/policies/{policyId}", operation_id = "putPolicy", tag = "policies",
    params(OrgPath, Named<PolicyName>), request_body = PolicyRequest,
    responses(
        (status = 200, description = "Saved.", body = PolicyAnswer),
        (status = 422, description = "The text has errors. Nothing changed.", body = PolicyFindings),
        Admitted<PoliciesWrite>, Body<PolicyRequest>
    )
)]
async fn put(
    State(state): State<Shared>,
    access: Admitted<PoliciesWrite>,
    id: Named<PolicyName>,
    _: Query<Nothing>,
    Body(new): Body<PolicyRequest>,
) -> Result<Response> {
    let mode = new.mode.map_or(policy::Mode::Enforce, |mode| mode.0);
    match state.guard.policies(&access)?.put(id.text(), &new.cedar.0, mode).await {
        Ok(policy) => Ok(Json(PolicyAnswer { policy: policy.into() }).into_response()),
        Err(NotSaved::Findings(findings)) => {
            let error = format!("policy not saved; {} in its text", counted(findings.len()));
            let cause = Cause::PolicyInvalid;
            let body = PolicyFindings { error, code: Code(cause), findings: spelled(findings) };
            Ok((cause.entry().status, Json(body)).into_response())
        }
        Err(NotSaved::Failed(error)) => Err(error.into()),
    }
}

/// Deletes a policy. It no longer applies; its versions stay readable.
#[utoipa::path(
    delete, path = "/api/org/{orgId}/policies/{policyId}", operation_id = "deletePolicy", tag = "policies",
    params(OrgPath, Named<PolicyName>),
    responses((status = 204, description = "Deleted."), Admitted<PoliciesWrite>)
)]
async fn delete(
    State(state): State<Shared>,
    access: Admitted<PoliciesWrite>,
    id: Named<PolicyName>,
    _: Query<Nothing>,
) -> Result<StatusCode> {
    match state.guard.policies(&access)?.delete(id.text()).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::not_found("policy")),
    }
}

/// Checks a policy's text without saving it.
#[utoipa::path(
    post, path = "/api/org/{orgId}/policy/check", operation_id = "checkPolicy", tag = "policies", params(OrgPath),
    request_body = CheckRequest,
    responses(
        (status = 200, description = "The problems. Empty if the policy can be saved.", body = FindingsAnswer),
        Admitted<OrgRead>, Body<CheckRequest>
    )
)]
async fn check(
    State(state): State<Shared>,
    access: Admitted<OrgRead>,
    _: Query<Nothing>,
    Body(new): Body<CheckRequest>,
) -> Result<Json<FindingsAnswer>> {
    let findings = state.guard.policies(&access)?.check(&new.cedar.0).await?;
    Ok(Json(FindingsAnswer { findings: spelled(findings) }))
}

/// Explains whether the gate would allow a call by an agent or a session, and which policy decides. Nothing is called.
#[utoipa::path(
    post, path = "/api/org/{orgId}/policy/explain", operation_id = "explainPolicy", tag = "policies", params(OrgPath),
    request_body = ExplainRequest,
    responses(
        (status = 200, description = "The decision.", body = ExplainAnswer),
        Admitted<OrgRead>, Body<ExplainRequest>
    )
)]
async fn explain(
    State(state): State<Shared>,
    access: Admitted<OrgRead>,
    _: Query<Nothing>,
    Body(asked): Body<ExplainRequest>,
) -> Result<Json<ExplainAnswer>> {
    let (subject, noun) = match (asked.agent_id, asked.session_id) {
        (Some(agent), None) => (Subject::Agent(agent.0), "agent"),
        (None, Some(session)) => (Subject::Session(session.0), "session"),
        _ => return Err(ApiError::invalid("give exactly one of `agentId` and `sessionId`")),
    };
    let menu = state.menu(access.org()).await?;
    let unknown = |_| Error::new(Kind::ToolNotFound, no_such_tool(&menu, &asked.tool.0));
    let tool = menu.find(&asked.tool.0).map_err(unknown)?;
    let candidates = asked.with.unwrap_or_default().into_iter().map(|candidate| policy::Document {
        id: candidate.0.id.0,
        version: 0,
        cedar: candidate.0.cedar.0,
        mode: candidate.0.mode.map_or(policy::Mode::Enforce, |mode| mode.0),
    });
    let policies = state.guard.policies(&access)?;
    let arguments = asked.arguments.map(|arguments| tool.prepared(arguments.0));
    let check = |arguments: &Value| tool.check_schema(arguments);
    let explained = policies.explain(subject, tool.spec(), arguments.as_ref(), check, candidates.collect()).await?;
    let explained = explained.ok_or_else(|| ApiError::not_found(noun))?;
    Ok(Json(explained.into()))
}

fn spelled(findings: Vec<policy::Finding>) -> Vec<FindingView> {
    findings.into_iter().map(FindingView::from).collect()
}

fn counted(findings: usize) -> String {
    if findings == 1 { "1 error".to_owned() } else { format!("{findings} errors") }
}
