//! Third-party clients at every door: the Rust SDK, fastmcp, the official inspector and Claude Code.

mod claude;
mod fastmcp;
mod inspector;
mod rmcp;

use std::path::Path;
use std::process::Output;

use crate::menu::TOOLS;
use crate::support::{Crib, Tenant};

/// A door, with its URL and a credential.
struct Target {
    door: &'static str,
    url: String,
    credential: String,
    /// The error code of a forbidden call.
    refusal: i64,
}

/// Both HTTP doors of a tenant, with read-only credentials.
async fn doors(tenant: &mut Tenant<'_>) -> [Target; 2] {
    let agent = tenant.agent(&["bricks:read", "kits:read"], &names()).await;
    tenant.key = tenant.key_with(&["sessions:write", "bricks:read", "kits:read"]).await;
    let session = tenant.session().await;
    let agent_door = format!("{}/api/mcp", tenant.crib.url);
    [
        Target { door: "session", url: session.url, credential: session.key, refusal: -32003 },
        Target { door: "agent", url: agent_door, credential: agent.token, refusal: -32001 },
    ]
}

fn names() -> Vec<&'static str> {
    TOOLS.iter().map(|row| row.name).collect()
}

/// The tools that a read-only caller sees.
const LISTED: [&str; 3] = ["bricks.list", "kits.list", "kits.get"];

/// A file or folder of this package's tests.
fn tests_path(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(path)
}

/// Runs a client to its end, isolated from the user's own settings.
async fn run(crib: &Crib, command: std::process::Command) -> (bool, String, String) {
    let mut command = tokio::process::Command::from(command);
    command
        .kill_on_drop(true)
        .current_dir(crib.folder.path())
        .env("HOME", crib.folder.path())
        .env("NO_PROXY", "127.0.0.1,localhost");
    let Output { status, stdout, stderr } = command.output().await.unwrap();
    (status.success(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}
