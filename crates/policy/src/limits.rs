//! The limits of this crate, each with its reason.

/// Largest text of one policy document, in bytes. It is parsed and validated as a whole.
pub const DOCUMENT_BYTES_MAX: usize = 1024 * 1024;
/// Most statements in one document, and in all the documents of an org together: each of them may have to be evaluated.
pub const STATEMENTS_MAX: usize = 10_000;
/// Deepest nesting of one statement: an operator is one level, a bracket four. Parser, validator and evaluator recurse for every
/// level and must fit on half of a thread's stack of 2 MiB; the other half is the caller's. A list of alternatives is better a
/// set than a chain.
pub const NESTING_MAX: usize = 192;
/// Longest `@id` of a statement, in Unicode scalar values: it is repeated in every audit event it decides.
pub const STATEMENT_NAME_CHARS_MAX: usize = 120;
/// Deepest nesting of a tool's arguments that policies see.
pub(crate) const SHAPE_DEPTH_MAX: usize = 8;
/// Most members of one object in a tool's arguments that policies see. A peer's card decides how many it declares.
pub(crate) const SHAPE_MEMBERS_MAX: usize = 256;
/// What the remembered slices may weigh together: 1 each, and 1 more for every [`SLICE_WEIGHT_STATEMENTS`]. That is 40 MB at
/// most, and where a cache has many shards, one of them still holds the largest slice.
pub(crate) const SLICE_CACHE_WEIGHT_MAX: usize = 20_000;
/// Statements that weigh as much as a slice by itself.
pub(crate) const SLICE_WEIGHT_STATEMENTS: usize = 256;
/// Principals whose entities are remembered. Building them takes longer than most decisions; each is a few kilobytes.
pub(crate) const ENTITIES_CACHE_MAX: usize = 1_000;
