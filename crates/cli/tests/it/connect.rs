//! `toolcrib connect` writes a working entry for each client and leaves the rest of the file unchanged.

mod environment;
mod files;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::support::{Engine, Place, Process, Reply, Terminal, http, in_time, request};

/// A client: its name, its file, the text of an existing file, and parts of that text (comments, formatting) that must remain.
struct Client {
    name: &'static str,
    file: &'static str,
    before: &'static str,
    kept: &'static [&'static str],
}

const CLIENTS: [Client; 4] = [
    Client {
        name: "claude",
        file: ".mcp.json",
        before: "{\n    \"mcpServers\": {\"other\": {\"command\": \"x\", \"env\": {\"A\": \"1\"}}},\n    \"more\": [1, 2.50]\n}\n",
        kept: &["2.50", "\n    \"more"],
    },
    Client {
        name: "codex",
        file: ".codex/config.toml",
        before: "# mine\nmodel = \"o\" # keep\n\n[mcp_servers.other]\ncommand = \"x\"\nargs = []\n\n[tui]\ntheme = 'dark'\n",
        kept: &["# mine\nmodel", "# keep", "theme = 'dark'"],
    },
    Client {
        name: "cursor",
        file: ".cursor/mcp.json",
        before: "{\"mcpServers\": {\"other\": {\"url\": \"https://x.example\", \"headers\": {}}}}",
        kept: &[],
    },
    Client {
        name: "vscode",
        file: ".vscode/mcp.json",
        before: "{\n\t// Ask Ada about this one.\n\t\"servers\": {\n\t\t\"other\": {\"type\": \"stdio\", \"command\": \"x\"},\n\t},\n\t\"inputs\": [],\n}\n",
        kept: &["\t// Ask Ada about this one.\n", "\"inputs\": [],\n"],
    },
];

impl Client {
    fn path(&self, terminal: &Terminal) -> PathBuf {
        terminal.here.join(self.file)
    }

    /// The file's data as JSON, from any format.
    fn read(&self, text: &str) -> Value {
        match self.name {
            "codex" => serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap(),
            "vscode" => {
                let lines = text.lines().filter(|line| !line.trim().starts_with("//")).collect::<String>();
                serde_json::from_str(&lines.replace("\t", "").replace(",}", "}").replace(", }", "}")).unwrap()
            }
            _ => serde_json::from_str(text).unwrap(),
        }
    }

    /// The member of the file that holds its entries.
    fn member(&self) -> &'static str {
        match self.name {
            "codex" => "mcp_servers",
            "vscode" => "servers",
            _ => "mcpServers",
        }
    }

    /// The member of an entry that holds its headers.
    fn headers(&self) -> &'static str {
        if self.name == "codex" { "http_headers" } else { "headers" }
    }
}

pub(super) async fn start_server_and_terminal() -> (Place, Process, Terminal) {
    let place = Place::new(Engine::Sqlite);
    let server = place.start().await;
    let terminal = Terminal::at(&place).within("web");
    terminal.run("project add web --root .").await.ok();
    (place, server, terminal)
}

/// Runs the command of an entry in another folder and without this environment, and lists its tools.
async fn works_over_stdio(entry: &Value, elsewhere: &Path) {
    let mut command = Terminal::without_data(elsewhere).program(entry["command"].as_str().unwrap());
    command.args(entry["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap()));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    for message in [request(1, "initialize", json!({"protocolVersion": "2025-06-18"})), request(2, "tools/list", json!({}))] {
        input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        let answer: Value = serde_json::from_str(&in_time(output.next_line()).await.unwrap().unwrap()).unwrap();
        let good = answer["result"]["protocolVersion"] == "2025-06-18" || answer["result"]["tools"][0]["name"].is_string();
        assert!(good && answer["id"] == message["id"], "{answer}");
    }
    drop(input);
    assert!(in_time(child.wait()).await.unwrap().success());
}

/// Sends requests to the URL of an entry.
async fn works_over_http(url: &Value, headers: &Value) {
    let ask = async |message: Value| {
        let mut asked = http().post(url.as_str().unwrap()).body(message.to_string());
        for (name, value) in headers.as_object().unwrap() {
            asked = asked.header(name, value.as_str().unwrap());
        }
        Reply::read(asked.send().await.unwrap()).await.result()
    };
    let hello = ask(request(1, "initialize", json!({"protocolVersion": "2025-06-18"}))).await;
    assert_eq!(hello["serverInfo"]["name"], "toolcrib");
    assert!(ask(request(2, "tools/list", json!({}))).await["tools"][0]["name"].is_string());
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test(flavor = "multi_thread")]
async fn stdio_entry_is_added_to_the_existing_file() {
    let (place, server, terminal) = start_server_and_terminal().await;
    let elsewhere = tempfile::tempdir().unwrap();
    for client in &CLIENTS {
        let path = client.path(&terminal);
        for before in [None, Some(client.before)] {
            if let Some(before) = before {
                std::fs::write(&path, before).unwrap();
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
            }
            let said = terminal.run(&format!("connect {}", client.name)).await;
            assert!(said.ok().starts_with(&format!("{} written. Next: ", path.display())), "{said:?}");
            let written = std::fs::read_to_string(&path).unwrap();
            assert!(!written.contains("null") && !written.contains("rsk_live_"), "{written}");

            let mut file = client.read(&written);
            let entry = file[client.member()].as_object_mut().unwrap().remove("toolcrib").unwrap();
            let expected = before.map_or_else(|| json!({client.member(): {}}), |before| client.read(before));
            assert_eq!((client.name, &file), (client.name, &expected), "the rest of the file changed");
            assert_eq!(mode(&path), if before.is_some() { 0o640 } else { 0o644 });
            for kept in before.and(Some(client.kept)).unwrap_or_default() {
                assert!(written.contains(kept), "`{kept}` is missing in {written}");
            }
            works_over_stdio(&entry, elsewhere.path()).await;
            let session = server.sessions().await.remove(0);
            let project = terminal.json(&format!("project show {}", session["projectId"].as_str().unwrap())).await;
            assert_eq!((&project["project"]["name"], &session["state"]), (&json!("web"), &json!("ended")), "{}", client.name);

            let again = terminal.run(&format!("connect {}", client.name)).await;
            assert!(again.ok().contains("is up to date"), "{again:?}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), written);
        }
    }
    drop(place);
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_client_file_is_left_unchanged() {
    let (_place, server, terminal) = start_server_and_terminal().await;
    for client in &CLIENTS {
        let path = client.path(&terminal);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let unreadable: &[&[u8]] = match client.name {
            "codex" => &[b"[mcp_servers", b"mcp_servers = 5\n", b"\xff"],
            "vscode" => &[b"{\"servers\": ", b"[1]", b"{\"servers\": 5}", b"\xff"],
            _ => &[b"{\"mcpServers\": ", b"[1]", b"{\"mcpServers\": 5}", b"{} // note\n", b"{\"a\": 1,}", b"\xff"],
        };
        for text in unreadable {
            std::fs::write(&path, text).unwrap();
            for flags in ["", "--http"] {
                let said = terminal.run(&format!("connect {} {flags}", client.name)).await;
                let words = said.refused(1);
                assert!(words.contains(path.to_str().unwrap()), "{} {}: {words}", client.name, String::from_utf8_lossy(text));
                assert_eq!(std::fs::read(&path).unwrap(), *text, "{}", client.name);
            }
        }
        let beside = std::fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(beside.into_iter().all(|name| !name.to_string_lossy().ends_with(".part")), "a partial file remains");
    }
    assert!(server.sessions().await.is_empty(), "a refused command opened a session");
}

#[tokio::test(flavor = "multi_thread")]
async fn http_entry_is_private_and_works() {
    let (_place, server, terminal) = start_server_and_terminal().await;
    for client in &CLIENTS {
        let path = client.path(&terminal);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, client.before).unwrap();
        let said = terminal.run(&format!("connect {} --http --ttl 8h --name crib_2", client.name)).await;
        assert!(said.ok().contains("written") && said.err.contains("keep it out of version control"), "{said:?}");
        assert_eq!(mode(&path), 0o600, "the file holds a key");
        let mut file = client.read(&std::fs::read_to_string(&path).unwrap());
        let entry = file[client.member()].as_object_mut().unwrap().remove("crib_2").unwrap();
        assert!(file[client.member()]["other"].is_object());
        works_over_http(&entry["url"], &entry[client.headers()]).await;
        assert_eq!(server.sessions().await[0]["state"], "open");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn printed_entries_work_and_write_no_file() {
    let (_place, _server, terminal) = start_server_and_terminal().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let printed = terminal.run("connect --print").await.json();
    assert!(!printed.to_string().contains("null"));
    let entry = &printed["mcpServers"]["toolcrib"];
    assert_eq!(entry["type"], "http");
    works_over_http(&entry["url"], &entry["headers"]).await;
    for client in &CLIENTS {
        let shown = terminal.run(&format!("connect {} --print", client.name)).await;
        let file = client.read(shown.ok());
        works_over_stdio(&file[client.member()]["toolcrib"], elsewhere.path()).await;
        let shown = terminal.run(&format!("connect {} --print --http", client.name)).await;
        let file = client.read(shown.ok());
        let entry = &file[client.member()]["toolcrib"];
        works_over_http(&entry["url"], &entry[client.headers()]).await;
    }
    assert_eq!(std::fs::read_dir(&terminal.here).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn entry_holds_the_flags_but_not_the_key() {
    let (place, server, terminal) = start_server_and_terminal().await;
    let key = terminal.json("key add launcher").await["key"]["fullKey"].as_str().unwrap().to_owned();
    let away = Terminal::without_data(place.folder.path()).within("away").with("TOOLCRIB_KEY", &key);
    let flags = "--org default --project web --work-type chore --tool kits.list --tool-names safe --json";
    let said = away.run(&format!("connect claude --url {} {flags}", server.url)).await;
    let file = away.here.join(".mcp.json");
    assert_eq!(said.json(), json!({"file": file, "name": "toolcrib"}));
    assert!(said.err.contains("needs TOOLCRIB_KEY in its environment"), "{said:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("rsk_live_"), "{text}");
    let entry = serde_json::from_str::<Value>(&text).unwrap()["mcpServers"]["toolcrib"].take();
    let arguments = entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join(" ");
    let expected = format!(
        "stdio --url {} --org default --project web --work-type chore --tool kits.list --tool-names safe --needs-key",
        server.url
    );
    assert_eq!(arguments, expected);

    // Without a server, the entry is still written.
    server.kill_nine().await;
    let said = terminal.run("connect claude").await;
    assert!(said.ok().contains("written") && said.err.contains("warning: cannot reach the server now"), "{said:?}");
    let refused = terminal.run("connect codex --http").await;
    assert!(refused.refused(1).contains("no server is running"), "{refused:?}");
    assert!(!terminal.here.join(".codex").exists());
}
