//! Tests of how settings are combined, and of the example file.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Args;

use super::embed::embed_key;
use super::limits::named;
use super::resolved::{CONFIG_FILE, master_key};
use super::*;
use server::{EmbedKey, MasterKeySource};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../toolcrib.example.toml");

fn flags(arguments: &[&str]) -> Settings {
    use clap::FromArgMatches;
    let command = Settings::augment_args(clap::Command::new("test").no_binary_name(true));
    Settings::from_arg_matches(&command.try_get_matches_from(arguments).unwrap()).unwrap()
}

fn load(folder: &Path, file: &str, arguments: &[&str]) -> anyhow::Result<Resolved> {
    let path = folder.join("settings.toml");
    std::fs::write(&path, file).unwrap();
    let mut all = vec!["--data", folder.to_str().unwrap()];
    all.extend(arguments);
    Resolved::load(flags(&all), Some(&path))
}

#[test]
fn flag_overrides_file_and_file_overrides_default() {
    let folder = tempfile::tempdir().unwrap();
    let file = "listen = \"127.0.0.1:1\"\nserver_name = \"crib\"\n[limits]\nbatch_messages_max = 7\njson_depth_max = 9\n";
    let config = load(folder.path(), file, &["--listen", "127.0.0.1:2", "--limits-json-depth-max", "10"]).unwrap().server();
    assert_eq!(config.listen.port(), 2);
    assert_eq!(config.server_name, "crib");
    assert_eq!((config.limits.batch_messages_max, config.limits.json_depth_max), (7, 10));
    assert_eq!(config.limits.drain_seconds, base::limits::Limits::default().drain_seconds);
}

#[test]
fn lists_accept_repeated_flags_and_commas() {
    let settings = flags(&["--allow-host", "a", "--allow-host", "b,c"]);
    assert_eq!(settings.allow_host.unwrap(), ["a", "b", "c"]);
}

#[test]
fn paths_in_a_file_are_relative_to_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let config = load(folder.path(), "allow_root = [\"code\", \"/srv\"]\nmaster_key_file = \"m\"\n", &[]).unwrap().server();
    assert_eq!(config.allow_roots, [folder.path().join("code"), "/srv".into()]);
    assert!(matches!(config.master_key, MasterKeySource::File(path) if path == folder.path().join("m")));
}

#[test]
fn unknown_key_is_refused_with_a_list_of_known_keys() {
    let folder = tempfile::tempdir().unwrap();
    let error = format!("{:#}", load(folder.path(), "lisen = \"127.0.0.1:1\"\n", &[]).unwrap_err());
    assert!(error.contains("lisen") && error.contains("`listen`") && error.contains("settings.toml"), "{error}");
    let error = format!("{:#}", load(folder.path(), "[limits]\nbody = 1\n", &[]).unwrap_err());
    assert!(error.contains("body") && error.contains("body_bytes_max"), "{error}");
}

#[test]
fn invalid_public_url_is_refused_in_flag_and_file() {
    let folder = tempfile::tempdir().unwrap();
    for (file, flags) in [("public_url = \"crib.example\"\n", &[][..]), ("", &["--public-url", "crib.example"])] {
        let error = format!("{:#}", load(folder.path(), file, flags).unwrap_err());
        assert!(error.contains("public URL") && error.contains("`crib.example`") && error.contains("https://"), "{error}");
    }
    assert!(load(folder.path(), "", &["--public-url", "https://crib.example/"]).is_ok());
}

#[test]
fn limit_below_its_minimum_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (key, _) in named(&base::limits::Limits::default()) {
        let loaded = load(folder.path(), &format!("[limits]\n{key} = 0\n"), &[]);
        if key == "drain_seconds" {
            assert!(loaded.is_ok(), "a shutdown need not wait");
            continue;
        }
        let error = format!("{:#}", loaded.unwrap_err());
        let flag = format!("--limits-{}", key.replace('_', "-"));
        assert!(error.contains(key) && error.contains(&flag) && error.contains("or more"), "{key}: {error}");
    }
    let error = load(folder.path(), "", &["--limits-connections-max", "0"]).unwrap_err().to_string();
    assert!(error.contains("--limits-connections-max"), "{error}");
    assert!(load(folder.path(), "", &["--limits-connections-max", "1"]).is_ok());
}

#[test]
fn explicit_settings_file_must_exist() {
    let error = Resolved::load(flags(&["--data", "/nowhere"]), Some(Path::new("/nowhere/x.toml"))).unwrap_err();
    assert!(error.to_string().contains("/nowhere/x.toml"));
}

#[test]
fn file_in_the_data_folder_is_read_and_cannot_change_the_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = ["--data", folder.path().to_str().unwrap()];
    std::fs::write(folder.path().join(CONFIG_FILE), "server_name = \"own\"\n").unwrap();
    assert_eq!(Resolved::load(flags(&data), None).unwrap().server().server_name, "own");
    std::fs::write(folder.path().join(CONFIG_FILE), "data = \"/elsewhere\"\n").unwrap();
    // The flag would win, but the conflicting file is probably a mistake.
    assert!(Resolved::load(flags(&data), None).is_err());
}

#[test]
fn master_key_source_follows_precedence() {
    let file = |path: &str| Settings { master_key_file: Some(path.into()), ..Settings::default() };
    let none = Settings::default();
    let given = || Some("hex".to_owned());
    assert!(matches!(master_key(&file("a"), &file("b"), given()), MasterKeySource::File(path) if path == Path::new("a")));
    assert!(matches!(master_key(&none, &file("b"), given()), MasterKeySource::Given(_)));
    assert!(matches!(master_key(&none, &file("b"), None), MasterKeySource::File(path) if path == Path::new("b")));
    assert!(matches!(master_key(&none, &none, None), MasterKeySource::DataFolder));
}

#[test]
fn embedding_endpoint_must_be_complete_and_its_key_follows_precedence() {
    let folder = tempfile::tempdir().unwrap();
    let whole = "embed_url = \"http://127.0.0.1:1/v1\"\nembed_model = \"m\"\nembed_key_file = \"key\"\n";
    let named = load(folder.path(), whole, &["--embed-dimension", "8"]).unwrap().server().embed_endpoint.unwrap();
    assert_eq!((named.url.as_str(), named.model.as_str(), named.dimension.unwrap().get()), ("http://127.0.0.1:1/v1", "m", 8));
    assert!(matches!(named.key, EmbedKey::File(path) if path == folder.path().join("key")));
    assert_eq!((named.query_prefix.as_str(), named.text_prefix.as_str()), ("", ""));
    let prefixed = format!("{whole}embed_query_prefix = \"query: \"\nembed_text_prefix = \"passage: \"\n");
    let named = load(folder.path(), &prefixed, &["--embed-text-prefix", "- "]).unwrap().server().embed_endpoint.unwrap();
    assert_eq!((named.query_prefix.as_str(), named.text_prefix.as_str()), ("query: ", "- "), "spaces stay");
    // An empty flag overrides the file.
    let named = load(folder.path(), &prefixed, &["--embed-query-prefix", ""]).unwrap().server().embed_endpoint.unwrap();
    assert_eq!((named.query_prefix.as_str(), named.text_prefix.as_str()), ("", "passage: "));
    assert!(load(folder.path(), "", &[]).unwrap().server().embed_endpoint.is_none());
    for (half, missing) in [
        (&["--embed-url", "http://127.0.0.1:1/v1"][..], "--embed-model"),
        (&["--embed-model", "m"], "--embed-url"),
        (&["--embed-dimension", "8"], "--embed-url"),
        (&["--embed-key-file", "k"], "--embed-url"),
        (&["--embed-query-prefix", "query: "], "--embed-url"),
        (&["--embed-text-prefix", "passage: "], "--embed-url"),
    ] {
        let error = load(folder.path(), "", half).unwrap_err().to_string();
        assert!(error.contains(missing), "{error}");
    }
    let file = |path: &str| Settings { embed_key_file: Some(path.into()), ..Settings::default() };
    let none = Settings::default();
    let given = || Some("sk".to_owned());
    assert!(matches!(embed_key(&file("a"), &file("b"), given()), EmbedKey::File(path) if path == Path::new("a")));
    assert!(matches!(embed_key(&none, &file("b"), given()), EmbedKey::Given(_)));
    assert!(matches!(embed_key(&none, &file("b"), None), EmbedKey::File(path) if path == Path::new("b")));
    assert!(matches!(embed_key(&none, &none, None), EmbedKey::None));
}

/// Every flag of the settings, with its environment variable.
fn long_names() -> Vec<(String, String)> {
    let command = Settings::augment_args(clap::Command::new("test"));
    let name = |argument: &clap::Arg| {
        (argument.get_long().unwrap().to_owned(), argument.get_env().unwrap().to_str().unwrap().to_owned())
    };
    command.get_arguments().map(name).collect()
}

#[test]
fn every_flag_has_a_matching_variable() {
    for (flag, variable) in long_names() {
        assert_eq!(variable, format!("TOOLCRIB_{}", flag.to_uppercase().replace('-', "_")));
    }
}

#[test]
fn commands_without_a_server_have_every_flag_of_the_embedder() {
    use clap::FromArgMatches;
    let command = EmbedArgs::augment_args(clap::Command::new("test").no_binary_name(true));
    let flags: Vec<_> = command.get_arguments().filter_map(|argument| argument.get_long()).map(str::to_owned).collect();
    let known = long_names().into_iter().map(|(flag, _)| flag).filter(|flag| flag.starts_with("embed-"));
    assert_eq!(flags, known.collect::<Vec<_>>());
    let arguments = ["--embed-url=http://127.0.0.1:1/v1", "--embed-model=m", "--embed-dimension=8", "--embed-query-prefix=q: "];
    let arguments = arguments.into_iter().chain(["--embed-text-prefix=t: ", "--embed-key-file=k"]);
    let named = EmbedArgs::from_arg_matches(&command.try_get_matches_from(arguments).unwrap()).unwrap();
    let named = named.endpoint().unwrap().unwrap();
    assert_eq!((named.url.as_str(), named.model.as_str(), named.dimension.unwrap().get()), ("http://127.0.0.1:1/v1", "m", 8));
    assert_eq!((named.query_prefix.as_str(), named.text_prefix.as_str()), ("q: ", "t: "));
    assert!(matches!(named.key, EmbedKey::File(path) if path == Path::new("k")));
}

/// The example file as it is, and with its commented-out settings (`#key = …`) turned on.
fn example() -> (String, String) {
    let text = std::fs::read_to_string(EXAMPLE).unwrap();
    let is_off = |line: &str| line.strip_prefix('#').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
    let on = text.lines().map(|line| if is_off(line) { line.get(1..).unwrap() } else { line }).collect::<Vec<_>>().join("\n");
    (text, on)
}

#[test]
fn example_file_lists_exactly_the_known_keys() {
    let table: toml::Table = toml::from_str(&example().1).unwrap();
    let mut keys: BTreeSet<String> = table.keys().filter(|key| *key != "limits").cloned().collect();
    keys.extend(table["limits"].as_table().unwrap().keys().map(|key| format!("limits_{key}")));
    let known = long_names().into_iter().map(|(flag, _)| flag.replace('-', "_")).collect::<BTreeSet<_>>();
    assert_eq!(keys, known);
    toml::from_str::<Settings>(&example().1).unwrap();
}

#[test]
fn example_file_matches_the_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let shown = load(folder.path(), &example().0, &[]).unwrap();
    let real = load(folder.path(), "", &[]).unwrap();
    assert_eq!(format!("{:?}", shown.server()), format!("{:?}", real.server()));
    assert_eq!(shown.logging("info"), real.logging("info"));
    let table: toml::Table = toml::from_str(&example().0).unwrap();
    for (key, default) in named(&base::limits::Limits::default()) {
        assert_eq!(table["limits"][key].as_integer(), i64::try_from(default).ok(), "{key}");
    }
}

#[test]
fn help_texts_state_the_defaults() {
    let command = Settings::augment_args(clap::Command::new("test"));
    let limits = base::limits::Limits::default();
    for (key, default) in named(&limits) {
        let flag = format!("limits-{}", key.replace('_', "-"));
        let argument = command.get_arguments().find(|argument| argument.get_long() == Some(&flag)).unwrap();
        let help = argument.get_help().unwrap().to_string();
        assert!(help.ends_with(&format!("[default: {default}]")), "{flag}: {help}");
    }
}
