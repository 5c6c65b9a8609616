//! Migrations: numbered SQL texts. One node applies each of them once, in one transaction.

use base::{Clock, Error, Kind, Result};

use crate::{Tx, params, sql};

const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_spine.sql"),
    include_str!("../migrations/0002_spine_leftovers.sql"),
    include_str!("../migrations/0003_governance.sql"),
    include_str!("../migrations/0004_hooks.sql"),
    include_str!("../migrations/0005_limits.sql"),
    include_str!("../migrations/0006_audit.sql"),
    include_str!("../migrations/0007_memory.sql"),
    include_str!("../migrations/0008_graph.sql"),
    include_str!("../migrations/0009_lookups.sql"),
    include_str!("../migrations/0010_openers.sql"),
    include_str!("../migrations/0011_lineage.sql"),
    include_str!("../migrations/0012_opened_sessions.sql"),
    include_str!("../migrations/0013_code.sql"),
    include_str!("../migrations/0014_decisions.sql"),
];

/// The schema version of this release. A store with a newer one is refused, because an old release must not touch it.
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// Migrates the schema to [`SCHEMA_VERSION`]. The caller holds the engine's migration lock.
pub(crate) fn migrate(tx: &mut Tx<'_>, clock: &Clock) -> Result<()> {
    migrate_to(SCHEMA_VERSION, tx, clock)
}

/// Migrates the schema to `target`, which can be the version of an older release.
pub(crate) fn migrate_to(target: i64, tx: &mut Tx<'_>, clock: &Clock) -> Result<()> {
    tx.execute(sql::CREATE_SCHEMA_VERSIONS, &[])?;
    let found = tx.first(sql::NEWEST_SCHEMA_VERSION, &[], |row| row.get::<Option<i64>>("version"))?.flatten().unwrap_or(0);
    if found > SCHEMA_VERSION {
        return Err(newer_release(found));
    }
    for (version, text) in (1_i64..).zip(MIGRATIONS).filter(|(version, _)| *version > found && *version <= target) {
        for statement in statements(text) {
            tx.execute(statement, &[])?;
        }
        tx.execute(sql::RECORD_SCHEMA_VERSION, &params![version, clock.now()])?;
        tracing::info!(version, "schema migrated");
    }
    Ok(())
}

/// The error for data that this release must not touch.
pub(crate) fn newer_release(found: i64) -> Error {
    Error::new(
        Kind::Conflict,
        format!(
            "the data was written by a newer release (schema {found}; this release knows {SCHEMA_VERSION}); \
             start that release, or restore a backup made before the upgrade"
        ),
    )
}

/// The tables that any migration creates.
pub(crate) fn tables() -> impl Iterator<Item = &'static str> {
    let statements = MIGRATIONS.iter().flat_map(|text| statements(text));
    statements.filter_map(|text| text.split_once("CREATE TABLE ")?.1.split_whitespace().next())
}

/// The statements of a migration, split at semicolons, without comments and blank lines. Migrations contain no string literals.
fn statements(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split(';').map(str::trim).filter(|statement| {
        statement.lines().any(|line| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with("--")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primary_keys_of_org_tables_start_with_the_org() {
        for statement in MIGRATIONS.iter().flat_map(|text| statements(text)).filter(|text| text.contains("CREATE TABLE")) {
            let instance_wide = ["CREATE TABLE instance ", "CREATE TABLE instance_keys "];
            let is_instance_wide = instance_wide.iter().any(|name| statement.contains(name));
            let leads = statement.contains("PRIMARY KEY (org_id") || statement.contains("org_id TEXT NOT NULL PRIMARY KEY");
            assert!(leads != is_instance_wide, "{statement}");
        }
    }

    #[test]
    fn tables_are_known_by_name() {
        let names: Vec<_> = tables().collect();
        assert!(names.contains(&"orgs") && names.contains(&"audit_events") && names.len() > 20, "{names:?}");
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')), "{names:?}");
    }

    #[test]
    fn comments_are_not_statements() {
        assert_eq!(statements("-- a\n;\n-- b\nSELECT 1;\n").collect::<Vec<_>>(), ["-- b\nSELECT 1"]);
    }
}
