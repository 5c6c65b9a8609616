//! The lock of a data folder. The process that holds it writes its command and process id, so that others can name it in an error.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The lock file.
pub(crate) const LOCK_FILE: &str = "toolcrib.lock";
/// The command that an MCP client starts, and that serves a folder if no server does.
const STDIO: &str = "toolcrib stdio";

/// A lock, or why it is taken.
pub(crate) enum Locking {
    Held(File),
    /// Another process holds it. Contains the error message.
    Taken(String),
}

/// Locks a folder for `command`.
pub(crate) fn lock(folder: &Path, command: &str) -> io::Result<Locking> {
    let path = folder.join(LOCK_FILE);
    let mut file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path)?;
    match file.try_lock() {
        Ok(()) => {
            // Only for error messages. The lock works without it, even on a full disk.
            let _ = file.set_len(0).and_then(|()| writeln!(file, "{} {command}", std::process::id()));
            Ok(Locking::Held(file))
        }
        Err(TryLockError::WouldBlock) => Ok(Locking::Taken(refusal(folder, &std::fs::read_to_string(&path).unwrap_or_default()))),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The process id of the MCP client's `toolcrib stdio` that locked a data folder last, if it was one. It serves the folder while the
/// folder is locked.
pub fn stdio_process(folder: &Path) -> Option<u32> {
    let written = std::fs::read_to_string(folder.join(LOCK_FILE)).ok()?;
    holder(&written).filter(|(_, command)| *command == STDIO).map(|(id, _)| id)
}

/// The process id and the command in a lock file.
fn holder(written: &str) -> Option<(u32, &str)> {
    let (id, command) = written.trim().split_once(' ')?;
    Some((id.parse().ok()?, command))
}

fn refusal(folder: &Path, written: &str) -> String {
    let folder = folder.display();
    match holder(written) {
        Some((id, STDIO)) => format!(
            "an MCP client's `{STDIO}` (process {id}) uses the data folder {folder}; quit that client, start the server, then \
             restart the client, or pass another folder with --data"
        ),
        Some((id, command)) => format!(
            "another server uses the data folder {folder} (`{command}`, process {id}); stop it, or pass another folder with --data"
        ),
        None => format!("another server uses the data folder {folder}; stop it, or pass another folder with --data"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_names_the_process_that_holds_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let id = std::process::id();
        for (command, words) in [
            ("toolcrib serve", format!("(`toolcrib serve`, process {id}); stop it")),
            (STDIO, format!("an MCP client's `toolcrib stdio` (process {id}) uses the data folder")),
        ] {
            let Locking::Held(_held) = lock(folder.path(), command).unwrap() else { panic!("nobody holds it") };
            let Locking::Taken(said) = lock(folder.path(), "toolcrib serve").unwrap() else { panic!("it is held") };
            assert!(said.contains(&words), "{said}");
            assert_eq!(stdio_process(folder.path()), (command == STDIO).then_some(id));
        }
        assert!(refusal(folder.path(), "").contains("another server uses the data folder"));
    }
}
