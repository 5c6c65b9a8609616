//! A project's code for people: browse, search, look into its history, and undo what agents wrote.

mod changes;
mod files;
mod input;
mod past;
mod questions;
mod state;

use code::{CodeCoverage, Following};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

use super::wire::Time;
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .merge(files::routes())
        .merge(past::routes())
        .merge(questions::routes())
        .merge(state::routes())
        .merge(changes::routes())
}

/// How much of the project the index covers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CodeCoverage)]
struct CoverageView {
    /// Files of the project, as far as they are known.
    files: u64,
    /// Files that are indexed.
    indexed: u64,
    /// Indexed files whose structure is known.
    parsed: u64,
    /// Indexed files that could not be read or parsed.
    failed: u64,
    /// Files that are left out because of their names, or because there are too many.
    left_out: u64,
    /// Passages that search finds by words.
    passages: u64,
    /// Passages that search finds by meaning.
    embedded: u64,
    /// Whether every file is indexed.
    complete: bool,
    /// Whether every known change is in the index.
    fresh: bool,
    /// How changes on disk are noticed: `events` of the file system, or `listings` at intervals.
    #[schema(value_type = String)]
    following: &'static str,
    /// When the files were last compared with the disk.
    #[schema(required)]
    as_of: Option<Time>,
}

impl From<CodeCoverage> for CoverageView {
    fn from(coverage: CodeCoverage) -> Self {
        let CodeCoverage { index, passages, embedded } = coverage;
        Self {
            files: index.files,
            indexed: index.indexed,
            parsed: index.parsed,
            failed: index.failed,
            left_out: index.left_out,
            passages,
            embedded,
            complete: index.is_complete,
            fresh: index.is_fresh,
            following: match index.following {
                Following::Events => "events",
                Following::Listings => "listings",
            },
            as_of: Some(index.as_of).filter(|time| time.ms() > 0).map(Time),
        }
    }
}
