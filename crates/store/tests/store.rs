//! What both engines promise, asked of both in the same words.

#[path = "store/backup.rs"]
mod backup;
#[path = "store/cases.rs"]
mod cases;
#[path = "store/changes.rs"]
mod changes;
#[path = "store/kept.rs"]
mod kept;
#[path = "store/nodes.rs"]
mod nodes;
#[path = "store/schema.rs"]
mod schema;
#[path = "store/scope.rs"]
mod scope;
#[path = "store/seals.rs"]
mod seals;
#[path = "store/writes.rs"]
mod writes;
