//! An entry into a file that may hold others, and comments, and members that we do not know: all of them stay as they are.

use anyhow::{Context, Result, bail};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use toml_edit::{DocumentMut, Item, Table};

use super::Client;
use super::entry::Entry;

const NO_JSON: &str = "it is no valid JSON: correct it, or move it away";

/// The file's text with the entry in it.
///
/// # Errors
/// When the file cannot be understood: then it must not be touched.
pub(super) fn merge(client: Client, before: Option<&str>, name: &str, entry: &Entry) -> Result<String> {
    let before = before.filter(|text| !text.trim().is_empty());
    match client {
        Client::Codex => merge_toml(before.unwrap_or_default(), name, entry.toml()),
        Client::Vscode => merge_json(before.unwrap_or("{}\n"), "servers", name, entry.json(client), true),
        Client::Claude | Client::Cursor => merge_json(before.unwrap_or("{}\n"), "mcpServers", name, entry.json(client), false),
    }
}

/// `relaxed` allows comments and commas at the end, as VS Code does in its own files.
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
        // The clients' own readers take plain JSON only, and the other parser lets comments pass.
        serde_json::from_str::<serde::de::IgnoredAny>(before).context(NO_JSON)?;
    }
    let root = CstRootNode::parse(before, &options).context(NO_JSON)?;
    let Some(top) = root.object_value() else { bail!("it holds no JSON object: correct it, or move it away") };
    let Some(servers) = top.object_value_or_create(member) else {
        bail!("its `{member}` is no object: correct it, or move the file away")
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
    const MEMBER: &str = "mcp_servers";
    let mut document: DocumentMut = before.parse().context("it is no valid TOML: correct it, or move it away")?;
    let servers = document.entry(MEMBER).or_insert_with(|| {
        let mut servers = Table::new();
        // No line of its own: only its entries have one.
        servers.set_implicit(true);
        Item::Table(servers)
    });
    let Some(servers) = servers.as_table_like_mut() else {
        bail!("its `{MEMBER}` is no table: correct it, or move the file away")
    };
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
    fn a_key_is_named_and_never_written() {
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
        // A second time changes nothing.
        assert_eq!(merge(client, Some(&merged), "toolcrib", entry).unwrap(), merged);
        assert!(!merged.contains("null"));
    }

    #[test]
    fn a_new_file_for_each_client() {
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
    fn other_entries_and_unknown_members_stay_as_they_are() {
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
    fn our_own_old_entry_is_replaced() {
        let before = merge(Client::Claude, None, "toolcrib", &http()).unwrap();
        let after = merge(Client::Claude, Some(&before), "toolcrib", &stdio()).unwrap();
        assert_eq!(after, merge(Client::Claude, None, "toolcrib", &stdio()).unwrap());
        let before = merge(Client::Codex, None, "toolcrib", &http()).unwrap();
        let after = merge(Client::Codex, Some(&before), "toolcrib", &stdio()).unwrap();
        assert_eq!(after, merge(Client::Codex, None, "toolcrib", &stdio()).unwrap());
    }

    #[test]
    fn what_cannot_be_understood_is_not_touched() {
        let refused = |client, text| merge(client, Some(text), "toolcrib", &stdio()).unwrap_err().to_string();
        assert!(refused(Client::Claude, "{\"mcpServers\": ").contains("no valid JSON"));
        assert!(refused(Client::Claude, "{ // a comment\n}").contains("no valid JSON"));
        assert!(refused(Client::Cursor, "[]").contains("no JSON object"));
        assert!(refused(Client::Vscode, "{\"servers\": []}").contains("`servers` is no object"));
        assert!(refused(Client::Codex, "[mcp_servers").contains("no valid TOML"));
        assert!(refused(Client::Codex, "mcp_servers = 5").contains("`mcp_servers` is no table"));
    }
}
