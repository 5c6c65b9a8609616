//! Guarantees of the store, tested on both engines.

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
#[path = "store/rows.rs"]
mod rows;
#[path = "store/schema.rs"]
mod schema;
#[path = "store/scope.rs"]
mod scope;
#[path = "store/seals.rs"]
mod seals;
#[path = "store/writes.rs"]
mod writes;
