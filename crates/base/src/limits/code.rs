//! Limits of a project's code and decisions.

/// Largest text of a file that the code tools read or write. An answer holds it once more as JSON.
pub const CODE_FILE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Memory for indexes of code on a node. Above this, the least used ones are dropped and loaded again on demand.
pub const CODE_INDEX_BYTES_MAX: usize = 1024 * 1024 * 1024;
/// Most versions of a file that `read_code` lists.
pub const CODE_HISTORY_MAX: u32 = 100;
/// Longest reason of a write.
pub const CODE_REASON_CHARS_MAX: usize = 2_000;
/// Longest label that a caller gives itself in `agent_id`.
pub const CODE_LABEL_CHARS_MAX: usize = 200;
/// Most hops of `analyze_dependencies` and `graph_search`.
pub const CODE_DEPTH_MAX: u32 = 64;
/// Edges of `analyze_dependencies` in a page when the caller sets no limit.
pub const CODE_EDGES_DEFAULT: u32 = 200;
/// Most edges of `analyze_dependencies` in a page.
pub const CODE_EDGES_MAX: u32 = 2_000;
/// Files in a list of affected files, or of files in a cycle.
pub const CODE_AFFECTED_MAX: usize = 500;
/// Nodes of `graph_search` in a page when the caller sets no limit.
pub const CODE_NODES_DEFAULT: u32 = 100;
/// Most nodes of `graph_search` in a page.
pub const CODE_NODES_MAX: u32 = 2_000;
/// Most start nodes of `graph_search`.
pub const CODE_START_NODES_MAX: usize = 100;
/// Longest query of a code search.
pub const CODE_QUERY_CHARS_MAX: usize = 2_000;
/// Most results of a code search in a page.
pub const CODE_RESULTS_MAX: u32 = 100;
/// Lines of a snippet in the results of a code search. Models read them, and `read_code` shows the rest.
pub const CODE_SNIPPET_LINES_MAX: usize = 12;
/// Longest time to look back in a code search or in `get_context`: ten years.
pub const CODE_WINDOW_MS_MAX: i64 = 3_650 * 24 * 60 * 60 * 1_000;
/// Longest text of a decision. Reasons belong into its reasoning.
pub const DECISION_CHARS_MAX: usize = 10_000;
/// Longest reasoning of a decision, about fifteen pages. With everything else it fits into an observation.
pub const DECISION_REASONING_CHARS_MAX: usize = 50_000;
/// Alternatives of one decision.
pub const DECISION_ALTERNATIVES_MAX: usize = 50;
/// Longest alternative of a decision.
pub const DECISION_ALTERNATIVE_CHARS_MAX: usize = 500;
/// Largest context of a decision as JSON.
pub const DECISION_CONTEXT_BYTES_MAX: usize = 64 * 1024;
/// Decisions that are searched for a text in one page. A longer search continues on the next page.
pub const DECISIONS_LOOK_MAX: usize = 5_000;
