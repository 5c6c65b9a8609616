//! The entry in each client's format. No value is null, because Codex refuses a file with a null.

use anyhow::Result;
use jsonc_parser::cst::CstInputValue;
use toml_edit::{Array, InlineTable, Item, Table, value};

use super::{Client, merge};

/// The variable that holds the API key.
const KEY: &str = "TOOLCRIB_KEY";

/// How a client connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// It starts a program and uses its stdin and stdout.
    Stdio {
        /// The program.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// Whether the client must pass on the API key from its environment.
        needs_key: bool,
    },
    /// It sends requests to the URL of a session.
    Http {
        /// The session's URL.
        url: String,
        /// The session's key.
        key: String,
    },
}

impl Entry {
    /// The entry in a JSON file.
    pub(super) fn json(&self, client: Client) -> CstInputValue {
        let text = |name: &str, text: &str| (name.to_owned(), CstInputValue::from(text));
        // Cursor documents no `type`; it distinguishes the two by their members.
        let kind = |word: &str| (client != Client::Cursor).then(|| text("type", word));
        let mut members = Vec::new();
        match self {
            Entry::Stdio { program, arguments, needs_key } => {
                members.extend(kind("stdio"));
                members.push(text("command", program));
                members.push(("args".to_owned(), CstInputValue::from(arguments.clone())));
                if *needs_key {
                    // How each client refers to an environment variable.
                    let value = if client == Client::Claude { "${TOOLCRIB_KEY}" } else { "${env:TOOLCRIB_KEY}" };
                    members.push(("env".to_owned(), CstInputValue::Object(vec![text(KEY, value)])));
                }
            }
            Entry::Http { url, key } => {
                members.extend(kind("http"));
                members.push(text("url", url));
                let headers = vec![text("Authorization", &format!("Bearer {key}"))];
                members.push(("headers".to_owned(), CstInputValue::Object(headers)));
            }
        }
        CstInputValue::Object(members)
    }

    /// The entry in Codex's TOML file.
    pub(super) fn toml(&self) -> Item {
        let mut table = Table::new();
        match self {
            Entry::Stdio { program, arguments, needs_key } => {
                table.insert("command", value(program));
                table.insert("args", value(arguments.iter().collect::<Array>()));
                if *needs_key {
                    table.insert("env_vars", value(Array::from_iter([KEY])));
                }
            }
            Entry::Http { url, key } => {
                table.insert("url", value(url));
                table.insert("http_headers", value(InlineTable::from_iter([("Authorization", format!("Bearer {key}"))])));
            }
        }
        Item::Table(table)
    }
}

/// A file that contains only this entry.
pub(super) fn whole_file(client: Client, name: &str, entry: &Entry) -> Result<String> {
    merge::merge(client, None, name, entry)
}
