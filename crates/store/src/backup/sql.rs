//! Statements for backups. They contain names of tables and columns, which are first checked to look like ours.

use super::table::Table;

/// SQLite only: the tables of a database.
pub(crate) const SQLITE_TABLES: &str =
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite@_%' ESCAPE '@'";

/// SQLite only: a table's columns, each with its position in the primary key, or 0.
pub(crate) const SQLITE_COLUMNS: &str = "SELECT name, pk FROM pragma_table_info(?1) ORDER BY cid";

/// PostgreSQL only: the tables of the current schema.
pub(crate) const POSTGRES_TABLES: &str =
    "SELECT c.relname::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')";

/// PostgreSQL only: a table's columns, each with its position in the primary key, or 0.
pub(crate) const POSTGRES_COLUMNS: &str =
    "SELECT a.attname::text AS name, COALESCE(array_position(i.indkey::int2[], a.attnum) + 1, 0)::bigint AS pk
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
       LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
     WHERE n.nspname = current_schema() AND c.relname = ?1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";

/// PostgreSQL only: removes the timeouts, because reading or writing a whole table can take long.
pub(crate) const POSTGRES_PATIENCE: &str = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

/// The keys of every instance admin.
pub(crate) const FORGET_INSTANCE_KEYS: &str = "DELETE FROM instance_keys";

/// Removes a table. Its name follows.
pub(crate) const DROP_TABLE: &str = "DROP TABLE ";

/// Every row of a table, in primary key order.
pub(crate) fn select_all(table: &Table) -> String {
    format!("SELECT {} FROM {} ORDER BY {}", table.columns.join(", "), table.name, table.key.join(", "))
}

/// Inserts one row into a table.
pub(crate) fn insert_into(table: &Table) -> String {
    let places: Vec<_> = (1..=table.columns.len()).map(|index| format!("?{index}")).collect();
    format!("INSERT INTO {} ({}) VALUES ({})", table.name, table.columns.join(", "), places.join(", "))
}

/// PostgreSQL only: inserts many rows into a table.
pub(crate) fn copy_into(table: &Table) -> String {
    format!("COPY {} ({}) FROM STDIN BINARY", table.name, table.columns.join(", "))
}

/// The number of rows of a table.
pub(crate) fn count(table: &Table) -> String {
    format!("SELECT count(*) AS count FROM {}", table.name)
}

/// Removes every row of a table.
pub(crate) fn empty(table: &Table) -> String {
    format!("DELETE FROM {}", table.name)
}
