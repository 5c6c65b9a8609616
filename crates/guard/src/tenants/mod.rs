//! Tenants: orgs and their projects.

mod orgs;
mod projects;
pub(crate) mod sql;

pub(crate) use orgs::checked_name;
pub use orgs::{Org, Orgs};
pub use projects::{NewProject, Project, ProjectChange, Projects};

use base::{PageRequest, Timestamp};

/// The start of a newest-first page, and how many rows to read: one more than requested, to detect a next page.
pub(crate) struct PageStart {
    pub(crate) created_at: Timestamp,
    pub(crate) id: String,
    pub(crate) rows: u32,
}

pub(crate) fn start_of(page: &PageRequest) -> PageStart {
    let rows = page.rows.saturating_add(1);
    match &page.after {
        Some(cursor) => PageStart { created_at: cursor.created_at, id: cursor.id.clone(), rows },
        None => PageStart { created_at: Timestamp::from_ms(i64::MAX), id: String::new(), rows },
    }
}
