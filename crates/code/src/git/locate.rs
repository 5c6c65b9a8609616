//! Finds the repository that a project's root belongs to.
//!
//! A `.git` can point anywhere on the disk. Only a repository of this very work tree is accepted: a `.git` folder in it, the folder of a
//! linked worktree that points back here, or a submodule's folder inside the repository around it that points back here. Symbolic links in
//! these places are refused. Nothing is run, and no configuration but `core.worktree` of a submodule is read.

use std::path::{Path, PathBuf};

use gix::bstr::BString;

use super::plain;

/// The longest pointer file and the longest configuration that are read.
const MAX_POINTER: u64 = 8 << 10;
const MAX_CONFIG: u64 = 1 << 20;

/// A repository, and where the project's root is in its work tree.
pub(super) struct Location {
    /// The folder with `HEAD`.
    pub(super) git_dir: PathBuf,
    /// The root's path in the work tree, `/`-separated. Empty if the root is the work tree.
    pub(super) prefix: BString,
}

enum Probe {
    Repository(PathBuf),
    Nothing,
    Refused,
}

/// The repository of `root`, or of the nearest parent folder that has one.
pub(super) fn locate(root: &Path) -> Option<Location> {
    let root = root.canonicalize().ok()?;
    for folder in root.ancestors() {
        match probe(folder) {
            Probe::Nothing => {}
            Probe::Refused => return None,
            Probe::Repository(git_dir) => {
                let inside = root.strip_prefix(folder).ok()?;
                // A root inside the repository's own folder is not part of the work tree.
                let is_own = inside.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
                let prefix = gix::path::to_unix_separators_on_windows(gix::path::into_bstr(inside).ok()?).into_owned();
                return (!is_own && is_plain(&git_dir)).then_some(Location { git_dir, prefix });
            }
        }
    }
    None
}

/// Whether everything that will be read is a plain file. A linked worktree shares the objects and most branches of another folder.
fn is_plain(git_dir: &Path) -> bool {
    match common_dir(git_dir) {
        Some(common) => {
            plain::is_plain(&common) && (!git_dir.join("refs").exists() || plain::is_plain_folder(&git_dir.join("refs")))
        }
        None => plain::is_plain(git_dir),
    }
}

/// The folder that a linked worktree shares.
fn common_dir(git_dir: &Path) -> Option<PathBuf> {
    let text = plain::read(&git_dir.join("commondir"), MAX_POINTER)?;
    git_dir.join(text.trim()).canonicalize().ok()
}

fn probe(folder: &Path) -> Probe {
    let dot_git = folder.join(".git");
    let Ok(metadata) = dot_git.symlink_metadata() else { return Probe::Nothing };
    if metadata.is_dir() {
        // A folder of its own never borrows another one's objects and branches.
        let is_own = is_repository(&dot_git) && dot_git.join("commondir").symlink_metadata().is_err();
        return if is_own { Probe::Repository(dot_git) } else { Probe::Nothing };
    }
    let pointed = if metadata.is_file() { pointed_to(folder, &dot_git) } else { None };
    pointed.map_or(Probe::Refused, Probe::Repository)
}

/// The folder that a `.git` file names, if that folder agrees.
fn pointed_to(folder: &Path, dot_git: &Path) -> Option<PathBuf> {
    let text = plain::read(dot_git, MAX_POINTER)?;
    let git_dir = folder.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let agrees = if git_dir.join("commondir").symlink_metadata().is_ok() {
        is_linked_worktree(&git_dir, dot_git)
    } else {
        is_submodule(&git_dir, folder)
    };
    agrees.then_some(git_dir)
}

fn is_linked_worktree(git_dir: &Path, dot_git: &Path) -> bool {
    let Some(common) = common_dir(git_dir) else { return false };
    let is_below = git_dir.parent() == Some(common.join("worktrees").as_path());
    let back = plain::read(&git_dir.join("gitdir"), MAX_POINTER).and_then(|text| git_dir.join(text.trim()).canonicalize().ok());
    let points_back = back.is_some() && back == dot_git.canonicalize().ok();
    is_below && points_back && plain::is_file(&git_dir.join("HEAD")) && is_repository(&common)
}

fn is_submodule(git_dir: &Path, folder: &Path) -> bool {
    let around = folder.ancestors().skip(1).find_map(|parent| match probe(parent) {
        Probe::Repository(git_dir) => git_dir.canonicalize().ok(),
        Probe::Nothing | Probe::Refused => None,
    });
    let is_below = around.is_some_and(|around| git_dir.starts_with(around.join("modules")));
    is_below && is_repository(git_dir) && work_tree(git_dir).is_some_and(|tree| tree == folder)
}

/// The work tree that a submodule's configuration names.
fn work_tree(git_dir: &Path) -> Option<PathBuf> {
    let text = plain::read(&git_dir.join("config"), MAX_CONFIG)?;
    let config = gix::config::File::try_from(text.as_str()).ok()?;
    let value = config.string("core.worktree")?;
    git_dir.join(gix::path::from_bstring(value).ok()?).canonicalize().ok()
}

/// Whether the folder has the parts of a repository, none of them a symbolic link.
fn is_repository(git_dir: &Path) -> bool {
    plain::is_file(&git_dir.join("HEAD")) && plain::is_folder(&git_dir.join("objects")) && plain::is_folder(&git_dir.join("refs"))
}
