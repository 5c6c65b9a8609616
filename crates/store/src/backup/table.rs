//! A table as the engine describes it.

use base::{Error, Result};

use crate::row::Row;

/// A table, its columns in order, and the columns of its primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) columns: Vec<String>,
    pub(crate) key: Vec<String>,
}

/// Saved first: it identifies the master key of the data, so a wrong key is refused before anything is loaded.
const FIRST: &str = "instance";
/// Saved last: its entries are verified with the keys in another table.
const LAST: &str = "audit_events";
/// This table describes the database and not the data. The header of a backup has the schema version.
const SCHEMA_VERSIONS: &str = "schema_versions";

impl Table {
    /// A column and its place in the primary key, or 0.
    pub(crate) fn column_from_row(row: &Row<'_>) -> Result<(String, i64)> {
        Ok((row.get("name")?, row.get("pk")?))
    }

    /// A table from rows of (column, place in the primary key or 0), in the order of the columns.
    pub(crate) fn new(name: String, described: Vec<(String, i64)>) -> Result<Self> {
        let mut key: Vec<_> = described.iter().filter(|(_, place)| *place > 0).collect();
        key.sort_by_key(|(_, place)| *place);
        let key: Vec<_> = key.into_iter().map(|(column, _)| column.clone()).collect();
        let columns: Vec<_> = described.into_iter().map(|(column, _)| column).collect();
        if !std::iter::once(&name).chain(&columns).all(|name| is_plain_name(name)) || key.is_empty() {
            return Err(Error::internal(format_args!("the table `{name}` is not one of ours")));
        }
        Ok(Self { name, columns, key })
    }
}

/// Whether a name looks like one of ours, so that it is safe inside a statement.
pub(crate) fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The tables with data, in the order of a backup.
pub(super) fn in_order(mut tables: Vec<Table>) -> Vec<Table> {
    tables.retain(|table| table.name != SCHEMA_VERSIONS);
    let rank = |table: &Table| (table.name != FIRST, table.name == LAST);
    tables.sort_by(|one, other| rank(one).cmp(&rank(other)).then_with(|| one.name.cmp(&other.name)));
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_check_others_come_first() {
        let table = |name: &str| Table::new(name.to_owned(), vec![("id".to_owned(), 1)]).unwrap();
        let names = ["audit_events", "audit_keys", "webhooks", "instance", "schema_versions"].map(table).to_vec();
        let names: Vec<_> = in_order(names).into_iter().map(|table| table.name).collect();
        assert_eq!(names, ["instance", "audit_keys", "webhooks", "audit_events"]);
        assert!(Table::new("x; DROP".to_owned(), vec![("id".to_owned(), 1)]).is_err());
    }
}
