//! What every statement must keep to.
#![cfg(test)]

use std::path::{Path, PathBuf};

use crate::statements::{Statement, statements};
use crate::{files_below, fs, root};

/// Statements that are deliberately not about one org, and why. Every other one must bind its org as `?1`.
const INSTANCE_WIDE: &[(&str, &[&str], &str)] = &[
    (
        "crates/guard/src/identify/sql.rs",
        &["INSTANCE_KEY", "REMEMBER_INSTANCE_KEY", "FORGET_OTHER_INSTANCE_KEYS", "INSTANCE_KEY_STANDS"],
        "the keys of instance admins belong to no org",
    ),
    (
        "crates/guard/src/identify/sql.rs",
        &["ORG_OF_KEY", "ORG_OF_SESSION", "ORG_OF_TOKEN"],
        "a credential finds its org before the org is known",
    ),
    ("crates/guard/src/identify/sql.rs", &["ORGS_WITH_ORPHANS"], "a new instance key revokes what the old one opened in any org"),
    ("crates/guard/src/agents/sql.rs", &["BY_AGENT_KEY"], "an agent's credential finds its org before the org is known"),
    ("crates/guard/src/users/sql.rs", &["BY_EMAIL", "LOGIN"], "a login finds its org before the org is known"),
    ("crates/guard/src/tenants/sql.rs", &["REMEMBER_MASTER_KEY", "MASTER_KEY"], "an instance has one master key"),
    ("crates/guard/src/tenants/sql.rs", &["FIND_ORG", "LIST_ORGS"], "the instance admin looks for orgs"),
    ("crates/guard/src/policies/sql.rs", &["ORGS_WITHOUT"], "an upgrade gives every org its first policy"),
    ("crates/guard/src/hooks/sql.rs", &["ORGS_BEHIND"], "the relay looks for orgs that have something to relay"),
    ("crates/guard/src/audit/sql.rs", &["RESTORE_TOLD", "REMEMBER_RESTORE_TOLD"], "a restore replaces the rows of every org"),
    ("crates/guard/src/rate/sql.rs", &["FORGET_FULL"], "upkeep deletes full buckets of every org"),
    (
        "crates/store/src/sql.rs",
        &["CREATE_SCHEMA_VERSIONS", "NEWEST_SCHEMA_VERSION", "RECORD_SCHEMA_VERSION", "LOCK_MIGRATIONS"],
        "all orgs share one schema",
    ),
    ("crates/store/src/sql.rs", &["PING", "PROBE", "FLUSH"], "the engine is asked, not the data"),
    ("crates/store/src/sql.rs", &["LOCK_ORG"], "it locks the org that is bound, and reads no row"),
    ("crates/store/src/sql.rs", &["LOCK_AS_SERVER", "TRY_LOCK_OUT_SERVERS"], "a restore keeps servers out"),
    (
        "crates/store/src/sql.rs",
        &["SET_TIMEOUTS", "NO_STATEMENT_TIMEOUT", "NO_LOCK_TIMEOUT"],
        "settings of a connection, which read no row",
    ),
    ("crates/store/src/sql.rs", &["REMEMBER_RESTORE", "LAST_RESTORE"], "a restore replaces the rows of every org"),
    (
        "crates/store/src/backup/sql.rs",
        &[
            "SQLITE_TABLES",
            "SQLITE_COLUMNS",
            "POSTGRES_TABLES",
            "POSTGRES_COLUMNS",
            "POSTGRES_PATIENCE",
            "FORGET_INSTANCE_KEYS",
            "DROP_TABLE",
        ],
        "a backup holds every org",
    ),
];

/// Files of statements that only PostgreSQL runs. SQLite never runs these: rates that nodes share are leased from PostgreSQL.
const ONLY_ON_POSTGRES: &[&str] = &["crates/guard/src/rate/sql.rs"];

/// Where each engine's transactions and settings may stand outside `sql.rs` files, and words that only this engine understands.
const ENGINES: [(&str, &[&str]); 2] = [
    ("crates/store/src/postgres", &["ISOLATION LEVEL", "SET LOCAL ", "pg_advisory_"]),
    ("crates/store/src/sqlite", &["\"PRAGMA ", "BEGIN IMMEDIATE", "\"SAVEPOINT "]),
];

fn sql_files() -> Vec<PathBuf> {
    let mut files = files_below(&root().join("crates"), "rs");
    files.retain(|file| file.file_name().is_some_and(|name| name == "sql.rs"));
    files.retain(|file| !file.components().any(|part| part.as_os_str() == "tests"));
    files
}

/// Every statement, with its file as ARCHITECTURE.md would name it.
fn all_statements() -> Vec<(String, Statement)> {
    let named = |file: &Path| file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
    let of_file = |file: PathBuf| {
        let source = fs::read_to_string(&file).unwrap();
        statements(&source).into_iter().map(move |statement| (named(&file), statement))
    };
    sql_files().into_iter().flat_map(of_file).collect()
}

/// Whether each part of a statement is about the org that is bound as `?1`.
fn is_bound(sql: &str) -> bool {
    if sql.starts_with("INSERT ") {
        let org_leads = sql.split_once('(').is_some_and(|(_, columns)| columns.starts_with("org_id,"));
        return org_leads && (sql.contains("VALUES (?1, ") || sql.contains("SELECT ?1, ") || names_org(sql));
    }
    sql.split(" UNION ").all(names_org)
}

/// Whether a condition limits a statement to the org. One that is only an alternative does not.
fn names_org(sql: &str) -> bool {
    let condition = "org_id = ?1";
    sql.match_indices(condition).any(|(place, _)| {
        let rest = &sql[place + condition.len()..];
        !rest.starts_with(" OR ") && !rest.starts_with(|letter: char| letter.is_ascii_digit())
    })
}

/// What is wrong with the columns that a statement answers with: each needs a name in lower case that no other has.
fn wrong_columns(sql: &str) -> Option<String> {
    let (_, after) = cut(sql, "SELECT ").filter(|_| !sql.starts_with("INSERT ")).or_else(|| cut(sql, "RETURNING "))?;
    let list = cut(after, " FROM ").map_or(after, |(list, _)| list);
    let mut seen: Vec<&str> = Vec::new();
    let mut rest = Some(list.trim_start_matches("DISTINCT "));
    while let Some(column) = rest {
        let (column, more) = cut(column, ", ").map_or((column, None), |(column, more)| (column, Some(more)));
        rest = more;
        let name = cut(column, " AS ").map_or_else(|| column.rsplit('.').next().unwrap_or(column), |(_, name)| name);
        if column == "1" && seen.is_empty() && more.is_none() {
            // It asks whether there is a row. Nothing is read.
            return None;
        }
        let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
        if !name.starts_with(|letter: char| letter.is_ascii_lowercase()) || !name.chars().all(is_plain) {
            return Some(format!("`{column}` has no name"));
        }
        if seen.contains(&name) {
            return Some(format!("two columns are named `{name}`"));
        }
        seen.push(name);
    }
    None
}

/// What stands before and after the first `word` that is in no bracket and no literal.
fn cut<'s>(sql: &'s str, word: &str) -> Option<(&'s str, &'s str)> {
    let (mut depth, mut quoted) = (0, false);
    for (place, letter) in sql.char_indices() {
        if depth == 0 && !quoted && sql[place..].starts_with(word) {
            return Some((&sql[..place], &sql[place + word.len()..]));
        }
        match letter {
            '\'' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
    }
    None
}

#[test]
fn every_statement_binds_its_org_or_is_listed() {
    let mut listed: Vec<_> =
        INSTANCE_WIDE.iter().flat_map(|(file, names, _)| names.iter().map(move |name| (*file, *name))).collect();
    let all = all_statements();
    for (file, Statement { name, text }) in &all {
        let place = listed.iter().position(|known| *known == (file.as_str(), name.as_str()));
        let is_listed = place.map(|place| listed.swap_remove(place)).is_some();
        assert!(is_bound(text) || is_listed, "{name} in {file} forgets its org:\n{text}");
        assert!(!is_bound(text) || !is_listed, "{name} in {file} binds its org and need not be listed");
    }
    assert!(listed.is_empty(), "these statements are listed and not there: {listed:?}");
    assert!(all.len() > 250, "{} statements were found", all.len());
}

#[test]
fn a_file_with_a_statement_that_forgets_its_org_is_found() {
    let source = r#"
        macro_rules! bound { () => { "FROM notes WHERE org_id = ?1 AND " }; }
        pub(super) const GOOD: &str = concat!("SELECT id ", bound!(), "id = ?2");
        pub(super) const BAD: &str = concat!("SELECT id ", "FROM notes WHERE id = ?2");
    "#;
    let forgetful = statements(source).into_iter().filter(|statement| !is_bound(&statement.text));
    assert_eq!(forgetful.map(|statement| statement.name).collect::<Vec<_>>(), ["BAD"]);
}

#[test]
fn a_statement_that_forgets_its_org_is_found() {
    let bad = [
        "SELECT id FROM keys WHERE id = ?1",
        "SELECT id FROM keys WHERE org_id = ?2 AND id = ?1",
        "SELECT id FROM keys WHERE org_id = ?10",
        "SELECT org_id FROM orgs WHERE org_id = ?1 OR slug = ?1",
        "SELECT id FROM entities WHERE org_id = ?1 UNION ALL SELECT id FROM triplets",
        "INSERT INTO instance_keys (hash, node) VALUES (?1, ?2)",
        "INSERT INTO keys (org_id, id) VALUES (?2, ?1)",
        "UPDATE keys SET revoked_at = ?2 WHERE id = ?1",
        "DELETE FROM keys",
    ];
    for sql in bad {
        assert!(!is_bound(sql), "{sql}");
    }
    let good = [
        "SELECT id FROM keys WHERE org_id = ?1 AND id = ?2",
        "SELECT id FROM entities WHERE org_id = ?1 UNION ALL SELECT id FROM triplets WHERE org_id = ?1",
        "INSERT INTO keys (org_id, id) VALUES (?1, ?2)",
        "INSERT INTO pins (org_id, id) SELECT org_id, id FROM bricks WHERE org_id = ?1",
        "DELETE FROM keys WHERE org_id = ?1",
    ];
    for sql in good {
        assert!(is_bound(sql), "{sql}");
    }
}

#[test]
fn every_selected_column_has_a_name_that_no_other_has() {
    for (file, Statement { name, text }) in all_statements() {
        if let Some(wrong) = wrong_columns(&text) {
            panic!("{name} in {file}: {wrong}");
        }
    }
}

#[test]
fn a_column_without_a_name_of_its_own_is_found() {
    let bad = [
        "SELECT id, count(*) FROM keys",
        "SELECT CAST(sum(calls) AS BIGINT) FROM costs",
        "SELECT k.id, p.id FROM keys k JOIN keys p ON p.id = k.parent",
        "SELECT id AS Id FROM keys",
        "SELECT DISTINCT model || 'x' FROM vectors",
        "SELECT id, 1 FROM keys",
        "INSERT INTO keys (org_id) VALUES (?1) RETURNING number + 1",
    ];
    for sql in bad {
        assert!(wrong_columns(sql).is_some(), "{sql}");
    }
    let good = [
        "SELECT k.id, p.id AS parent_id, (SELECT count(*) FROM keys) AS count FROM keys k JOIN keys p ON p.id = k.parent",
        "SELECT DISTINCT org_id FROM keys",
        "SELECT 1 FROM keys",
        "WITH RECURSIVE line (id) AS (SELECT 1, 2 FROM keys) SELECT id FROM line",
        "INSERT INTO keys (org_id) SELECT CAST(?1 AS TEXT) FROM orgs",
        "DELETE FROM keys WHERE org_id = ?1 AND id IN (SELECT 1 + 1 FROM keys)",
    ];
    for sql in good {
        assert_eq!(wrong_columns(sql), None, "{sql}");
    }
}

#[test]
fn what_only_one_engine_understands_says_so() {
    let engine_words = ["clock_timestamp(", "extract(epoch", "pg_", "::bigint", "::text", "pragma_", "sqlite_schema"];
    for known in ONLY_ON_POSTGRES {
        let text = fs::read_to_string(root().join(known)).unwrap();
        assert!(text.contains("PostgreSQL only"), "{known} says that it is of one engine");
    }
    for file in sql_files().iter().filter(|file| !ONLY_ON_POSTGRES.iter().any(|known| file.ends_with(known))) {
        let text = fs::read_to_string(file).unwrap();
        // A statement and the comment above it.
        for statement in text.split("\n\n").filter(|part| engine_words.iter().any(|word| part.contains(word))) {
            let says = statement.contains("PostgreSQL only") || statement.contains("SQLite only");
            assert!(says, "{} has a statement of one engine that does not say so:\n{statement}", file.display());
        }
    }
}

#[test]
fn an_engines_transactions_and_settings_stay_in_its_folder() {
    for file in files_below(&root().join("crates"), "rs") {
        let is_test = file.components().any(|part| part.as_os_str() == "tests");
        if is_test || file.ends_with("sql.rs") || file.starts_with(root().join("crates/testkit")) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (folder, words) in ENGINES.iter().filter(|(folder, _)| !file.starts_with(root().join(folder))) {
            for word in *words {
                assert!(!product.contains(word), "{} holds {word}: it belongs into {folder}", file.display());
            }
        }
    }
}
