//! `write_code`

use std::borrow::Cow;

use base::limits::{CODE_LABEL_CHARS_MAX, CODE_REASON_CHARS_MAX};
use base::{Author, Error, Result, Scope};
use code::{ChangedSymbols, Edit, Sha256};
use guard::{Capability, Effect, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{path, yes};
use crate::reply::Answer;
use crate::tool::{Call, Tool};

pub(crate) struct WriteCode;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Path of the file, relative to the project's root, with `/` between its parts. Missing folders are created.
    path: String,
    /// The whole new text of the file.
    content: String,
    /// Why the file changes. It is kept with the version.
    #[schemars(length(max = CODE_REASON_CHARS_MAX))]
    reason: String,
    /// A label of the agent, kept with the version. The server records the real author itself.
    #[schemars(length(max = CODE_LABEL_CHARS_MAX))]
    agent_id: Option<String>,
    /// Keep the previous text in the history. If false, the history only says that the file changed.
    #[serde(default = "yes")]
    create_backup: bool,
    /// Refuse the write if it adds syntax errors that the file does not have yet.
    #[serde(default = "yes")]
    validate_syntax: bool,
    /// Update the index before the answer. If false, the index follows soon after.
    #[serde(default = "yes")]
    update_dependencies: bool,
    /// The SHA-256 of the text that this write replaces, from `read_code`. If the file has changed since, the write is refused.
    #[schemars(length(min = 64, max = 64))]
    expected_sha256: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    path: String,
    /// The id of the new version, for `query_history`.
    version_id: String,
    /// The number of the new version of this file.
    version: i64,
    sha256: String,
    /// The size in bytes.
    size: u64,
    /// `create` or `update`. A write of the same text changes nothing and is an `update` without lines.
    change_type: &'static str,
    lines_added: u64,
    lines_removed: u64,
    /// Definitions that the write added, removed or changed.
    changed_symbols: Symbols,
    /// Files that depend on this one and may be affected, nearest first.
    affected_files: Vec<Affected>,
    /// There are more affected files than the answer lists.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    more_affected: bool,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct Symbols {
    added: Vec<String>,
    removed: Vec<String>,
    changed: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Affected {
    path: String,
    /// How many imports lie between the two files.
    distance: u32,
}

impl Tool for WriteCode {
    const SPEC: Spec = Spec {
        name: Cow::Borrowed("write_code"),
        aliases: Vec::new(),
        title: Cow::Borrowed("Write a file"),
        description: Cow::Borrowed(
            "Creates or replaces a file of the project. Text with new syntax errors is refused. The previous text, the author and the reason \
             are kept in the history. The answer names the definitions that changed and the files that the change may affect.",
        ),
        scope: Scope::CodeWrite,
        needs: Capability::Project,
        effect: Effect::Destructive,
        idempotent: false,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: Call<'_>, input: Input) -> Result<Answer<Output>> {
        let code = call.code().await?;
        let expected = match &input.expected_sha256 {
            None => None,
            Some(text) => Some(Sha256::parse(text).ok_or_else(|| {
                Error::invalid("expected_sha256", "`expected_sha256` must be 64 hexadecimal digits, as `read_code` shows them")
            })?),
        };
        let edit = Edit {
            path: path("path", &input.path)?,
            content: input.content,
            reason: input.reason,
            label: input.agent_id,
            expected,
            keeps_content: input.create_backup,
            checks_syntax: input.validate_syntax,
            updates_index: input.update_dependencies,
        };
        let edited = code.write(&Author::of(call.permit.principal()), edit).await?;
        let version = edited.version;
        let ChangedSymbols { added, removed, changed } = edited.symbols;
        Answer::json(Output {
            path: version.path.as_str().to_owned(),
            version_id: version.id.to_string(),
            version: version.number,
            sha256: version.sha256_after.map(|sha256| sha256.hex()).unwrap_or_default(),
            size: version.size.unwrap_or_default().unsigned_abs(),
            change_type: version.change.word(),
            lines_added: version.lines_added.unwrap_or_default().unsigned_abs(),
            lines_removed: version.lines_removed.unwrap_or_default().unsigned_abs(),
            changed_symbols: Symbols { added, removed, changed },
            affected_files: edited
                .affected
                .into_iter()
                .map(|file| Affected { path: file.path, distance: file.distance })
                .collect(),
            more_affected: edited.more_affected,
        })
    }
}
