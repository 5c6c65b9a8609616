//! The history of a project's files, and who wrote each line.

use axum::Json;
use axum::extract::State;
use base::Kind;
use code::{FileContent, LineOrigin, Origin, PastChange, PastFilter};
use serde::{Deserialize, Serialize};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::files::FileQuery;
use super::input::{FilePath, SymbolName};
use crate::api::error::{ApiError, Result};
use crate::api::extract::Query;
use crate::api::in_project::InProject;
use crate::api::page::{After, Page, Rows, next_cursor, query, request};
use crate::api::rights::CodeRead;
use crate::api::text::AuthorName;
use crate::api::wire::Time;
use crate::api::words::{ChangeSource, ChangeType};
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(history)).routes(routes!(blame))
}

/// A change of a file.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CodeChange)]
struct ChangeView {
    /// The id of a version, or of a commit.
    id: String,
    /// The number of the version. `null` for a commit.
    #[schema(required)]
    version: Option<i64>,
    /// The file, or the symbol that was asked for.
    entity: String,
    change_type: ChangeType,
    source: ChangeSource,
    at: Time,
    /// Who: an agent, the id of a person or key, `disk`, or the author of a commit.
    agent_id: String,
    /// The session of an agent.
    #[schema(required)]
    session_id: Option<String>,
    /// The reason of a write, or the subject of a commit.
    #[schema(required)]
    reason: Option<String>,
    /// The path before a move or a rename.
    #[schema(required)]
    from: Option<String>,
    #[schema(required)]
    lines_added: Option<u64>,
    #[schema(required)]
    lines_removed: Option<u64>,
    /// A unified diff, if it was asked for and can be shown.
    #[schema(required)]
    diff: Option<String>,
}

impl ChangeView {
    fn new(change: PastChange, version: Option<i64>) -> Self {
        Self {
            version,
            id: change.id,
            entity: change.entity,
            change_type: change.change.into(),
            source: change.source.into(),
            at: change.time.into(),
            agent_id: change.agent,
            session_id: change.session,
            reason: change.reason,
            from: change.from,
            lines_added: change.lines_added,
            lines_removed: change.lines_removed,
            diff: change.diff,
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ChangesAnswer {
    /// Newest first.
    changes: Vec<ChangeView>,
    /// Whether commits may be missing: the clone is shallow, or reading them took too long.
    partial: bool,
    #[schema(required)]
    next_cursor: Option<String>,
}

/// Query parameters of the history.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct HistoryQuery {
    path: Option<FilePath>,
    symbol: Option<SymbolName>,
    session_id: Option<AuthorName>,
    since: Option<Time>,
    until: Option<Time>,
    change_type: Option<ChangeType>,
    diff: Option<bool>,
    limit: Option<Rows>,
    cursor: Option<After>,
}

impl IntoParams for HistoryQuery {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut parameters = vec![
            query("path", "Only changes of this file, relative to the project's root.", FilePath::schema()),
            query("symbol", "Only changes of this symbol in the file, such as `Class.method`.", SymbolName::schema()),
            query("sessionId", "Only what this session wrote through Toolcrib.", AuthorName::schema()),
            query("since", "Only changes at or after this time.", Time::schema()),
            query("until", "Only changes before this time.", Time::schema()),
            query("changeType", "Only changes of this type.", ChangeType::schema()),
            query("diff", "Include a unified diff of each change. Default: false.", bool::schema()),
        ];
        parameters.extend(Page::into_params(&place));
        parameters
    }
}

/// Lines next to each other that came with one change.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BlamedLines)]
struct BlameView {
    start_line: u32,
    lines: u32,
    source: ChangeSource,
    /// Who: an agent, the id of a person or key, the author of a commit, or `disk` for a change that is not committed.
    agent_id: String,
    #[schema(required)]
    session_id: Option<String>,
    /// The version of Toolcrib's history that brought the lines.
    #[schema(required)]
    version_id: Option<String>,
    /// The commit that brought the lines.
    #[schema(required)]
    commit: Option<String>,
    /// When. `null` for a change that is not committed.
    #[schema(required)]
    at: Option<Time>,
}

impl From<LineOrigin> for BlameView {
    fn from(found: LineOrigin) -> Self {
        let (start_line, lines, source) = (found.start_line, found.lines, found.change.source().into());
        let nobody = Self {
            start_line,
            lines,
            source,
            agent_id: "disk".to_owned(),
            session_id: None,
            version_id: None,
            commit: None,
            at: None,
        };
        match found.change {
            Origin::Version(version) => Self {
                agent_id: version.author.agent.clone(),
                session_id: Some(version.author.session.clone()).filter(|_| version.source == code::ChangeSource::Toolcrib),
                version_id: Some(version.id.to_string()),
                at: Some(version.created_at.into()),
                ..nobody
            },
            Origin::Commit { id, author, time } => Self { agent_id: author, commit: Some(id), at: Some(time.into()), ..nobody },
            Origin::Uncommitted => nobody,
        }
    }
}

#[derive(Serialize, ToSchema)]
struct BlameAnswer {
    /// In the order of the lines. Lines of an unknown origin are left out.
    lines: Vec<BlameView>,
    /// Whether lines may be missing, or older than shown: the clone is shallow, or looking further took too long.
    partial: bool,
}

/// Lists changes of the project's files, newest first: writes through Toolcrib, edits on disk that Toolcrib noticed, and commits.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/code/history", operation_id = "listChanges", tag = "code",
    params(InProject<CodeRead>, HistoryQuery),
    responses((status = 200, description = "A page of changes.", body = ChangesAnswer), InProject<CodeRead>)
)]
async fn history(
    State(state): State<Shared>,
    access: InProject<CodeRead>,
    Query(asked): Query<HistoryQuery>,
) -> Result<Json<ChangesAnswer>> {
    if asked.symbol.is_some() && asked.path.is_none() {
        return Err(ApiError::invalid("`symbol` needs the `path` of its file"));
    }
    let code = access.code(&state).await?;
    let path = match asked.path {
        Some(path) => Some(code.real(&path.0).await?),
        None => None,
    };
    let filter = PastFilter {
        path,
        symbol: asked.symbol.map(|symbol| symbol.0),
        session: asked.session_id.map(|session| session.0),
        since: asked.since.map(|time| time.0),
        until: asked.until.map(|time| time.0),
        types: asked.change_type.map(|kind| kind.0).into_iter().collect(),
        diffs: asked.diff.unwrap_or(false),
    };
    let is_first = asked.cursor.is_none();
    let found = code.past(&filter, &request(asked.limit, asked.cursor)).await?;
    if let Some(path) = &filter.path
        && found.page.items.is_empty()
        && is_first
        && code.history().newest_version(path).await?.is_none()
        && matches!(code.read(path).await?.content, FileContent::Missing)
    {
        return Err(ApiError::new(Kind::NotFound, format!("there is no file `{path}`, and there never was")).with_missing("file"));
    }
    access.hold(found.page.items.iter().filter_map(|change| change.diff.as_ref()).map(String::len).sum())?;
    let next_cursor = next_cursor(found.page.next.as_ref());
    let numbers = code.numbers_of(&found.page.items).await?;
    let changes = found.page.items.into_iter().zip(numbers).map(|(change, number)| ChangeView::new(change, number)).collect();
    Ok(Json(ChangesAnswer { changes, partial: found.is_partial, next_cursor }))
}

/// Shows who wrote each line of a file as it is now: by Toolcrib's history if it has the content, else by the git repository.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/code/blame", operation_id = "blameFile", tag = "code",
    params(InProject<CodeRead>, FileQuery),
    responses((status = 200, description = "The lines.", body = BlameAnswer), InProject<CodeRead>)
)]
async fn blame(
    State(state): State<Shared>,
    access: InProject<CodeRead>,
    Query(asked): Query<FileQuery>,
) -> Result<Json<BlameAnswer>> {
    let found = access.code(&state).await?.blame(&asked.path.0).await?;
    Ok(Json(BlameAnswer { lines: found.spans.into_iter().map(Into::into).collect(), partial: found.is_partial }))
}
