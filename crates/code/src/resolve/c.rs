//! C and C++ includes: next to the file, in the folders that compile_commands.json names, else the only file whose path ends that
//! way, which is a guess. Headers of the standard library are external.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use syntax::ImportKind;

use super::edges::Edges;
use super::manifest::Manifests;
use super::path::{base, below, child, ends_with, extension, join, parent};
use super::suffixes::Suffixes;
use super::{Resolution, Source, Tree};

/// The number of folders that are searched.
const FOLDERS_MAX: usize = 128;
/// The number of commands that are read.
const COMMANDS_MAX: usize = 20_000;

/// Files by name, and the folders that compilers search.
#[derive(Default)]
pub(super) struct Index {
    suffixes: Suffixes,
    folders: Vec<Box<str>>,
}

impl Index {
    pub(super) fn new(files: &[Box<str>], manifests: &Manifests<'_>) -> Self {
        let suffixes = Suffixes::new(files.iter());
        let mut folders: Vec<Box<str>> = Vec::new();
        let mut seen = HashSet::new();
        let mut roots = HashMap::new();
        for folder in manifests.folders("compile_commands.json") {
            let Some(Value::Array(commands)) = manifests.json(&child(folder, "compile_commands.json")) else { continue };
            for command in commands.iter().take(COMMANDS_MAX) {
                for found in include_folders(command, &suffixes, &mut roots) {
                    if folders.len() < FOLDERS_MAX && seen.insert(found.clone()) {
                        folders.push(found.into());
                    }
                }
            }
        }
        Self { suffixes, folders }
    }

    pub(super) fn imports(&self, tree: &dyn Tree, source: &Source<'_>, edges: &mut Edges<'_>) {
        for (number, import) in source.outline.imports.iter().enumerate() {
            edges.at(number, None);
            let path = import.path.trim_matches(['"', '<', '>']);
            let is_system = import.kind == ImportKind::System;
            let beside = join(parent(source.path), path).filter(|path| !is_system && tree.has_file(path));
            match beside {
                Some(beside) => edges.exact(beside),
                None => self.searched(tree, path, is_system, edges),
            }
        }
    }

    fn searched(&self, tree: &dyn Tree, path: &str, is_system: bool, edges: &mut Edges<'_>) {
        let mut named: Vec<String> = Vec::new();
        for found in self.folders.iter().filter_map(|folder| join(folder, path)) {
            if tree.has_file(&found) && !named.contains(&found) {
                named.push(found);
            }
        }
        if !named.is_empty() {
            return edges.candidates(named, Resolution::Exact);
        }
        if is_system && is_standard(path) {
            return edges.external(path);
        }
        // `../a.h` from a folder that the compiler searches.
        let plain = path.trim_start_matches("./").trim_start_matches("../");
        let found = self.suffixes.find(plain);
        match found.is_empty() {
            false => edges.candidates(found, Resolution::Heuristic),
            true if is_system => edges.external(path),
            true => edges.unresolved(),
        }
    }
}

/// The folders of the tree that one command searches. The paths are absolute: the place of the tree follows from the file that is
/// compiled. `roots` keeps it for each working directory.
fn include_folders(command: &Value, suffixes: &Suffixes, roots: &mut HashMap<String, Option<String>>) -> Vec<String> {
    let text = |name: &str| command.get(name).and_then(Value::as_str).unwrap_or_default();
    let directory = text("directory");
    let absolute = |path: &str| {
        let whole = if path.starts_with('/') { path.to_owned() } else { format!("{directory}/{path}") };
        join("", whole.trim_start_matches('/')).unwrap_or_default()
    };
    let file = absolute(text("file"));
    let root = roots.entry(directory.to_owned()).or_insert_with(|| {
        let known = suffixes.find(base(&file)).into_iter().filter(|known| ends_with(&file, known));
        let longest = known.max_by_key(|known| known.len())?;
        Some(file.strip_suffix(longest)?.trim_end_matches('/').to_owned())
    });
    let Some(root) = root else { return Vec::new() };
    let arguments: Vec<&str> = match command.get("arguments").and_then(Value::as_array) {
        Some(list) => list.iter().filter_map(Value::as_str).collect(),
        None => text("command").split_whitespace().collect(),
    };
    let mut found = Vec::new();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let Some(rest) = ["-I", "-isystem", "-iquote", "/I"].iter().find_map(|flag| argument.strip_prefix(flag)) else {
            continue;
        };
        let path = if rest.is_empty() { arguments.next().unwrap_or_default() } else { rest };
        found.extend(below(&absolute(path.trim_matches('"')), root).map(str::to_owned));
    }
    found
}

/// Whether a header belongs to the language or to the system: `<vector>`, `<stdio.h>`, `<sys/stat.h>`.
fn is_standard(path: &str) -> bool {
    extension(path).is_empty() && !path.contains('/') || STANDARD.contains(&path) || path.starts_with("sys/")
}

/// Headers of C and POSIX.
#[rustfmt::skip]
const STANDARD: &[&str] = &[
    "aio.h", "assert.h", "complex.h", "ctype.h", "dirent.h", "dlfcn.h", "errno.h", "fcntl.h", "fenv.h", "float.h", "getopt.h",
    "grp.h", "inttypes.h", "iso646.h", "limits.h", "locale.h", "malloc.h", "math.h", "memory.h", "netdb.h", "poll.h", "pthread.h",
    "pwd.h", "regex.h", "sched.h", "semaphore.h", "setjmp.h", "signal.h", "spawn.h", "stdalign.h", "stdarg.h", "stdatomic.h",
    "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "stdnoreturn.h", "string.h", "strings.h", "syslog.h", "termios.h",
    "tgmath.h", "threads.h", "time.h", "uchar.h", "unistd.h", "utime.h", "wchar.h", "wctype.h", "windows.h",
];
