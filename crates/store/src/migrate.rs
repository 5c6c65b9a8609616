//! Migrations: numbered texts, each applied once, in one transaction, by one node.

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
];

/// The schema this release writes. A store that is ahead of it is refused: an old release must not touch it.
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// Brings the schema up to [`SCHEMA_VERSION`]. The caller holds the engine's migration lock.
pub(crate) fn migrate(tx: &mut Tx<'_>, clock: &Clock) -> Result<()> {
    tx.execute(sql::CREATE_SCHEMA_VERSIONS, &[])?;
    let found = tx.first(sql::NEWEST_SCHEMA_VERSION, &[], |row| row.get::<Option<i64>>(0))?.flatten().unwrap_or(0);
    if found > SCHEMA_VERSION {
        return Err(Error::new(
            Kind::Conflict,
            format!(
                "the data was written by a newer release (schema {found}, this release knows {SCHEMA_VERSION}): start that release, or restore a backup made before the upgrade"
            ),
        ));
    }
    for (version, text) in (1_i64..).zip(MIGRATIONS).filter(|(version, _)| *version > found) {
        for statement in statements(text) {
            tx.execute(statement, &[])?;
        }
        tx.execute(sql::RECORD_SCHEMA_VERSION, &params![version, clock.now()])?;
        tracing::info!(version, "schema migrated");
    }
    Ok(())
}

/// The statements of a migration: split at semicolons, comments and blanks dropped. Migrations hold no string literals.
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
    fn every_table_of_an_org_leads_its_primary_key_with_the_org() {
        for statement in MIGRATIONS.iter().flat_map(|text| statements(text)).filter(|text| text.contains("CREATE TABLE")) {
            let instance_wide = ["CREATE TABLE instance ", "CREATE TABLE instance_keys "];
            let is_instance_wide = instance_wide.iter().any(|name| statement.contains(name));
            let leads = statement.contains("PRIMARY KEY (org_id") || statement.contains("org_id TEXT NOT NULL PRIMARY KEY");
            assert!(leads != is_instance_wide, "{statement}");
        }
    }

    #[test]
    fn comments_are_no_statements() {
        assert_eq!(statements("-- a\n;\n-- b\nSELECT 1;\n").collect::<Vec<_>>(), ["-- b\nSELECT 1"]);
    }
}
