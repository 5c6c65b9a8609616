//! Statements of backups. They are made from the names of tables and columns, which are checked to be spelled like ours.

use super::table::Table;

/// SQLite only: the tables of a database.
pub(crate) const SQLITE_TABLES: &str =
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite@_%' ESCAPE '@'";

/// SQLite only: a table's columns, each with its place in the primary key or 0.
pub(crate) const SQLITE_COLUMNS: &str = "SELECT name, pk FROM pragma_table_info(?1) ORDER BY cid";

/// PostgreSQL only: the tables of the schema that unqualified names mean.
pub(crate) const POSTGRES_TABLES: &str = "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')";

/// PostgreSQL only: a table's columns, each with its place in the primary key or 0.
pub(crate) const POSTGRES_COLUMNS: &str =
    "SELECT a.attname::text, COALESCE(array_position(i.indkey::int2[], a.attnum) + 1, 0)::bigint
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
       LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
     WHERE n.nspname = current_schema() AND c.relname = ?1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";

/// PostgreSQL only: how many connections servers have to this database.
pub(crate) const POSTGRES_NODES: &str = "SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'toolcrib' AND pid <> pg_backend_pid()";

/// PostgreSQL only: reading or writing a whole table takes the time it takes.
pub(crate) const POSTGRES_PATIENCE: &str = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

/// What removes a table; its name follows.
pub(crate) const DROP_TABLE: &str = "DROP TABLE ";

/// Every row of a table, in the order of its primary key.
pub(crate) fn select_all(table: &Table) -> String {
    format!("SELECT {} FROM {} ORDER BY {}", table.columns.join(", "), table.name, table.key.join(", "))
}

/// One row into a table.
pub(crate) fn insert_into(table: &Table) -> String {
    let places: Vec<_> = (1..=table.columns.len()).map(|index| format!("?{index}")).collect();
    format!("INSERT INTO {} ({}) VALUES ({})", table.name, table.columns.join(", "), places.join(", "))
}

/// PostgreSQL only: many rows into a table.
pub(crate) fn copy_into(table: &Table) -> String {
    format!("COPY {} ({}) FROM STDIN BINARY", table.name, table.columns.join(", "))
}

/// How many rows a table has.
pub(crate) fn count(table: &Table) -> String {
    format!("SELECT count(*) FROM {}", table.name)
}

/// Removes every row of a table.
pub(crate) fn empty(table: &Table) -> String {
    format!("DELETE FROM {}", table.name)
}
