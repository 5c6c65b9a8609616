//! What deny.toml states about the dependency tree, as tests that need nothing but cargo.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod licence;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use semver::{Version, VersionReq};
use serde_json::Value;
use toml::Table;
use xtask::root;

/// What deny.toml states besides the lists that are read below.
const THE_REST: &str = r#"
[licenses]

[bans]
multiple-versions = "warn"
wildcards = "deny"
allow-wildcard-paths = true

[bans.workspace-dependencies]
unused = "deny"

[sources]
unknown-git = "deny"
unknown-registry = "deny"
"#;

fn read(path: &str) -> Table {
    let text = fs::read_to_string(root().join(path)).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Takes a list out of a section.
fn take(table: &mut Table, section: &str, name: &str) -> Vec<toml::Value> {
    let list = table.get_mut(section).and_then(|section| section.as_table_mut()?.remove(name));
    list.and_then(|list| list.as_array().cloned()).unwrap_or_else(|| panic!("there is no list {section}.{name}"))
}

/// The licences that are allowed.
fn allowed() -> BTreeSet<String> {
    let licences = take(&mut read("deny.toml"), "licenses", "allow");
    licences.iter().map(|licence| licence.as_str().unwrap().to_owned()).collect()
}

/// The banned crates, each with the reason.
fn bans() -> Vec<(String, String)> {
    let bans = take(&mut read("deny.toml"), "bans", "deny");
    let text = |ban: &toml::Value, member: &str| ban.get(member).and_then(toml::Value::as_str).unwrap().to_owned();
    bans.iter().map(|ban| (text(ban, "crate"), text(ban, "reason"))).collect()
}

/// Name, version and source of every crate in Cargo.lock, which has those of all platforms. Ours have no source.
fn locked() -> Vec<(String, Version, Option<String>)> {
    let lock = read("Cargo.lock");
    let text = |package: &toml::Value, member: &str| package.get(member).and_then(toml::Value::as_str).map(str::to_owned);
    let packages = lock.get("package").and_then(toml::Value::as_array).unwrap();
    let version = |package| Version::parse(&text(package, "version").unwrap()).unwrap();
    packages.iter().map(|package| (text(package, "name").unwrap(), version(package), text(package, "source"))).collect()
}

/// The packages that a build on this machine needs. Those of other platforms may never have been downloaded.
fn packages() -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let asked = Command::new(cargo)
        .args(["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", "host-tuple"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let mut answer: Value = serde_json::from_slice(&asked.stdout).unwrap();
    let packages = answer.get_mut("packages").and_then(Value::as_array_mut).map(std::mem::take).unwrap();
    assert!(packages.len() > 100, "{} packages", packages.len());
    packages
}

fn text<'v>(package: &'v Value, member: &str) -> Option<&'v str> {
    package.get(member).and_then(Value::as_str)
}

/// Those of our own crates, and those of others.
fn ours_and_others() -> (Vec<Value>, Vec<Value>) {
    packages().into_iter().partition(|package| text(package, "source").is_none())
}

#[test]
fn nothing_is_stated_that_is_not_checked() {
    let mut stated = read("deny.toml");
    take(&mut stated, "licenses", "allow");
    take(&mut stated, "bans", "deny");
    assert_eq!(stated, toml::from_str(THE_REST).unwrap(), "what is new in deny.toml needs a test here");
}

#[test]
fn every_licence_is_allowed() {
    let allowed = allowed();
    let (ours, others) = ours_and_others();
    for package in ours.iter().chain(&others) {
        let name = text(package, "name").unwrap();
        let stated = text(package, "license").unwrap_or_else(|| panic!("{name} states no licence"));
        assert_eq!(licence::is_satisfied(stated, &allowed), Ok(true), "{name}: `{stated}` is not allowed by deny.toml");
    }
}

#[test]
fn everything_comes_from_the_registry() {
    let crates = fs::read_dir(root().join("crates")).unwrap().count();
    let (ours, others): (Vec<_>, Vec<_>) = locked().into_iter().map(|(_, _, source)| source).partition(Option::is_none);
    assert_eq!(ours.len(), crates, "only the crates of this workspace lie on this disk");
    let sources = others.into_iter().flatten().collect::<BTreeSet<_>>();
    assert!(sources.len() == 1 && sources.iter().all(|source| source.starts_with("registry+")), "one registry: {sources:?}");
}

/// Whether a ban means this crate.
fn is_meant(spec: &str, name: &str, version: &Version) -> bool {
    let (banned, versions) = spec.split_once(':').unwrap_or((spec, "*"));
    let versions = VersionReq::parse(versions).unwrap_or_else(|error| panic!("deny.toml, `{spec}`: {error}"));
    banned == name && versions.matches(version)
}

#[test]
fn banned_crates_are_not_there() {
    let locked = locked();
    for (spec, reason) in bans() {
        for (name, version, _) in &locked {
            assert!(!is_meant(&spec, name, version), "{name} {version} is banned: {reason}");
        }
    }
}

#[test]
fn a_ban_means_a_crate_or_some_versions_of_it() {
    let version = |text: &str| Version::parse(text).unwrap();
    assert!(is_meant("openssl-sys", "openssl-sys", &version("0.9.1")));
    assert!(!is_meant("openssl-sys", "openssl", &version("0.9.1")));
    assert!(is_meant("libsqlite3-sys:<0.37", "libsqlite3-sys", &version("0.36.9")));
    assert!(!is_meant("libsqlite3-sys:<0.37", "libsqlite3-sys", &version("0.37.0")));
}

#[test]
fn no_dependency_takes_any_version() {
    for package in ours_and_others().0 {
        for dependency in package.get("dependencies").and_then(Value::as_array).unwrap() {
            let is_path = text(dependency, "path").is_some();
            let (from, to) = (text(&package, "name").unwrap(), text(dependency, "name").unwrap());
            assert!(is_path || text(dependency, "req") != Some("*"), "{from} takes any version of {to}");
        }
    }
}

/// What a manifest's tables of dependencies take from the workspace, those for tests and for some platforms too.
fn taken_from_the_workspace(manifest: &Table) -> Vec<String> {
    let mut taken = Vec::new();
    for (name, value) in manifest {
        let Some(table) = value.as_table() else { continue };
        if !name.ends_with("dependencies") {
            taken.extend(taken_from_the_workspace(table));
            continue;
        }
        let is_taken = |dependency: &toml::Value| dependency.get("workspace").and_then(toml::Value::as_bool) == Some(true);
        taken.extend(table.iter().filter(|(_, dependency)| is_taken(dependency)).map(|(name, _)| name.clone()));
    }
    taken
}

#[test]
fn every_dependency_of_the_workspace_is_taken() {
    let manifest = read("Cargo.toml");
    let workspace = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies")).unwrap();
    let mut taken = BTreeSet::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().file_name().into_string().unwrap();
        taken.extend(taken_from_the_workspace(&read(&format!("crates/{folder}/Cargo.toml"))));
    }
    for (name, _) in workspace.as_table().unwrap() {
        assert!(taken.contains(name), "no crate takes `{name}` from the workspace");
    }
}
