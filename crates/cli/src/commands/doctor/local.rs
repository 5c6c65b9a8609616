//! What can be seen on this machine: the data folder, the settings, the database's address, the clients.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use server::{EmbedEndpoint, EmbedKey};

use super::Check;
use crate::config::{Resolved, Settings};
use crate::find::ServerArgs;
use crate::{environment, output};

/// How long a database has to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// What to do about settings that cannot be used.
const SETTINGS: &str = "correct it: `toolcrib serve --help` explains every setting, toolcrib.example.toml shows each in a file";
/// The clients that `toolcrib connect` knows, by their programs.
const CLIENTS: [(&str, &str); 4] = [("claude", "claude"), ("codex", "codex"), ("cursor", "cursor"), ("vscode", "code")];

pub(super) async fn checks(args: &ServerArgs) -> Vec<Check> {
    let mut checks = Vec::new();
    match args.data_folder() {
        // A server at a url may have its data anywhere.
        Ok(data) if args.url.is_none() => checks.push(data_folder(&data, args)),
        Ok(_) => {}
        Err(error) => {
            checks.push(Check::fail("data folder", format!("{error:#}"), "pass --data DIR, or set TOOLCRIB_DATA"));
        }
    }
    let said = Settings { data: args.data.clone(), ..Settings::default() };
    let loaded = Settings::from_environment().map_err(anyhow::Error::from).and_then(|settings| {
        Resolved::load(said.or(settings), environment::text("TOOLCRIB_CONFIG").map(PathBuf::from).as_deref())
    });
    match loaded {
        Ok(settings) => {
            let from = settings
                .file
                .as_ref()
                .map_or("no file, defaults and environment only".to_owned(), |file| file.display().to_string());
            checks.push(Check::ok("settings", from));
            if let Some(url) = settings.server().database_url {
                checks.push(database(&url).await);
            }
            if let Some(endpoint) = settings.server().embed_endpoint {
                checks.push(embedder(&endpoint).await);
            }
        }
        Err(error) => checks.push(Check::fail("settings", format!("{error:#}"), SETTINGS)),
    }
    checks
}

/// The folder and the two secrets in it must be their owner's alone.
fn data_folder(data: &Path, args: &ServerArgs) -> Check {
    const NAME: &str = "data folder";
    let Ok(metadata) = std::fs::metadata(data) else {
        return Check::warn(NAME, format!("{} does not exist yet", data.display()), format!("{} makes it", args.serve()));
    };
    if !metadata.is_dir() {
        return Check::fail(NAME, format!("{} is no folder", data.display()), "pass another one with --data");
    }
    for (path, mode) in [(data.to_owned(), "700"), (data.join("server.json"), "600"), (data.join("master.key"), "600")] {
        let open = std::fs::metadata(&path).is_ok_and(|metadata| metadata.mode() & 0o077 != 0);
        if open {
            return Check::fail(
                NAME,
                format!("{} can be used by others", path.display()),
                format!("chmod {mode} {}", output::quoted(&path.to_string_lossy())),
            );
        }
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() && !rustix::process::geteuid().is_root() {
        return Check::fail(NAME, format!("{} belongs to another user", data.display()), "run as that user, or pass --data");
    }
    Check::ok(NAME, data.display().to_string())
}

/// Whether something listens where the database should be. What it says to us is the server's to find out.
async fn database(url: &str) -> Check {
    const NAME: &str = "postgresql";
    let Some(address) = database_address(url) else {
        return Check::warn(
            NAME,
            "the database's url names no host",
            "the server's own check (readiness) tells whether it works",
        );
    };
    match tokio::time::timeout(CONNECT_TIMEOUT, tokio::net::TcpStream::connect(&address)).await {
        Ok(Ok(_)) => Check::ok(NAME, format!("{address} accepts connections")),
        Ok(Err(error)) => Check::fail(NAME, format!("{address}: {error}"), "start PostgreSQL, or correct database_url"),
        Err(_) => Check::fail(NAME, format!("{address} does not answer"), "check the network, or correct database_url"),
    }
}

/// Whether the embedder makes vectors, and whether its key is its owner's alone. Memory answers by words without it.
async fn embedder(endpoint: &EmbedEndpoint) -> Check {
    const NAME: &str = "embedder";
    if let EmbedKey::File(path) = &endpoint.key
        && std::fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o077 != 0)
    {
        let hint = format!("chmod 600 {}", output::quoted(&path.to_string_lossy()));
        return Check::warn(NAME, format!("{} can be read by others", path.display()), hint);
    }
    match server::ask_embedder(endpoint).await {
        Ok(name) => Check::ok(NAME, name),
        Err(error) => Check::warn(
            NAME,
            format!("{}: {}", endpoint.model, error.message()),
            "memory answers by words until it works: start it, or correct the settings that begin with embed_",
        ),
    }
}

/// `host:port` of a database's url; never its user or password.
fn database_address(url: &str) -> Option<String> {
    let url = reqwest::Url::parse(url).ok()?;
    let host = url.host_str().filter(|host| !host.is_empty())?;
    Some(format!("{host}:{}", url.port().unwrap_or(5432)))
}

/// Which clients are installed here.
pub(super) fn clients(again: &str) -> Check {
    let folders = environment::program_folders();
    let found = CLIENTS.iter().filter(|(_, program)| is_installed(&folders, program)).map(|(name, _)| *name).collect::<Vec<_>>();
    if found.is_empty() {
        let known = CLIENTS.map(|(name, _)| name).join(", ");
        return Check::warn(
            "clients",
            format!("none of {known} is on the PATH"),
            format!("`toolcrib connect --print{again}` serves any other client"),
        );
    }
    let first = found.first().unwrap_or(&"");
    Check::ok("clients", format!("{}: `toolcrib connect {first}{again}` sets one up", found.join(", ")))
}

fn is_installed(folders: &[PathBuf], program: &str) -> bool {
    let is_program =
        |path: PathBuf| std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.mode() & 0o111 != 0);
    folders.iter().any(|folder| is_program(folder.join(program)))
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_data_folder_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let looked_at = |path: &Path| {
            let data = Some(path.to_owned());
            data_folder(path, &ServerArgs { url: None, key: None, data })
        };
        let set = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        set(folder.path(), 0o700);
        assert_eq!(looked_at(folder.path()).status, Status::Ok);
        let key = folder.path().join("master.key");
        std::fs::write(&key, "").unwrap();
        set(&key, 0o644);
        assert!(looked_at(folder.path()).hint.unwrap().starts_with("chmod 600"));
        set(&key, 0o600);
        set(folder.path(), 0o755);
        assert!(looked_at(folder.path()).hint.unwrap().starts_with("chmod 700"));
        assert_eq!(looked_at(&folder.path().join("none")).status, Status::Warn);
    }

    #[test]
    fn databases_are_named_without_their_password() {
        assert_eq!(database_address("postgres://u:secret@db.example/x").as_deref(), Some("db.example:5432"));
        assert_eq!(database_address("postgresql://[::1]:6000/x").as_deref(), Some("[::1]:6000"));
        assert_eq!(database_address("postgres:///x?host=/run"), None);
    }
}
