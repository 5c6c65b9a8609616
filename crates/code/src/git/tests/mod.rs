//! Tests against real repositories, which the `git` program builds and reads as the oracle.

mod bad_days;
mod blame;
mod hostile;
mod log;
mod places;
mod random;
mod renames;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::{Bounds, ChangeType, Commit, LogFilter, Repository};

/// A repository in a folder of its own.
struct Fixture {
    _folder: TempDir,
    home: PathBuf,
    tree: PathBuf,
    /// Seconds since the epoch of the next commit.
    now: Cell<i64>,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let tree = home.join("tree");
        std::fs::create_dir(&tree).unwrap();
        let fixture = Self { _folder: folder, home, tree, now: Cell::new(1_700_000_000) };
        fixture.git(&["init", "-q", "-b", "main"]);
        fixture
    }

    fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.current_dir(folder).args(arguments).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("HOME", &self.home).env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C.UTF-8");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Ada Lovelace").env(format!("GIT_{role}_EMAIL"), "ada@example.org");
            command.env(format!("GIT_{role}_DATE"), format!("{} +0000", self.now.get()));
        }
        command
    }

    fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = self.command(folder, arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.tree, arguments)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.tree.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        std::fs::create_dir_all(self.tree.join(to).parent().unwrap()).unwrap();
        std::fs::rename(self.tree.join(from), self.tree.join(to)).unwrap();
    }

    fn remove(&self, path: &str) {
        std::fs::remove_file(self.tree.join(path)).unwrap();
    }

    /// Commits everything and returns the commit's id.
    fn commit(&self, message: &str) -> String {
        self.now.set(self.now.get() + 60);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// Adds commits from a stream of `git fast-import`, which is much faster than one command for each.
    fn import(&self, stream: &[u8]) {
        let file = self.home.join("stream");
        std::fs::write(&file, stream).unwrap();
        let input = std::fs::File::open(&file).unwrap();
        let output = self.command(&self.tree, &["fast-import", "--quiet", "--force"]).stdin(input).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.git(&["reset", "-q", "--hard"]);
    }

    /// The heading of a commit in such a stream. What it changes follows.
    fn import_heading(&self, stream: &mut Vec<u8>, message: &str) {
        self.now.set(self.now.get() + 60);
        let (now, length) = (self.now.get(), message.len());
        let heading =
            format!("commit refs/heads/main\ncommitter Ada Lovelace <ada@example.org> {now} +0000\ndata {length}\n{message}\n");
        stream.extend_from_slice(heading.as_bytes());
    }

    fn merge(&self, branch: &str) -> String {
        self.now.set(self.now.get() + 60);
        self.git(&["merge", "-q", "--no-ff", "-m", &format!("Merge {branch}"), branch]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    fn open(&self) -> Repository {
        Repository::discover(&self.tree).unwrap()
    }
}

/// The change of one file in a stream of `git fast-import`.
fn import_file(stream: &mut Vec<u8>, path: &str, text: &str) {
    stream.extend_from_slice(format!("M 100644 inline {path}\ndata {}\n{text}\n", text.len()).as_bytes());
}

/// `count` lines that no other call makes with another `seed`.
fn lines(seed: &str, count: usize) -> String {
    (0..count).map(|line| format!("{seed} line {line} of this text\n")).collect()
}

/// The whole log, through pages of `rows` commits.
fn whole_log(repository: &Repository, rows: usize) -> Vec<Commit> {
    let mut filter = LogFilter { bounds: Bounds { commits: rows, ..Bounds::default() }, ..LogFilter::default() };
    let mut commits = Vec::new();
    loop {
        let page = repository.log(&filter).unwrap();
        assert!(!page.is_partial && page.commits.len() <= rows);
        commits.extend(page.commits);
        filter.cursor = page.next;
        if filter.cursor.is_none() {
            return commits;
        }
    }
}

/// The whole history of a file, through pages of `rows` commits.
fn whole_history(repository: &Repository, path: &str, rows: usize) -> Vec<Commit> {
    let bounds = Bounds { commits: rows, ..Bounds::default() };
    let (mut commits, mut cursor) = (Vec::new(), None);
    loop {
        let page = repository.history(path, cursor.as_deref(), &bounds).unwrap();
        assert!(!page.is_partial);
        commits.extend(page.commits);
        cursor = page.next;
        if cursor.is_none() {
            return commits;
        }
    }
}

/// The commits as git shows them: `id\tsubject`, then a line of status and paths for each file, then the same with numbers of lines.
fn shown(commits: &[Commit]) -> Vec<String> {
    let mut shown = Vec::new();
    for commit in commits {
        shown.push(format!("commit {} {} {}", commit.id, commit.time.ms() / 1_000, commit.subject));
        for change in &commit.changes {
            let path = &change.path;
            shown.push(match (change.change_type, &change.from) {
                (ChangeType::Create, None) => format!("A\t{path}"),
                (ChangeType::Update, None) => format!("M\t{path}"),
                (ChangeType::Delete, None) => format!("D\t{path}"),
                (ChangeType::Rename | ChangeType::Move, Some(from)) => format!("R\t{from}\t{path}"),
                other => panic!("{other:?}"),
            });
        }
    }
    shown
}

/// What `git log` with these arguments says, in the form of [`shown`].
fn git_shown(fixture: &Fixture, arguments: &[&str]) -> Vec<String> {
    let mut all = vec!["-c", "core.quotePath=false", "log", "-M", "--name-status", "--format=commit %H %ct %s"];
    all.extend(arguments);
    let output = fixture.git(&all);
    let lines = output.lines().filter(|line| !line.is_empty());
    // A status with a score, such as `R075`, and a changed type count as what they are here.
    lines.map(|line| if line.starts_with("commit ") { line.to_owned() } else { status(line) }).collect()
}

fn status(line: &str) -> String {
    let (status, paths) = line.split_once('\t').unwrap();
    let letter = status.chars().next().unwrap();
    format!("{}\t{paths}", if letter == 'T' { 'M' } else { letter })
}

/// The lines added and removed of each file of each commit, as `git log --numstat` says.
fn git_numbers(fixture: &Fixture) -> Vec<(Option<u32>, Option<u32>)> {
    let output = fixture.git(&["log", "-M", "--numstat", "-z", "--format="]);
    let records = output.split('\0').filter(|record| record.matches('\t').count() == 2);
    records
        .map(|record| {
            let mut numbers = record.trim_start_matches('\n').split('\t').map(|number| number.parse().ok());
            (numbers.next().unwrap(), numbers.next().unwrap())
        })
        .collect()
}

fn numbers(commits: &[Commit]) -> Vec<(Option<u32>, Option<u32>)> {
    commits.iter().flat_map(|commit| &commit.changes).map(|change| (change.lines_added, change.lines_removed)).collect()
}

/// The commit of each line, as `git blame` says.
fn git_blame(fixture: &Fixture, path: &str) -> Vec<String> {
    let output = fixture.git(&["blame", "--line-porcelain", "--", path]);
    let is_head =
        |line: &&str| line.split(' ').next().is_some_and(|id| id.len() == 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
    output.lines().filter(is_head).map(|line| line[..40].to_owned()).collect()
}

/// The commit of each line, as we say.
fn our_blame(repository: &Repository, path: &str) -> Vec<String> {
    let blame = repository.blame(path, &Bounds::default()).unwrap();
    assert!(!blame.is_partial);
    let mut commits = Vec::new();
    for lines in blame.lines {
        assert_eq!(lines.start_line as usize, commits.len() + 1, "no line is left out");
        commits.extend(std::iter::repeat_n(lines.commit, lines.lines as usize));
    }
    commits
}
