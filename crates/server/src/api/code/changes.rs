//! Undoing changes of files: one file, or everything that an agent or session wrote.

use axum::Json;
use axum::extract::State;
use base::{Author, EventKind};
use code::{RollbackOutcome, RolledBack, Version, Writer};
use guard::Event;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::input::{FilePath, Reason};
use crate::api::body::Body;
use crate::api::document::Conflict;
use crate::api::error::Result;
use crate::api::extract::{Nothing, Query};
use crate::api::in_project::InProject;
use crate::api::rights::CodeWrite;
use crate::api::text::AuthorName;
use crate::api::wire::{FileVersionId, FileVersionNumber};
use crate::api::words::ChangeType;
use crate::state::Shared;

/// The number of files that one call rolls back.
const FILES_AT_ONCE: usize = 1_000;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(restore)).routes(routes!(roll_back))
}

/// Which version of a file to restore.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RestoreFile)]
struct Restore {
    path: FilePath,
    /// The number of the version, as in the history.
    version: FileVersionNumber,
    /// Why. It is kept with the new version.
    reason: Option<Reason>,
}

/// A new version of a file.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FileVersion)]
struct VersionView {
    id: FileVersionId,
    path: String,
    version: i64,
    change_type: ChangeType,
    #[schema(required)]
    sha256: Option<String>,
    #[schema(required)]
    lines_added: Option<i64>,
    #[schema(required)]
    lines_removed: Option<i64>,
}

impl From<Version> for VersionView {
    fn from(version: Version) -> Self {
        Self {
            id: version.id.into(),
            path: version.path.as_str().to_owned(),
            version: version.number,
            change_type: version.change.into(),
            sha256: version.sha256_after.map(|sha256| sha256.hex()),
            lines_added: version.lines_added,
            lines_removed: version.lines_removed,
        }
    }
}

#[derive(Serialize, ToSchema)]
struct RestoredAnswer {
    /// The new version. `null` if the file was as wanted already.
    #[schema(required)]
    version: Option<VersionView>,
}

/// Whose writes to roll back.
#[derive(Deserialize, ToSchema)]
#[serde(untagged, expecting = "give either `agentId` or `sessionId` to select what to roll back")]
enum RollBackCode {
    Agent(CodeOfAgent),
    Session(CodeOfSession),
}

/// What an agent wrote, in all its sessions.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct CodeOfAgent {
    agent_id: AuthorName,
    /// Why. It is kept with the new versions.
    reason: Option<Reason>,
    /// The `nextAfter` of the previous call.
    after: Option<FilePath>,
}

/// What a session wrote.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct CodeOfSession {
    session_id: AuthorName,
    /// Why. It is kept with the new versions.
    reason: Option<Reason>,
    /// The `nextAfter` of the previous call.
    after: Option<FilePath>,
}

/// What a rollback did to one file.
#[derive(Serialize, ToSchema)]
#[schema(as = RolledBackFile)]
struct OutcomeView {
    path: String,
    /// `restored`: it is as before these writes. `reverted`: they are undone, and what others wrote since is kept. `unchanged`: nothing
    /// of them was left. `conflict`: what others wrote touches them, so it was left alone. `not_kept`: a content that is needed is not
    /// kept, so it was left alone. `failed`: see `error`.
    #[schema(value_type = String)]
    outcome: &'static str,
    /// The new version, if there is one.
    #[schema(required)]
    version: Option<VersionView>,
    /// Why it failed.
    #[schema(required)]
    error: Option<String>,
}

impl From<RolledBack> for OutcomeView {
    fn from(file: RolledBack) -> Self {
        let (outcome, version, error) = match file.outcome {
            RollbackOutcome::Restored(version) => ("restored", Some(version.into()), None),
            RollbackOutcome::Reverted(version) => ("reverted", Some(version.into()), None),
            RollbackOutcome::Unchanged => ("unchanged", None, None),
            RollbackOutcome::Conflict => ("conflict", None, None),
            RollbackOutcome::NotKept => ("not_kept", None, None),
            RollbackOutcome::Failed(error) => {
                tracing::warn!(log = error.log().unwrap_or_default(), "a file cannot be rolled back: {}", error.message());
                ("failed", None, Some(error.message().to_owned()))
            }
        };
        Self { path: file.path.as_str().to_owned(), outcome, version, error }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RolledBackAnswer {
    /// The files that were looked at, by path.
    files: Vec<OutcomeView>,
    /// If not `null`, there are more files: repeat the call with this as `after`.
    #[schema(required)]
    next_after: Option<String>,
}

/// Gives a file the content of an earlier version, or removes it if it did not exist then. This adds a version and can itself be
/// undone.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/code/restore", operation_id = "restoreFile", tag = "code",
    params(InProject<CodeWrite>), request_body = Restore,
    responses(
        (status = 200, description = "Restored.", body = RestoredAnswer), InProject<CodeWrite>, Body<Restore>, Conflict
    )
)]
async fn restore(
    State(state): State<Shared>,
    access: InProject<CodeWrite>,
    _: Query<Nothing>,
    Body(asked): Body<Restore>,
) -> Result<Json<RestoredAnswer>> {
    let (path, number) = (asked.path.0, asked.version.0);
    let event = Event::new(EventKind::CodeRestored, "project", access.project()).with("path", path.as_str()).with("version", number);
    let code = access.changing_code(&state, event).await?;
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    let version = code.restore(&author(&access), &path, number, asked.reason.map(|reason| reason.0)).await?;
    Ok(Json(RestoredAnswer { version: version.map(Into::into) }))
}

/// Undoes what an agent or session wrote, file by file, at most 1000 files per call. What others wrote since is kept.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/code/rollback", operation_id = "rollBackCode", tag = "code",
    params(InProject<CodeWrite>), request_body = RollBackCode,
    responses(
        (status = 200, description = "What happened to each file.", body = RolledBackAnswer), InProject<CodeWrite>,
        Body<RollBackCode>
    )
)]
async fn roll_back(
    State(state): State<Shared>,
    access: InProject<CodeWrite>,
    _: Query<Nothing>,
    Body(asked): Body<RollBackCode>,
) -> Result<Json<RolledBackAnswer>> {
    let event = Event::new(EventKind::CodeRolledBack, "project", access.project());
    let (writer, event, reason, after) = match asked {
        RollBackCode::Agent(of) => {
            let event = event.with("agentId", of.agent_id.0.as_str());
            (Writer::Agent(of.agent_id.0), event, of.reason, of.after)
        }
        RollBackCode::Session(of) => {
            let event = event.with("sessionId", of.session_id.0.as_str());
            (Writer::Session(of.session_id.0), event, of.reason, of.after)
        }
    };
    let code = access.changing_code(&state, event).await?;
    let (reason, after) = (reason.map(|reason| reason.0), after.map(|path| path.0));
    let done = code.roll_back(&author(&access), &writer, reason, after.as_ref()).await?;
    let next = done.last().filter(|_| done.len() >= FILES_AT_ONCE).map(|file| file.path.as_str().to_owned());
    Ok(Json(RolledBackAnswer { files: done.into_iter().map(Into::into).collect(), next_after: next }))
}

/// People have no session, so their name stands for it too.
fn author(access: &InProject<CodeWrite>) -> Author {
    let label = access.who().label();
    Author { agent: label.clone(), session: label }
}
