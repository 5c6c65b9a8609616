//! The code tools through the doors: reading, writing, dependencies, search, history and context of a project's files.

mod bad_days;
mod capability;
mod context;
mod crash;
mod crowd;
mod dependencies;
mod doors;
mod graph;
mod history;
mod hostile;
mod hybrid;
mod ids;
mod meaning;
mod nearby;
mod noticing;
mod paging;
mod paths;
mod reading;
mod repository;
mod stored;
mod writing;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::support::{Crib, Session, Tenant, eventually, text};

/// A shop in Python with a base class, a cycle of two files and packages from outside, and two files in TypeScript.
const SHOP: &[(&str, &str)] = &[
    ("shop/__init__.py", ""),
    ("shop/money.py", MONEY),
    ("shop/cart.py", CART),
    (
        "shop/checkout.py",
        "from shop.cart import Cart\nfrom shop import mail\n\n\nclass GiftCart(Cart):\n    def total(self):\n        return 0\n\n\n\
         def pay(cart):\n    mail.receipt(cart)\n    return cart.total()\n",
    ),
    (
        "shop/mail.py",
        "import requests\nfrom shop import checkout\n\n\ndef receipt(cart):\n    requests.post('https://mail.invalid', data=checkout.__name__)\n",
    ),
    ("web/shape.ts", "export interface Shape {\n  area(): number;\n}\n"),
    (
        "web/square.ts",
        "import { Shape } from './shape';\n\nexport class Square implements Shape {\n  area(): number {\n    return side() ** 2;\n  }\n}\n\n\
         export function side(): number {\n  return 2;\n}\n",
    ),
];
const MONEY: &str = "\"\"\"Money is kept as integer cents.\"\"\"\n\n\ndef cents(amount):\n    return round(amount * 100)\n";
const CART: &str = "import json\nfrom shop.money import cents\n\n\nclass Cart:\n    def __init__(self):\n        self.lines = []\n\n    \
                    def total(self):\n        return sum(cents(line) for line in self.lines)\n\n    def dump(self):\n        \
                    return json.dumps(self.lines)\n";

/// A project with code, and a session in it.
struct Workspace<'c> {
    tenant: Tenant<'c>,
    project: String,
    session: Session<'c>,
    /// Its root, if it has one.
    root: PathBuf,
}

impl<'c> Workspace<'c> {
    /// A project whose root has these files.
    async fn new(crib: &'c Crib, files: &[(&str, &str)]) -> Self {
        let tenant = crib.tenant().await;
        let root = crib.folder.path().join(format!("root-{}", tenant.org));
        std::fs::create_dir(&root).unwrap();
        put_all(&root, files);
        Self::at(tenant, &root).await
    }

    /// A project with this root.
    async fn at(tenant: Tenant<'c>, root: &Path) -> Self {
        let made = tenant.post("projects", json!({"name": "code", "root": root, "graph_enabled": true})).await.expect(201);
        let project = text(&made["project"]["id"]);
        let session = tenant.session_with(json!({"projectId": project})).await;
        Self { tenant, project, session, root: root.to_owned() }
    }

    /// A project without a root, with these files in the store.
    async fn stored(crib: &'c Crib, files: &[(&str, &str)]) -> Self {
        let tenant = crib.tenant().await;
        let (project, session) = (tenant.project.clone(), tenant.session().await);
        let workspace = Self { tenant, project, session, root: PathBuf::new() };
        for (path, content) in files {
            workspace.write(path, content).await;
        }
        workspace
    }

    /// Another session in the project.
    async fn another_session(&self, label: &str) -> Session<'c> {
        self.tenant.session_with(json!({"projectId": self.project, "agentLabel": label})).await
    }

    /// The answer of a tool.
    async fn ask(&self, tool: &str, arguments: Value) -> Value {
        answer(&self.session, tool, arguments).await
    }

    /// The error of a tool.
    async fn refused(&self, tool: &str, arguments: Value) -> Value {
        self.session.call(tool, arguments).await.error()
    }

    async fn read(&self, path: &str) -> Value {
        self.ask("read_code", json!({"path": path, "include_semantic_context": false})).await
    }

    async fn write(&self, path: &str, content: &str) -> Value {
        self.ask("write_code", json!({"path": path, "content": content, "reason": "the tests need it"})).await
    }

    /// The changes that `query_history` lists.
    async fn changes(&self, arguments: Value) -> Vec<Value> {
        self.ask("query_history", arguments).await["changes"].as_array().unwrap().clone()
    }

    /// Writes a file on disk, as an editor does.
    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        put(&self.root, path, content);
    }

    fn on_disk(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap()
    }

    async fn coverage(&self) -> Value {
        self.ask("get_context", json!({"context_types": ["project"]})).await["project"]["coverage"].clone()
    }

    /// Waits until every file is indexed.
    async fn indexed(&self) {
        let is_so = async || {
            let found = self.coverage().await;
            found["complete"] == true && found["fresh"] == true && found["indexed"] == found["files"]
        };
        eventually("every file is indexed", is_so).await;
    }

    /// Waits until every passage has its vector.
    async fn embedded(&self) {
        self.indexed().await;
        let is_so = async || {
            let found = self.coverage().await;
            found["passages"].as_u64() > Some(0) && found["embedded"] == found["passages"]
        };
        eventually("every passage has its vector", is_so).await;
    }

    /// Runs git in the root.
    fn git(&self, line: &str) -> String {
        git(&self.root, line)
    }
}

/// The payload of an answer, which is also its text.
async fn answer(session: &Session<'_>, tool: &str, arguments: Value) -> Value {
    let said = format!("{tool} {arguments}");
    let mut result = session.call(tool, arguments).await.result();
    assert!(result.get("isError").is_none_or(|failed| failed == false), "{said}: {result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"], "{said}");
    result["structuredContent"].take()
}

/// The kind, the code and the parameter of an error.
fn gist(error: &Value) -> (&str, i64, Option<&str>) {
    (error["data"]["kind"].as_str().unwrap(), error["code"].as_i64().unwrap(), error["data"]["parameter"].as_str())
}

fn put(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let file = root.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
}

fn put_all(root: &Path, files: &[(&str, &str)]) {
    for (path, content) in files {
        put(root, path, content);
    }
}

/// Runs git a second later than the command before, so that commits have an order.
fn git(root: &Path, line: &str) -> String {
    static SECONDS: AtomicU64 = AtomicU64::new(1_750_000_000);
    git_at(root, line, SECONDS.fetch_add(1, Ordering::Relaxed))
}

/// Runs git at a time, without the settings of this machine.
fn git_at(root: &Path, line: &str, seconds: u64) -> String {
    let mut command = Command::new("git");
    command.current_dir(root).args(crate::support::words(line)).env("HOME", root);
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Ada").env(format!("GIT_{who}_EMAIL"), "ada@example.org");
        command.env(format!("GIT_{who}_DATE"), format!("@{seconds} +0000"));
    }
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The strings in a list.
#[track_caller]
fn strings(list: &Value) -> Vec<&str> {
    list.as_array().unwrap_or_else(|| panic!("{list} is not a list")).iter().map(|item| item.as_str().unwrap()).collect()
}

/// One member of each item of a list.
#[track_caller]
fn each<'v>(list: &'v Value, member: &str) -> Vec<&'v str> {
    let items = list.as_array().unwrap_or_else(|| panic!("{list} is not a list"));
    items.iter().map(|item| item[member].as_str().unwrap_or_else(|| panic!("{item} has no `{member}`"))).collect()
}

fn sha256(content: impl AsRef<[u8]>) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(content.as_ref()).iter().map(|byte| format!("{byte:02x}")).collect()
}
