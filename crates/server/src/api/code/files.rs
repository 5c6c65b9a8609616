//! The files of a project: its tree, a file now or earlier, and the symbols in it.

use axum::Json;
use axum::extract::State;
use base::{Error, Kind};
use code::git::Content;
use code::{At, CodePath, Codebase, FileContent, Past, TreeEntry, TreePage, kind_word};
use serde::{Deserialize, Serialize};
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::CoverageView;
use super::input::{CommitId, EntryName, FilePath, FolderPath, VersionNumber};
use crate::api::error::{ApiError, Result};
use crate::api::extract::Query;
use crate::api::in_project::InProject;
use crate::api::page::{Page, Rows, query, request};
use crate::api::rights::CodeRead;
use crate::api::wire::Time;
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(tree)).routes(routes!(show)).routes(routes!(symbols))
}

/// A required query parameter with the path of a file.
pub(super) fn path_parameter() -> Parameter {
    let mut parameter = query("path", "The file, relative to the project's root.", FilePath::schema());
    parameter.required = Required::True;
    parameter
}

/// The query of a route about one file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileQuery {
    pub(super) path: FilePath,
}

impl IntoParams for FileQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![path_parameter()]
    }
}

/// A folder or a file. A member that does not apply is `null`.
#[derive(Serialize, ToSchema)]
#[schema(as = TreeEntry)]
struct EntryView {
    path: String,
    /// `folder` or `file`.
    #[schema(value_type = String)]
    r#type: &'static str,
    /// The number of files in a folder and below.
    #[schema(required)]
    files: Option<u64>,
    /// The size of a file in bytes.
    #[schema(required)]
    size: Option<u64>,
    /// The programming language of a file, if it is known.
    #[schema(required, value_type = Option<String>)]
    language: Option<&'static str>,
    /// The number of symbols in a file.
    #[schema(required)]
    symbols: Option<u64>,
}

impl From<TreeEntry> for EntryView {
    fn from(entry: TreeEntry) -> Self {
        match entry {
            TreeEntry::Folder { path, files } => {
                Self { path, r#type: "folder", files: Some(files), size: None, language: None, symbols: None }
            }
            TreeEntry::File { path, size, language, symbols } => {
                Self { path, r#type: "file", files: None, size: Some(size), language, symbols: Some(symbols) }
            }
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TreeAnswer {
    /// Folders and files by name.
    entries: Vec<EntryView>,
    coverage: CoverageView,
    #[schema(required)]
    next_cursor: Option<String>,
}

/// Query parameters of the tree.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TreeQuery {
    path: Option<FolderPath>,
    limit: Option<Rows>,
    cursor: Option<EntryName>,
}

impl IntoParams for TreeQuery {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut parameters = vec![
            query("path", "The folder. Default: the project's root.", FolderPath::schema()),
            query("cursor", "The `nextCursor` of the previous page.", EntryName::schema()),
        ];
        parameters.extend(Page::into_params(&place).into_iter().filter(|parameter| parameter.name == "limit"));
        parameters
    }
}

/// Query parameters of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ShowQuery {
    path: FilePath,
    version: Option<VersionNumber>,
    as_of: Option<Time>,
    commit: Option<CommitId>,
}

impl IntoParams for ShowQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![
            path_parameter(),
            query("version", "Show this version of Toolcrib's history.", VersionNumber::schema()),
            query("asOf", "Show the file as it was at this time, by Toolcrib's history.", Time::schema()),
            query("commit", "Show the file as it is in this commit.", CommitId::schema()),
        ]
    }
}

/// A file.
#[derive(Serialize, ToSchema)]
#[schema(as = CodeFile)]
struct FileView {
    path: String,
    /// What there is to show: `text`, `binary`, `too_large`, `special` (such as a pipe), or `not_kept` if the history does not have the
    /// content.
    #[schema(value_type = String)]
    state: &'static str,
    /// The text.
    #[schema(required)]
    content: Option<String>,
    /// The programming language, if it is known.
    #[schema(required, value_type = Option<String>)]
    language: Option<&'static str>,
    /// The number of the version in Toolcrib's history. `null` if the history does not have this content.
    #[schema(required)]
    version: Option<i64>,
    /// The SHA-256 of the content, if it is known.
    #[schema(required)]
    sha256: Option<String>,
    /// The size in bytes, if it is known.
    #[schema(required)]
    size: Option<u64>,
}

/// A symbol of a file.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CodeSymbol)]
struct SymbolView {
    /// The name with those around it: `Class.method`.
    name: String,
    /// What it is, such as `function` or `class`.
    #[schema(value_type = String)]
    kind: &'static str,
    start_line: u32,
    /// The last line, included.
    end_line: u32,
    /// Whether other files can import it.
    exported: bool,
}

#[derive(Serialize, ToSchema)]
struct SymbolsAnswer {
    /// In the order of the text.
    symbols: Vec<SymbolView>,
    coverage: CoverageView,
}

/// Lists the folders and files directly in a folder, by name. Ignored files are left out.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/code/tree", operation_id = "listFiles", tag = "code",
    params(InProject<CodeRead>, TreeQuery),
    responses((status = 200, description = "A page of entries.", body = TreeAnswer), InProject<CodeRead>)
)]
async fn tree(
    State(state): State<Shared>,
    access: InProject<CodeRead>,
    Query(asked): Query<TreeQuery>,
) -> Result<Json<TreeAnswer>> {
    let code = access.code(&state).await?;
    let folder = asked.path.and_then(|path| path.0);
    let rows = request(asked.limit, None).rows as usize;
    let TreePage { entries, next } = code.tree(folder.as_ref(), asked.cursor.map(|cursor| cursor.0), rows).await?;
    let entries = entries.into_iter().map(Into::into).collect();
    Ok(Json(TreeAnswer { entries, coverage: code.coverage().into(), next_cursor: next }))
}

/// Shows a file: as it is now, in an earlier version, at an earlier time, or in a commit.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/code/file", operation_id = "showFile", tag = "code",
    params(InProject<CodeRead>, ShowQuery),
    responses((status = 200, description = "The file.", body = FileView), InProject<CodeRead>)
)]
async fn show(State(state): State<Shared>, access: InProject<CodeRead>, Query(asked): Query<ShowQuery>) -> Result<Json<FileView>> {
    let code = access.code(&state).await?;
    let FilePath(path) = asked.path;
    let file = match (asked.version, asked.as_of, asked.commit) {
        (None, None, None) => now(&code, &path).await?,
        (Some(version), None, None) => earlier(&code, &path, At::Number(version.0.try_into().unwrap_or(i64::MAX))).await?,
        (None, Some(time), None) => earlier(&code, &path, At::Time(time.0)).await?,
        (None, None, Some(commit)) => committed(&code, &path, commit.0).await?,
        _ => return Err(ApiError::invalid("give only one of `version`, `asOf` and `commit`")),
    };
    // The answer holds the text once more.
    access.hold(file.content.as_ref().map_or(0, String::len))?;
    Ok(Json(file))
}

/// Lists the symbols of a file.
#[utoipa::path(
    get, path = "/api/org/{orgId}/projects/{projectId}/code/symbols", operation_id = "listSymbols", tag = "code",
    params(InProject<CodeRead>, FileQuery),
    responses((status = 200, description = "The symbols.", body = SymbolsAnswer), InProject<CodeRead>)
)]
async fn symbols(
    State(state): State<Shared>,
    access: InProject<CodeRead>,
    Query(asked): Query<FileQuery>,
) -> Result<Json<SymbolsAnswer>> {
    let code = access.code(&state).await?;
    let FilePath(path) = asked.path;
    let file = path.clone();
    let found = code.ask(Some(&path), move |snapshot| snapshot.symbols(file.as_str()).ok_or_else(|| not_indexed(&file))).await?;
    let symbol = |symbol: code::SymbolInfo| SymbolView {
        name: symbol.name,
        kind: kind_word(symbol.kind),
        start_line: symbol.start_line,
        end_line: symbol.end_line,
        exported: symbol.is_exported,
    };
    Ok(Json(SymbolsAnswer { symbols: found.into_iter().map(symbol).collect(), coverage: code.coverage().into() }))
}

/// The error for a file that the index does not have.
pub(super) fn not_indexed(path: &CodePath) -> Error {
    Error::not_found("file", format!("there is no file `{path}` in the index; it may be ignored, or not indexed yet"))
}

fn no_file(path: &CodePath, why: &str) -> ApiError {
    ApiError::new(Kind::NotFound, format!("there is no file `{path}`{why}")).with_missing("file")
}

async fn now(code: &Codebase, path: &CodePath) -> Result<FileView> {
    let found = code.read(path).await?;
    let (state, content) = match found.content {
        FileContent::Text(text) => ("text", Some(text)),
        FileContent::Binary => ("binary", None),
        FileContent::TooLarge => ("too_large", None),
        FileContent::Special => ("special", None),
        FileContent::Folder => return Err(no_file(path, "; it is a folder")),
        FileContent::Missing => return Err(no_file(path, "")),
    };
    Ok(FileView {
        path: found.path.as_str().to_owned(),
        state,
        content,
        language: found.language,
        version: Some(found.version).filter(|version| *version > 0),
        sha256: found.sha256.map(|sha256| sha256.hex()),
        size: Some(found.size),
    })
}

async fn earlier(code: &Codebase, path: &CodePath, at: At) -> Result<FileView> {
    let path = &code.real(path).await?;
    let (version, state, content) = match code.history().text_at(path, at).await? {
        Past::Unknown => return Err(no_file(path, " at that time, as far as the history knows")),
        Past::Deleted(version) => {
            return Err(no_file(path, &format!(": it was deleted in version {}", version.number)));
        }
        Past::NotKept(version) => (version, "not_kept", None),
        Past::Content(version, bytes) => {
            let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
            (version, if text.is_some() { "text" } else { "binary" }, text)
        }
    };
    Ok(FileView {
        path: path.as_str().to_owned(),
        state,
        language: language(path, content.as_deref()),
        content,
        version: Some(version.number),
        sha256: version.sha256_after.map(|sha256| sha256.hex()),
        size: version.size.map(i64::unsigned_abs),
    })
}

async fn committed(code: &Codebase, path: &CodePath, commit: String) -> Result<FileView> {
    let (state, content, size) = match code.in_commit(path, commit).await? {
        None => return Err(no_file(path, " in a commit; the project has no git repository")),
        Some(Content::Missing) => return Err(no_file(path, " in that commit")),
        Some(Content::Binary(size)) => ("binary", None, size),
        Some(Content::TooLarge(size)) => ("too_large", None, size),
        Some(Content::Text(text)) => {
            let size = text.len() as u64;
            ("text", Some(text), size)
        }
    };
    let language = language(path, content.as_deref());
    Ok(FileView { path: path.as_str().to_owned(), state, content, language, version: None, sha256: None, size: Some(size) })
}

fn language(path: &CodePath, text: Option<&str>) -> Option<&'static str> {
    code::language_of(path, text.unwrap_or_default())
}
