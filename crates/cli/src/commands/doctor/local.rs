//! Checks on this machine: the data folder, the settings, the database address, the embedding endpoint and the clients.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use server::{EmbedEndpoint, EmbedKey};

use super::Check;
use crate::config::{Resolved, Settings};
use crate::find::ServerArgs;
use crate::{environment, output};

/// Timeout for connecting to the database.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The hint for invalid settings.
const SETTINGS: &str = "fix the setting; see `toolcrib serve --help` and toolcrib.example.toml";
/// The clients that `toolcrib connect` supports, and their programs.
const CLIENTS: [(&str, &str); 4] = [("claude", "claude"), ("codex", "codex"), ("cursor", "cursor"), ("vscode", "code")];

pub(super) async fn checks(args: &ServerArgs) -> Vec<Check> {
    let mut checks = Vec::new();
    match args.data_folder() {
        // A server at a URL may keep its data on another machine.
        Ok(data) if args.url.is_none() => checks.push(data_folder(&data, args)),
        Ok(_) => {}
        Err(error) => {
            checks.push(Check::fail("data folder", format!("{error:#}"), "pass --data DIR, or set TOOLCRIB_DATA"));
        }
    }
    let flags = Settings { data: args.data.clone(), ..Settings::default() };
    let loaded = Settings::from_environment().map_err(anyhow::Error::from).and_then(|settings| {
        Resolved::load(flags.or(settings), environment::text("TOOLCRIB_CONFIG").map(PathBuf::from).as_deref())
    });
    match loaded {
        Ok(settings) => {
            let from = settings
                .file
                .as_ref()
                .map_or("no settings file; defaults and environment only".to_owned(), |file| file.display().to_string());
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

/// Checks that only the owner can access the folder and its two secret files.
fn data_folder(data: &Path, args: &ServerArgs) -> Check {
    const NAME: &str = "data folder";
    let metadata = match std::fs::metadata(data) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Check::warn(NAME, format!("{} does not exist yet", data.display()), format!("{} creates it", args.serve()));
        }
        Err(error) => {
            return Check::fail(NAME, format!("cannot read {}: {error}", data.display()), "run as its owner, or pass --data");
        }
    };
    if !metadata.is_dir() {
        return Check::fail(NAME, format!("{} is not a folder", data.display()), "pass another folder with --data");
    }
    for (path, mode) in [(data.to_owned(), "700"), (data.join("server.json"), "600"), (data.join("master.key"), "600")] {
        let open = std::fs::metadata(&path).is_ok_and(|metadata| metadata.mode() & 0o077 != 0);
        if open {
            return Check::fail(
                NAME,
                format!("other users can access {}", path.display()),
                format!("chmod {mode} {}", output::quoted(&path.to_string_lossy())),
            );
        }
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() && !rustix::process::geteuid().is_root() {
        return Check::fail(NAME, format!("{} belongs to another user", data.display()), "run as that user, or pass --data");
    }
    // A running restore holds the lock. Its files are not leftovers then.
    let is_held = || matches!(crate::find::look(data), Ok(crate::find::State::Running(_)));
    match server::restore_cut_short(data).filter(|_| !is_held()) {
        Some((words, true)) => Check::warn(NAME, words, format!("start the server with {}", args.serve())),
        Some((words, false)) => Check::fail(NAME, words, "run `toolcrib restore FILE` with the same --data"),
        None => Check::ok(NAME, data.display().to_string()),
    }
}

/// Checks that the database accepts connections. The server checks the rest.
async fn database(url: &str) -> Check {
    const NAME: &str = "postgresql";
    let Some(address) = database_address(url) else {
        return Check::warn(NAME, "the database URL has no host", "see the readiness check of the server");
    };
    match tokio::time::timeout(CONNECT_TIMEOUT, tokio::net::TcpStream::connect(&address)).await {
        Ok(Ok(_)) => Check::ok(NAME, format!("{address} accepts connections")),
        Ok(Err(error)) => Check::fail(NAME, format!("{address}: {error}"), "start PostgreSQL, or fix database_url"),
        Err(_) => Check::fail(NAME, format!("{address} does not answer"), "check the network, or fix database_url"),
    }
}

/// Checks that the embedding endpoint works and that only the owner can read its key file. Failures are warnings, because memory
/// falls back to word search.
async fn embedder(endpoint: &EmbedEndpoint) -> Check {
    const NAME: &str = "embedder";
    if let EmbedKey::File(path) = &endpoint.key
        && std::fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o077 != 0)
    {
        let hint = format!("chmod 600 {}", output::quoted(&path.to_string_lossy()));
        return Check::warn(NAME, format!("other users can read {}", path.display()), hint);
    }
    match server::ask_embedder(endpoint).await {
        Ok(name) => Check::ok(NAME, name),
        Err(error) => Check::warn(
            NAME,
            format!("{}: {}", endpoint.model, error.message()),
            "start it, or fix the settings embed_*; until then, memory searches by words only",
        ),
    }
}

/// The `host:port` of a database URL, without user and password.
fn database_address(url: &str) -> Option<String> {
    let url = reqwest::Url::parse(url).ok()?;
    let host = url.host_str().filter(|host| !host.is_empty())?;
    Some(format!("{host}:{}", url.port().unwrap_or(5432)))
}

/// Checks which clients are installed.
pub(super) fn clients(again: &str) -> Check {
    let folders = environment::program_folders();
    let found = CLIENTS.iter().filter(|(_, program)| is_installed(&folders, program)).map(|(name, _)| *name).collect::<Vec<_>>();
    if found.is_empty() {
        let known = CLIENTS.map(|(name, _)| name).join(", ");
        return Check::warn(
            "clients",
            format!("none of {known} found on the PATH"),
            format!("for other clients, run `toolcrib connect --print{again}`"),
        );
    }
    let first = found.first().unwrap_or(&"");
    Check::ok("clients", format!("{}; set one up with `toolcrib connect {first}{again}`", found.join(", ")))
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
    fn data_folder_must_be_private() {
        let folder = tempfile::tempdir().unwrap();
        let check = |path: &Path| {
            let data = Some(path.to_owned());
            data_folder(path, &ServerArgs { url: None, key: None, data })
        };
        let set = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        set(folder.path(), 0o700);
        assert_eq!(check(folder.path()).status, Status::Ok);
        let key = folder.path().join("master.key");
        std::fs::write(&key, "").unwrap();
        set(&key, 0o644);
        assert!(check(folder.path()).hint.unwrap().starts_with("chmod 600"));
        set(&key, 0o600);
        set(folder.path(), 0o755);
        assert!(check(folder.path()).hint.unwrap().starts_with("chmod 700"));
        assert_eq!(check(&folder.path().join("none")).status, Status::Warn);
        set(folder.path(), 0o700);
        std::fs::write(folder.path().join("toolcrib.db.restoring"), "").unwrap();
        let cut_short = check(folder.path());
        assert!(cut_short.status == Status::Fail && cut_short.detail.contains("was interrupted"), "{cut_short:?}");
    }

    #[test]
    fn database_address_omits_the_password() {
        assert_eq!(database_address("postgres://u:secret@db.example/x").as_deref(), Some("db.example:5432"));
        assert_eq!(database_address("postgresql://[::1]:6000/x").as_deref(), Some("[::1]:6000"));
        assert_eq!(database_address("postgres:///x?host=/run"), None);
    }
}
