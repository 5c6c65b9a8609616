//! Adds an entry to a client's file. Other entries, comments and unknown members stay unchanged.

use anyhow::{Context, Result, bail};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use toml_edit::{DocumentMut, Item, Table};

use super::Client;
use super::entry::Entry;

/// The table that holds Codex's entries.
const CODEX_MEMBER: &str = "mcp_servers";
const NO_JSON: &str = "not valid JSON; fix the file or move it away";

/// Returns the file's text with the entry added.
///
/// # Errors
/// If the file cannot be parsed. It must then stay unchanged.
pub(super) fn merge(client: Client, before: Option<&str>, name: &str, entry: &Entry) -> Result<String> {
    let before = before.filter(|text| !text.trim().is_empty());
    match client {
        Client::Codex => merge_toml(before.unwrap_or_default(), name, entry.toml()),
        Client::Vscode => merge_json(before.unwrap_or("{}\n"), "servers", name, entry.json(client), true),
        Client::Claude | Client::Cursor => merge_json(before.unwrap_or("{}\n"), "mcpServers", name, entry.json(client), false),
    }
}

/// Whether a valid file has an entry with this name.
pub(super) fn holds(client: Client, text: &str, name: &str) -> bool {
    let json = |member: &str| {
        let root = CstRootNode::parse(text, &ParseOptions::default()).ok()?;
        root.object_value()?.object_value(member)?.get(name).map(drop)
    };
    match client {
        Client::Codex => {
            text.parse::<DocumentMut>().is_ok_and(|file| file.get(CODEX_MEMBER).is_some_and(|all| all.get(name).is_some()))
        }
        Client::Vscode => json("servers").is_some(),
        Client::Claude | Client::Cursor => json("mcpServers").is_some(),
    }
}

/// `relaxed` allows comments and trailing commas, as VS Code does.
fn merge_json(before: &str, member: &str, name: &str, entry: CstInputValue, relaxed: bool) -> Result<String> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    if !relaxed {
        // These clients accept only plain JSON, but the parser below accepts comments.
        serde_json::from_str::<serde::de::IgnoredAny>(before).context(NO_JSON)?;
    }
    let root = CstRootNode::parse(before, &options).context(NO_JSON)?;
    let Some(top) = root.object_value() else { bail!("not a JSON object; fix the file or move it away") };
    let Some(servers) = top.object_value_or_create(member) else {
        bail!("`{member}` is not an object; fix the file or move it away")
    };
    match servers.get(name) {
        Some(old) => old.set_value(entry),
        None => drop(servers.append(name, entry)),
    }
    let mut text = root.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

fn merge_toml(before: &str, name: &str, entry: Item) -> Result<String> {
    const MEMBER: &str = CODEX_MEMBER;
    let mut document: DocumentMut = before.parse().context("not valid TOML; fix the file or move it away")?;
    let servers = document.entry(MEMBER).or_insert_with(|| {
        let mut servers = Table::new();
        // Only its entries get a header line.
        servers.set_implicit(true);
        Item::Table(servers)
    });
    let Some(servers) = servers.as_table_like_mut() else { bail!("`{MEMBER}` is not a table; fix the file or move it away") };
    servers.insert(name, entry);
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn stdio() -> Entry {
        Entry::Stdio {
            program: "/bin/toolcrib".into(),
            arguments: vec!["stdio".into(), "--project".into(), "web".into()],
            needs_key: false,
        }
    }

    #[test]
    fn entry_refers_to_the_key_variable_without_its_value() {
        let entry = Entry::Stdio { program: "toolcrib".into(), arguments: vec!["stdio".into()], needs_key: true };
        let text = |client| merge(client, None, "toolcrib", &entry).unwrap();
        assert!(text(Client::Claude).contains(r#""TOOLCRIB_KEY": "${TOOLCRIB_KEY}""#));
        assert!(text(Client::Cursor).contains(r#""TOOLCRIB_KEY": "${env:TOOLCRIB_KEY}""#));
        assert!(text(Client::Vscode).contains(r#""TOOLCRIB_KEY": "${env:TOOLCRIB_KEY}""#));
        assert!(text(Client::Codex).contains(r#"env_vars = ["TOOLCRIB_KEY"]"#));
    }

    fn http() -> Entry {
        Entry::Http { url: "http://127.0.0.1:7420/api/mcp/ses_1".into(), key: "rsk_live_1".into() }
    }

    fn check(client: Client, before: Option<&str>, entry: &Entry, after: &Expect) {
        let merged = merge(client, before, "toolcrib", entry).unwrap();
        after.assert_eq(&merged);
        // Merging again changes nothing.
        assert_eq!(merge(client, Some(&merged), "toolcrib", entry).unwrap(), merged);
        assert!(!merged.contains("null"));
    }

    #[test]
    fn new_file_is_written_for_each_client() {
        check(
            Client::Claude,
            None,
            &stdio(),
            &expect![[r#"
            {
              "mcpServers": {
                "toolcrib": {
                  "type": "stdio",
                  "command": "/bin/toolcrib",
                  "args": ["stdio", "--project", "web"]
                }
              }
            }
        "#]],
        );
        check(
            Client::Claude,
            None,
            &http(),
            &expect![[r#"
            {
              "mcpServers": {
                "toolcrib": {
                  "type": "http",
                  "url": "http://127.0.0.1:7420/api/mcp/ses_1",
                  "headers": {
                    "Authorization": "Bearer rsk_live_1"
                  }
                }
              }
            }
        "#]],
        );
        check(
            Client::Cursor,
            None,
            &http(),
            &expect![[r#"
            {
              "mcpServers": {
                "toolcrib": {
                  "url": "http://127.0.0.1:7420/api/mcp/ses_1",
                  "headers": {
                    "Authorization": "Bearer rsk_live_1"
                  }
                }
              }
            }
        "#]],
        );
        check(
            Client::Vscode,
            None,
            &stdio(),
            &expect![[r#"
            {
              "servers": {
                "toolcrib": {
                  "type": "stdio",
                  "command": "/bin/toolcrib",
                  "args": ["stdio", "--project", "web"]
                }
              }
            }
        "#]],
        );
        check(
            Client::Codex,
            None,
            &stdio(),
            &expect![[r#"
            [mcp_servers.toolcrib]
            command = "/bin/toolcrib"
            args = ["stdio", "--project", "web"]
        "#]],
        );
        check(
            Client::Codex,
            None,
            &http(),
            &expect![[r#"
            [mcp_servers.toolcrib]
            url = "http://127.0.0.1:7420/api/mcp/ses_1"
            http_headers = { Authorization = "Bearer rsk_live_1" }
        "#]],
        );
    }

    #[test]
    fn other_entries_and_unknown_members_stay_unchanged() {
        let servers = "{\n        \"other\": { \"command\": \"x\", \"new\": true }\n    }";
        let before = &format!("{{\n    \"zebra\": [1,  2],\n    \"mcpServers\": {servers},\n    \"a\": 1\n}}\n");
        check(
            Client::Claude,
            Some(before),
            &stdio(),
            &expect![[r#"
            {
                "zebra": [1,  2],
                "mcpServers": {
                    "other": { "command": "x", "new": true },
                    "toolcrib": {
                        "type": "stdio",
                        "command": "/bin/toolcrib",
                        "args": ["stdio", "--project", "web"]
                    }
                },
                "a": 1
            }
        "#]],
        );
        let before =
            "{\n\t// ours\n\t\"servers\": {\n\t\t\"other\": {\"type\": \"http\",}, // theirs\n\t},\n\t\"inputs\": [],\n}\n";
        check(
            Client::Vscode,
            Some(before),
            &http(),
            &expect![[r#"
            {
            	// ours
            	"servers": {
            		"other": {"type": "http",}, // theirs
            		"toolcrib": {
            			"type": "http",
            			"url": "http://127.0.0.1:7420/api/mcp/ses_1",
            			"headers": {
            				"Authorization": "Bearer rsk_live_1",
            			},
            		},
            	},
            	"inputs": [],
            }
        "#]],
        );
        let before = "# mine\nmodel = \"o9\"\n\n[mcp_servers.other] # theirs\ncommand = \"x\"\n\n[tui]\ntheme = 'dark'\n";
        check(
            Client::Codex,
            Some(before),
            &stdio(),
            &expect![[r##"
            # mine
            model = "o9"

            [mcp_servers.other] # theirs
            command = "x"

            [mcp_servers.toolcrib]
            command = "/bin/toolcrib"
            args = ["stdio", "--project", "web"]

            [tui]
            theme = 'dark'
        "##]],
        );
    }

    #[test]
    fn existing_entry_is_replaced() {
        for client in [Client::Claude, Client::Codex, Client::Cursor, Client::Vscode] {
            let text = merge(client, None, "toolcrib", &http()).unwrap();
            assert!(holds(client, &text, "toolcrib") && !holds(client, &text, "other") && !holds(client, "", "toolcrib"));
        }
        let before = merge(Client::Claude, None, "toolcrib", &http()).unwrap();
        let after = merge(Client::Claude, Some(&before), "toolcrib", &stdio()).unwrap();
        assert_eq!(after, merge(Client::Claude, None, "toolcrib", &stdio()).unwrap());
        let before = merge(Client::Codex, None, "toolcrib", &http()).unwrap();
        let after = merge(Client::Codex, Some(&before), "toolcrib", &stdio()).unwrap();
        assert_eq!(after, merge(Client::Codex, None, "toolcrib", &stdio()).unwrap());
    }

    #[test]
    fn unparsable_file_is_refused() {
        let refused = |client, text| merge(client, Some(text), "toolcrib", &stdio()).unwrap_err().to_string();
        assert!(refused(Client::Claude, "{\"mcpServers\": ").contains("not valid JSON"));
        assert!(refused(Client::Claude, "{ // a comment\n}").contains("not valid JSON"));
        assert!(refused(Client::Cursor, "[]").contains("not a JSON object"));
        assert!(refused(Client::Vscode, "{\"servers\": []}").contains("`servers` is not an object"));
        assert!(refused(Client::Codex, "[mcp_servers").contains("not valid TOML"));
        assert!(refused(Client::Codex, "mcp_servers = 5").contains("`mcp_servers` is not a table"));
    }
}
