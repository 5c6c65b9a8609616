//! Policies of an org: read, checked, saved, deleted. What they decide is decided at the gate.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use guard::{NotSaved, Policy, Subject};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::error::{ApiError, Result};
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

/// A policy in force or on trial.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Policy)]
struct PolicyView {
    id: String,
    /// Its text; null in the version that deleted it.
    #[schema(required)]
    cedar: Option<String>,
    mode: PolicyMode,
    /// From 1; each change makes a new one.
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

/// Something that is wrong with a policy's text.
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

/// A policy that decides nothing well: its text has gone stale or cannot be read.
#[derive(Serialize, ToSchema)]
#[schema(as = FlaggedPolicy)]
struct FlaggedView {
    id: String,
    /// It cannot be read: while it is enforced, nothing is permitted.
    broken: bool,
    findings: Vec<FindingView>,
}

#[derive(Serialize, ToSchema)]
struct PoliciesAnswer {
    policies: Vec<PolicyView>,
    /// Stored policies that no longer fit the schema, or cannot be read.
    flagged: Vec<FlaggedView>,
    /// What policies may speak of, as a Cedar schema.
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
    code: &'static str,
    findings: Vec<FindingView>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PolicyRequest {
    cedar: Cedar,
    /// `enforce` when left out.
    mode: Option<PolicyMode>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CheckRequest {
    cedar: Cedar,
}

/// Lists the policies in force or on trial, by name, and what they may speak of.
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
    let policies = policies.list().await?.into_iter().map(PolicyView::from).collect();
    Ok(Json(PoliciesAnswer { policies, flagged, schema: state.guard.policy_schema().to_owned() }))
}

/// Shows the versions of a policy, deleted ones too.
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

/// Saves a policy: checked strictly first, in force for the next request. The same again changes nothing.
#[utoipa::path(
    put, path = "/api/org/{orgId}/policies/{policyId}", operation_id = "putPolicy", tag = "policies",
    params(OrgPath, Named<PolicyName>), request_body = PolicyRequest,
    responses(
        (status = 200, description = "Saved.", body = PolicyAnswer),
        (status = 422, description = "The text is wrong; nothing changed.", body = PolicyFindings),
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
            let error = format!("the policy was not saved: {} in its text", counted(findings.len()));
            let body = PolicyFindings { error, code: "policy_invalid", findings: spelled(findings) };
            Ok((StatusCode::UNPROCESSABLE_ENTITY, Json(body)).into_response())
        }
        Err(NotSaved::Failed(error)) => Err(error.into()),
    }
}

/// Takes a policy out of force. Its versions stay readable.
#[utoipa::path(
    delete, path = "/api/org/{orgId}/policies/{policyId}", operation_id = "deletePolicy", tag = "policies",
    params(OrgPath, Named<PolicyName>),
    responses((status = 204, description = "Out of force."), Admitted<PoliciesWrite>)
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

/// Checks a policy's text as saving it would, and changes nothing.
#[utoipa::path(
    post, path = "/api/org/{orgId}/policy/check", operation_id = "checkPolicy", tag = "policies", params(OrgPath),
    request_body = CheckRequest,
    responses(
        (status = 200, description = "What is wrong; nothing when it could be saved.", body = FindingsAnswer),
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

/// Says what the gate would answer to an agent or a session, and which policy makes it so. Nobody is called.
#[utoipa::path(
    post, path = "/api/org/{orgId}/policy/explain", operation_id = "explainPolicy", tag = "policies", params(OrgPath),
    request_body = ExplainRequest,
    responses(
        (status = 200, description = "What the gate would say.", body = ExplainAnswer),
        Admitted<OrgRead>, Body<ExplainRequest>
    )
)]
async fn explain(
    State(state): State<Shared>,
    access: Admitted<OrgRead>,
    _: Query<Nothing>,
    Body(asked): Body<ExplainRequest>,
) -> Result<Json<ExplainAnswer>> {
    let subject = match (asked.agent_id, asked.session_id) {
        (Some(agent), None) => Subject::Agent(agent.0),
        (None, Some(session)) => Subject::Session(session.0),
        _ => return Err(ApiError::invalid("say who would call: exactly one of `agentId` and `sessionId`")),
    };
    let tool = state.catalogue.find(&asked.tool.0)?;
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
    let explained = explained.ok_or_else(|| ApiError::not_found("agent or session"))?;
    Ok(Json(explained.into()))
}

fn spelled(findings: Vec<policy::Finding>) -> Vec<FindingView> {
    findings.into_iter().map(FindingView::from).collect()
}

fn counted(findings: usize) -> String {
    if findings == 1 { "one thing is wrong".to_owned() } else { format!("{findings} things are wrong") }
}
