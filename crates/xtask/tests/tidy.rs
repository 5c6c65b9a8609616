//! Tidiness as a test: the invariants of ARCHITECTURE.md that a compiler does not see.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "tidy/sql.rs"]
mod sql;
#[path = "tidy/statements.rs"]
mod statements;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use xtask::root;

/// Which of our crates each crate may depend on, tests aside. The drawing in ARCHITECTURE.md, as data.
const MAY_DEPEND_ON: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("graph", &[]),
    ("simd", &[]),
    ("syntax", &[]),
    ("search", &["base", "simd"]),
    ("code", &["base", "graph", "search", "store", "syntax"]),
    ("knowledge", &["base", "graph", "search", "store"]),
    ("store", &["base"]),
    ("policy", &["base"]),
    ("audit", &["base"]),
    ("guard", &["audit", "base", "policy", "store"]),
    ("kits", &["base", "store"]),
    ("mcp", &["base"]),
    ("tools", &["base", "code", "guard", "kits", "knowledge", "mcp"]),
    ("server", &["audit", "base", "code", "guard", "kits", "knowledge", "mcp", "policy", "search", "store", "tools"]),
    ("bench", &["audit", "base", "graph", "search", "store", "syntax"]),
    ("cli", &["audit", "base", "bench", "code", "guard", "knowledge", "mcp", "policy", "search", "server", "store"]),
    ("testkit", &["base", "store"]),
    ("xtask", &["base", "guard", "mcp", "server", "tools"]),
];

/// Crates that must stay free of a heavy or forbidden dependency.
const MUST_NOT_USE: &[(&str, &[&str])] = &[
    ("base", &["tokio", "axum", "rusqlite", "reqwest"]),
    ("mcp", &["tokio", "axum", "hyper"]),
    ("policy", &["tokio", "axum", "store"]),
    ("audit", &["tokio", "axum", "store"]),
    ("graph", &["axum", "base", "rusqlite", "serde", "store", "tokio"]),
    ("guard", &["axum", "mcp", "reqwest", "rusqlite"]),
    ("search", &["axum", "rusqlite", "store", "tokio"]),
    ("kits", &["axum", "guard", "mcp", "rusqlite", "tokio-postgres"]),
    ("search", &["axum", "guard", "reqwest", "rusqlite", "store", "tokio"]),
    ("tools", &["axum", "rusqlite", "tokio-postgres", "store"]),
];

const LINES_MAX: usize = 400;

fn dependencies(krate: &str) -> Vec<String> {
    let manifest = fs::read_to_string(root().join("crates").join(krate).join("Cargo.toml")).unwrap();
    let mut names = Vec::new();
    let mut inside = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line == "[dependencies]";
        } else if inside && let Some(name) = line.split(['.', ' ', '=']).next().filter(|name| !name.is_empty()) {
            names.push(name.to_owned());
        }
    }
    names
}

fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() && !entry.ends_with("target") {
            found.extend(files_below(&entry, extension));
        } else if entry.extension().is_some_and(|found| found == extension) {
            found.push(entry);
        }
    }
    found
}

#[test]
fn arrows_point_down_only() {
    let allowed: BTreeMap<_, _> = MAY_DEPEND_ON.iter().copied().collect();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let allowed = allowed.get(name.as_str()).unwrap_or_else(|| panic!("{name} is not in the drawing"));
        let ours = dependencies(&name).into_iter().filter(|dependency| root().join("crates").join(dependency).is_dir());
        for dependency in ours {
            assert!(allowed.contains(&dependency.as_str()), "{name} may not depend on {dependency}");
        }
    }
}

#[test]
fn crates_keep_away_from_what_they_must_not_use() {
    for (name, forbidden) in MUST_NOT_USE {
        for dependency in dependencies(name) {
            assert!(!forbidden.contains(&dependency.as_str()), "{name} must not use {dependency}");
        }
    }
}

#[test]
fn files_stay_readable() {
    for file in files_below(&root().join("crates"), "rs") {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= LINES_MAX, "{} has {lines} lines: would two rooms be clearer?", file.display());
    }
}

#[test]
fn sql_lives_in_sql_files_only() {
    let verbs = ["\"SELECT ", "\"INSERT INTO", "\"UPDATE ", "\"DELETE FROM", "\"WITH RECURSIVE"];
    for file in files_below(&root().join("crates"), "rs") {
        let is_test = file.components().any(|part| part.as_os_str() == "tests");
        if file.file_name().is_some_and(|name| name == "sql.rs") || is_test || file.starts_with(root().join("crates/testkit")) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        for verb in verbs {
            assert!(!product.contains(verb), "{} holds SQL ({verb}…): it belongs into sql.rs", file.display());
        }
    }
}

#[test]
fn generated_documents_are_up_to_date() {
    for (path, text) in xtask::generate::files().unwrap() {
        let committed = fs::read_to_string(root().join(path)).unwrap_or_default();
        assert!(committed == text, "{path} is out of date: run `make generate`");
    }
}

#[test]
fn every_fuzz_target_is_run_by_soak() {
    let mut found: Vec<_> = files_below(&root().join("fuzz/fuzz_targets"), "rs")
        .into_iter()
        .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    found.sort();
    assert_eq!(found, xtask::soak::FUZZ_TARGETS);
}

#[test]
fn no_file_names_the_machine_it_was_written_on() {
    let needles = [concat!("/ro", "ot/"), concat!("/wo", "rk/")];
    for extension in ["rs", "md", "toml", "json", "yml", "py", "mjs", "sh"] {
        for file in files_below(&root().join("crates"), extension).into_iter().chain(files_below(&root().join("docs"), extension))
        {
            let text = fs::read_to_string(&file).unwrap();
            for needle in needles {
                assert!(!text.contains(needle), "{} names {needle}", file.display());
            }
        }
    }
}

#[test]
fn files_that_the_checklists_name_are_there() {
    let mut named = 0;
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/adding-a-tool.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let is_plain =
            |path: &&str| path.starts_with("crates/") && !path.contains(['<', '{', '…', ' ']) && !path.contains("NNNN");
        for path in text.split('`').filter(is_plain) {
            assert!(root().join(path).exists(), "{document} names {path}, which is not there");
            named += 1;
        }
    }
    assert!(named > 40, "{named} paths were found");
}
