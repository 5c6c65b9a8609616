//! `read_code`

use std::borrow::Cow;

use base::limits::CODE_HISTORY_MAX;
use base::{PageRequest, Result, Scope};
use code::{FileContent, PastChange, PastFilter};
use guard::{Capability, Effect, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use knowledge::rounded;

use super::{Coverage, five, path, similarity, yes};
use crate::reply::Answer;
use crate::tool::{Call, Tool};

pub(crate) struct ReadCode;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Path of the file, relative to the project's root, with `/` between its parts.
    path: String,
    /// Also list earlier versions of the file.
    #[serde(default)]
    include_history: bool,
    /// The maximum number of versions to list.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = CODE_HISTORY_MAX))]
    history_limit: u32,
    /// Also list files about similar things.
    #[serde(default = "yes")]
    include_semantic_context: bool,
    /// Also list what the file imports and exports, and which files import it.
    #[serde(default = "yes")]
    include_dependencies: bool,
    /// The minimum similarity of similar files, from 0 to 1.
    #[serde(default = "similarity")]
    #[schemars(range(min = 0.0, max = 1.0))]
    semantic_similarity_threshold: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    path: String,
    /// The text. Absent if the file does not exist or its content is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    exists: bool,
    /// Why the content is left out: `binary`, `too_large`, `folder` or `special`.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_omitted: Option<&'static str>,
    /// The programming language, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'static str>,
    /// The version of the file in Toolcrib's history. Zero if it was never written through Toolcrib.
    version: i64,
    /// The SHA-256 of the content. Pass it to `write_code` as `expected_sha256`, so that no other change is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// The size in bytes.
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<Version>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    semantic_context: Option<SemanticContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dependencies: Option<Dependencies>,
}

/// An earlier version of the file, newest first.
#[derive(Debug, Serialize, JsonSchema)]
struct Version {
    id: String,
    time: String,
    agent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    change_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines_added: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines_removed: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SemanticContext {
    /// Most similar first.
    similar_files: Vec<SimilarFile>,
    coverage: Coverage,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SimilarFile {
    path: String,
    /// From 0 to 1; from 0.7 on, a person would call the files related.
    similarity: f64,
    /// The raw cosine of the model.
    cosine: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Dependencies {
    /// Files and packages that the file imports.
    imports: Vec<String>,
    /// Names that other files can import.
    exports: Vec<String>,
    /// Files that import the file.
    imported_by: Vec<String>,
    /// Not every file of the project is indexed yet, so imports may lead nowhere and importers may be missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    incomplete: bool,
}

impl Tool for ReadCode {
    const SPEC: Spec = Spec {
        name: Cow::Borrowed("read_code"),
        aliases: Vec::new(),
        title: Cow::Borrowed("Read a file with its context"),
        description: Cow::Borrowed(
            "Reads a file of the project, with what it imports and exports, which files import it, which files are about similar things, \
             and on request its history.",
        ),
        scope: Scope::CodeRead,
        needs: Capability::Code,
        effect: Effect::ReadOnly,
        idempotent: true,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: Call<'_>, input: Input) -> Result<Answer<Output>> {
        let code = call.code().await?;
        let file = code.read(&path("path", &input.path)?).await?;
        let is_there = !matches!(file.content, FileContent::Missing);
        let version = code.notice(&file).await?;
        // Before the questions, so that the answers cover at least this much.
        let covered = code.coverage();
        let dependencies = match input.include_dependencies && is_there {
            true => {
                let incomplete = !covered.index.is_complete;
                code.dependencies(&file.path).await?.map(|found| Dependencies { incomplete, ..Dependencies::from(found) })
            }
            false => None,
        };
        let semantic_context = match input.include_semantic_context && is_there {
            true => {
                let found = code.similar_files(&file.path, input.semantic_similarity_threshold as f32).await?;
                Some(SemanticContext {
                    similar_files: found.into_iter().map(SimilarFile::from).collect(),
                    coverage: Coverage::from(covered),
                })
            }
            false => None,
        };
        let history = match input.include_history {
            true => {
                let filter = PastFilter { path: Some(file.path.clone()), ..PastFilter::default() };
                let page = PageRequest { rows: input.history_limit, after: None };
                Some(code.past(&filter, &page).await?.page.items.into_iter().map(Version::from).collect())
            }
            false => None,
        };
        let (content, content_omitted) = match file.content {
            FileContent::Text(text) => (Some(text), None),
            FileContent::Missing => (None, None),
            FileContent::Folder => (None, Some("folder")),
            FileContent::Special => (None, Some("special")),
            FileContent::TooLarge => (None, Some("too_large")),
            FileContent::Binary => (None, Some("binary")),
        };
        Answer::json(Output {
            path: file.path.as_str().to_owned(),
            content,
            exists: is_there,
            content_omitted,
            language: file.language,
            version,
            sha256: file.sha256.map(|sha256| sha256.hex()),
            size: file.size,
            history,
            semantic_context,
            dependencies,
        })
    }
}

impl From<code::Dependencies> for Dependencies {
    fn from(found: code::Dependencies) -> Self {
        let mut imports: Vec<String> = found.imports.into_iter().map(|edge| edge.to).collect();
        imports.dedup();
        Self { imports, exports: found.exports, imported_by: found.imported_by, incomplete: false }
    }
}

impl From<code::SimilarFile> for SimilarFile {
    fn from(found: code::SimilarFile) -> Self {
        Self { path: found.path.to_string(), similarity: rounded(found.similarity), cosine: rounded(found.cosine) }
    }
}

impl From<PastChange> for Version {
    fn from(change: PastChange) -> Self {
        Self {
            id: change.id,
            time: change.time.to_string(),
            agent: change.agent,
            reason: change.reason,
            change_type: change.change.word(),
            lines_added: change.lines_added,
            lines_removed: change.lines_removed,
        }
    }
}
