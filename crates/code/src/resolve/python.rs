//! Python imports. A root is a folder that the interpreter would search: the one that holds a top package, the `src` folder of a
//! project, or the folder of a script. There are no edges to parent packages. A relative import is certain. An absolute one is
//! certain if one root only can be meant.

use std::collections::{HashMap, HashSet};

use syntax::Import;

use super::edges::Edges;
use super::manifest::Manifests;
use super::path::{base, below, child, folder_and_above, folders, join, parent, stem};
use super::{Resolution, Source, Tree};

/// The number of roots that are tried for one import.
const ROOTS_MAX: usize = 64;

/// How a folder became a root. Better kinds come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// It holds a top package with an `__init__.py`.
    Package,
    /// It is a project's folder, or one that the project names.
    Project,
    /// It holds modules outside a package.
    Script,
}

/// The roots of a tree.
#[derive(Default)]
pub(super) struct Index {
    /// The roots that hold each top name.
    roots: HashMap<Box<str>, Vec<(Box<str>, Kind)>>,
    /// The root of each regular package's folder.
    homes: HashMap<Box<str>, Box<str>>,
}

/// What a dotted name is.
enum Module {
    File(String),
    /// A folder without `__init__.py`: it exists, but no file defines it.
    Namespace,
}

impl Index {
    pub(super) fn new(files: &[Box<str>], manifests: &Manifests<'_>) -> Self {
        if files.is_empty() {
            return Self::default();
        }
        let mut index = Self::default();
        let packages: HashSet<&str> =
            files.iter().filter(|file| is_init(file)).map(|file| parent(file)).filter(|folder| !folder.is_empty()).collect();
        let projects = projects(manifests);
        for file in files {
            let folder = parent(file);
            match top_package(folder, &packages) {
                Some(top) => {
                    index.add(base(top), parent(top), Kind::Package);
                    if !index.homes.contains_key(folder) {
                        index.homes.insert(folder.into(), parent(top).into());
                    }
                }
                None => index.add(stem(file), folder, Kind::Script),
            }
            for project in folders(file).filter(|folder| projects.contains(*folder)) {
                let top = below(file, project).and_then(|rest| rest.split('/').next()).unwrap_or_default();
                index.add(top.strip_suffix(".py").unwrap_or(top), project, Kind::Project);
            }
        }
        index
    }

    fn add(&mut self, top: &str, root: &str, kind: Kind) {
        let roots = match self.roots.get_mut(top) {
            Some(roots) => roots,
            None => self.roots.entry(top.into()).or_default(),
        };
        if let Some((_, known)) = roots.iter_mut().find(|(known, _)| **known == *root) {
            *known = kind.min(*known);
        } else if roots.len() < ROOTS_MAX {
            roots.push((root.into(), kind));
        }
    }

    pub(super) fn imports(&self, tree: &dyn Tree, source: &Source<'_>, edges: &mut Edges<'_>) {
        for (number, import) in source.outline.imports.iter().enumerate() {
            if import.names.is_empty() {
                edges.at(number, None);
                self.import(tree, source.path, import, None, edges);
            }
            for (name, imported) in import.names.iter().enumerate() {
                edges.at(number, Some(name));
                self.import(tree, source.path, import, Some(&imported.name), edges);
            }
        }
    }

    fn import(&self, tree: &dyn Tree, file: &str, import: &Import, name: Option<&str>, edges: &mut Edges<'_>) {
        let name = name.filter(|name| *name != "*");
        let dots = import.path.bytes().take_while(|byte| *byte == b'.').count();
        let dotted = import.path.get(dots..).unwrap_or_default();
        if dots == 0 {
            return self.absolute(tree, file, dotted, name, edges);
        }
        let folder = folders(file).nth(dots - 1);
        match folder.and_then(|folder| named(tree, folder, dotted, name)) {
            Some(Module::File(path)) => edges.exact(path),
            Some(Module::Namespace) | None => edges.unresolved(),
        }
    }

    fn absolute(&self, tree: &dyn Tree, file: &str, dotted: &str, name: Option<&str>, edges: &mut Edges<'_>) {
        let top = dotted.split('.').next().unwrap_or_default();
        let is_standard = STANDARD.contains(&top);
        let roots = self.roots.get(top).map_or(&[][..], Vec::as_slice);
        let mut best: (u8, Vec<String>) = (u8::MAX, Vec::new());
        for (root, kind) in roots {
            let rank = self.rank(file, root, *kind);
            // The standard library shadows a folder of the same name, except next to the script that runs.
            if rank > best.0 || is_standard && rank > 1 {
                continue;
            }
            let Some(Module::File(path)) = named(tree, root, dotted, name) else { continue };
            if rank < best.0 {
                best = (rank, Vec::new());
            }
            if !best.1.contains(&path) {
                best.1.push(path);
            }
        }
        let is_sure = best.0 <= 2 && !(is_standard && dotted == top);
        if !best.1.is_empty() {
            return edges.candidates(best.1, if is_sure { Resolution::Exact } else { Resolution::Heuristic });
        }
        if is_standard {
            return edges.external(top);
        }
        if let Some(path) = nearby(tree, self.home(file), dotted, name) {
            return edges.heuristic(path);
        }
        match roots.iter().any(|(_, kind)| *kind == Kind::Package) {
            true => edges.unresolved(),
            false => edges.external(top),
        }
    }

    /// The root of a file's package, or its folder.
    fn home<'a>(&'a self, file: &'a str) -> &'a str {
        self.homes.get(parent(file)).map_or(parent(file), |home| &**home)
    }

    /// How plausible a root is for a file: its own root, a project around it, any other package or project, any other script.
    fn rank(&self, file: &str, root: &str, kind: Kind) -> u8 {
        match kind {
            _ if self.home(file) == root => 0,
            Kind::Package | Kind::Project if below(file, root).is_some() => 1,
            Kind::Package | Kind::Project => 2,
            Kind::Script => 3,
        }
    }
}

fn is_init(file: &str) -> bool {
    matches!(base(file), "__init__.py" | "__init__.pyi")
}

/// The outermost package around a folder that is one.
fn top_package<'a>(folder: &'a str, packages: &HashSet<&str>) -> Option<&'a str> {
    folder_and_above(folder).take_while(|folder| packages.contains(folder)).last()
}

/// The module that `from dotted import name` reads: `dotted.name` if that is a module, else `dotted`.
fn named(tree: &dyn Tree, root: &str, dotted: &str, name: Option<&str>) -> Option<Module> {
    let path = join(root, &dotted.replace('.', "/"))?;
    let submodule = name.and_then(|name| module(tree, &child(&path, name)));
    match submodule {
        Some(Module::File(path)) => Some(Module::File(path)),
        _ => module(tree, &path),
    }
}

/// The file of a module whose path lacks its extension.
fn module(tree: &dyn Tree, path: &str) -> Option<Module> {
    let ends: &[&str] = if path.is_empty() { &["__init__.py"] } else { &["/__init__.py", ".py", "/__init__.pyi", ".pyi"] };
    let mut candidate = String::with_capacity(path.len() + 16);
    for end in ends {
        candidate.clear();
        candidate.push_str(path);
        candidate.push_str(end);
        if tree.has_file(&candidate) {
            return Some(Module::File(candidate));
        }
    }
    tree.has_folder(path).then_some(Module::Namespace)
}

/// A module in a folder around a root that nothing declares as one. Inside a package there is no such thing.
fn nearby(tree: &dyn Tree, home: &str, dotted: &str, name: Option<&str>) -> Option<String> {
    folder_and_above(home).find_map(|folder| match named(tree, folder, dotted, name) {
        Some(Module::File(path)) => Some(path),
        _ => None,
    })
}

/// The folders of projects, their `src` folders, and those that they declare.
fn projects(manifests: &Manifests<'_>) -> HashSet<Box<str>> {
    let mut found: HashSet<Box<str>> = ["".into(), "src".into()].into();
    let declared = manifests.folders("pyproject.toml");
    for folder in declared.iter().chain(manifests.folders("setup.py")) {
        found.insert(folder.clone());
        found.insert(child(folder, "src").into());
    }
    for folder in declared {
        let Some(manifest) = manifests.toml(&child(folder, "pyproject.toml")) else { continue };
        let paths = source_folders(&manifest).into_iter().take(ROOTS_MAX);
        found.extend(paths.filter_map(|path| join(folder, &path)).map(String::into_boxed_str));
    }
    found
}

/// The source folders that the usual tools are told of.
fn source_folders(manifest: &toml::Table) -> Vec<String> {
    let at = |keys: &[&str]| {
        let tool = manifest.get("tool");
        keys.iter().fold(tool, |value, key| value.and_then(|value| value.get(key)))
    };
    let mut found = Vec::new();
    for keys in [&["setuptools", "packages", "find", "where"][..], &["ruff", "src"], &["pytest", "ini_options", "pythonpath"]] {
        let list = at(keys).and_then(toml::Value::as_array).into_iter().flatten();
        found.extend(list.filter_map(toml::Value::as_str).map(str::to_owned));
    }
    if let Some(folder) = at(&["setuptools", "package-dir", ""]).and_then(toml::Value::as_str) {
        found.push(folder.to_owned());
    }
    let poetry = at(&["poetry", "packages"]).and_then(toml::Value::as_array).into_iter().flatten();
    found.extend(poetry.filter_map(|package| package.get("from")?.as_str().map(str::to_owned)));
    found
}

/// The top modules of the standard library of Python 3.11 to 3.14.
#[rustfmt::skip]
const STANDARD: &[&str] = &[
    "__future__", "__main__", "_thread", "abc", "aifc", "annotationlib", "antigravity", "argparse", "array", "ast", "asynchat", "asyncio",
    "asyncore", "atexit", "audioop", "base64", "bdb", "binascii", "bisect", "builtins", "bz2", "cProfile", "calendar", "cgi",
    "cgitb", "chunk", "cmath", "cmd", "code", "codecs", "codeop", "collections", "colorsys", "compileall", "compression",
    "concurrent", "configparser", "contextlib", "contextvars", "copy", "copyreg", "crypt", "csv", "ctypes", "curses",
    "dataclasses", "datetime", "dbm", "decimal", "difflib", "dis", "distutils", "doctest", "email", "encodings", "ensurepip",
    "enum", "errno", "faulthandler", "fcntl", "filecmp", "fileinput", "fnmatch", "fractions", "ftplib", "functools", "gc",
    "genericpath", "getopt", "getpass", "gettext", "glob", "graphlib", "grp", "gzip", "hashlib", "heapq", "hmac", "html",
    "http", "idlelib", "imaplib", "imghdr", "imp", "importlib", "inspect", "io", "ipaddress", "itertools", "json", "keyword",
    "lib2to3", "linecache", "locale", "logging", "lzma", "mailbox", "mailcap", "marshal", "math", "mimetypes", "mmap",
    "modulefinder", "msilib", "msvcrt", "multiprocessing", "netrc", "nis", "nntplib", "nt", "ntpath", "nturl2path", "numbers",
    "opcode", "operator", "optparse", "os", "ossaudiodev", "pathlib", "pdb", "pickle", "pickletools", "pipes", "pkgutil",
    "platform", "plistlib", "poplib", "posix", "posixpath", "pprint", "profile", "pstats", "pty", "pwd", "py_compile", "pyclbr",
    "pydoc", "pydoc_data", "pyexpat", "queue", "quopri", "random", "re", "readline", "reprlib", "resource", "rlcompleter",
    "runpy", "sched", "secrets", "select", "selectors", "shelve", "shlex", "shutil", "signal", "site", "smtpd", "smtplib",
    "sndhdr", "socket", "socketserver", "spwd", "sqlite3", "sre_compile", "sre_constants", "sre_parse", "ssl", "stat",
    "statistics", "string", "stringprep", "struct", "subprocess", "sunau", "symtable", "sys", "sysconfig", "syslog", "tabnanny",
    "tarfile", "telnetlib", "tempfile", "termios", "textwrap", "this", "threading", "time", "timeit", "tkinter", "token",
    "tokenize", "tomllib", "trace", "traceback", "tracemalloc", "tty", "turtle", "turtledemo", "types", "typing", "unicodedata",
    "unittest", "urllib", "uu", "uuid", "venv", "warnings", "wave", "weakref", "webbrowser", "winreg", "winsound", "wsgiref",
    "xdrlib", "xml", "xmlrpc", "zipapp", "zipfile", "zipimport", "zlib", "zoneinfo",
];
