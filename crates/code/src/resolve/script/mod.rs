//! Imports of JavaScript and TypeScript, as the TypeScript compiler and bundlers read them. It is our own reader and not
//! `oxc_resolver`, because that one keeps a file system and a cache of its own: it cannot borrow the tree of a call, so it would give
//! stale answers. It also does not know packages of a workspace without `node_modules`, and it does not bound what it reads.

mod config;
mod files;
mod package;
mod workspace;

use syntax::{ImportKind, Language};

use self::config::Configs;
use self::files::Lookup;
use self::package::{Found, Package, Packages};
use super::edges::{CANDIDATES_MAX, Edges};
use super::manifest::Manifests;
use super::path::{base, join, parent};
use super::{Resolution, Source, Tree};

/// Packages and configurations of a tree.
#[derive(Default)]
pub(super) struct Index {
    packages: Packages,
    configs: Configs,
}

/// What an import means.
enum Meaning {
    Files(Vec<Found>),
    External(String),
    Nothing,
}

impl From<Option<Found>> for Meaning {
    fn from(found: Option<Found>) -> Self {
        found.map_or(Self::Nothing, |found| Self::Files(vec![found]))
    }
}

impl Index {
    pub(super) fn new(manifests: &Manifests<'_>) -> Self {
        let packages = Packages::new(manifests);
        let configs = Configs::new(manifests, &packages);
        Self { packages, configs }
    }

    pub(super) fn imports(&self, tree: &dyn Tree, source: &Source<'_>, edges: &mut Edges<'_>) {
        let is_typescript = matches!(source.language, Some(Language::TypeScript | Language::Tsx));
        let lookup = Lookup { tree, is_typescript };
        for (number, import) in source.outline.imports.iter().enumerate() {
            edges.at(number, None);
            let meaning = match import.kind {
                ImportKind::Relative => self.relative(lookup, source.path, &import.path),
                _ => self.meaning(lookup, source.path, &import.path),
            };
            match meaning {
                Meaning::Files(found) if found.len() <= CANDIDATES_MAX => {
                    let is_one = found.len() == 1;
                    for (file, resolution) in found {
                        edges.file(file, if is_one { resolution } else { Resolution::Heuristic });
                    }
                }
                Meaning::Files(_) | Meaning::Nothing => edges.unresolved(),
                Meaning::External(name) => edges.external(&name),
            }
        }
    }

    fn meaning(&self, lookup: Lookup<'_>, file: &str, import: &str) -> Meaning {
        // Loaders stand before the path (`raw!./a`), their options after it (`./a?raw`).
        let import = import.rsplit('!').next().unwrap_or(import);
        let import = import.split('?').next().unwrap_or(import);
        if import.starts_with("./") || import.starts_with("../") || matches!(import, "." | "..") {
            return self.relative(lookup, file, import);
        }
        let config = self.configs.of(file);
        let mut is_ours = false;
        for mapping in config.iter().flat_map(|config| config.mappings.iter()) {
            let Some(targets) = mapping.targets(import) else { continue };
            let found = targets.filter_map(|target| lookup.find(&target, false)).next();
            if let Some(file) = found {
                return Meaning::Files(vec![(file, Resolution::Exact)]);
            }
            // Only the best pattern is tried. If it is not one for everything (`*`), the project claims the name.
            is_ours = mapping.is_specific();
            break;
        }
        let own = self.packages.around(file);
        if import.starts_with('#') {
            return self.private(lookup, own, import);
        }
        if let Some(file) = config.and_then(|config| lookup.find(&join(config.base.as_deref()?, import)?, false)) {
            return Meaning::Files(vec![(file, Resolution::Exact)]);
        }
        match self.bare(lookup, own, import) {
            Meaning::External(_) if is_ours => Meaning::Nothing,
            meaning => meaning,
        }
    }

    /// An import of a file or a folder. The package.json of a folder says which of its files is meant.
    fn relative(&self, lookup: Lookup<'_>, file: &str, import: &str) -> Meaning {
        let import = import.split('?').next().unwrap_or(import);
        let is_folder = import.ends_with('/') || matches!(base(import), "." | "..");
        let Some(path) = join(parent(file), import) else { return Meaning::Nothing };
        let as_file = if is_folder { None } else { lookup.file(&path) };
        let exact = |file| (file, Resolution::Exact);
        let found = as_file.map(exact).or_else(|| self.packages.at(&path)?.entry(lookup, ""));
        found.or_else(|| lookup.find(&path, true).map(exact)).into()
    }

    /// An import of a package.
    fn bare(&self, lookup: Lookup<'_>, own: Option<&Package>, import: &str) -> Meaning {
        let is_other = import.is_empty() || import.starts_with('/') || import.starts_with('~');
        if is_other {
            return Meaning::Nothing;
        }
        if import.contains(':') {
            return Meaning::External(import.to_owned());
        }
        let (name, path) = package::split(import);
        let packages = self.packages.named(own, name);
        if packages.is_empty() {
            return Meaning::External(if BUILT_IN.contains(&name) { format!("node:{import}") } else { name.to_owned() });
        }
        let found: Vec<_> = packages.into_iter().filter_map(|package| package.entry(lookup, path)).collect();
        if found.is_empty() { Meaning::Nothing } else { Meaning::Files(found) }
    }

    /// An import that the package itself defines.
    fn private(&self, lookup: Lookup<'_>, own: Option<&Package>, import: &str) -> Meaning {
        let Some(own) = own else { return Meaning::Nothing };
        let (inside, outside): (Vec<_>, Vec<_>) = own.private(import).into_iter().partition(|target| target.starts_with('.'));
        match (own.best(lookup, &inside), outside.first()) {
            (Some(found), _) => Meaning::Files(vec![found]),
            (None, Some(package)) => self.bare(lookup, Some(own), package),
            (None, None) => Meaning::Nothing,
        }
    }
}

/// The modules of Node that are imported without `node:`.
#[rustfmt::skip]
const BUILT_IN: &[&str] = &[
    "assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram",
    "diagnostics_channel", "dns", "domain", "events", "fs", "http", "http2", "https", "inspector", "module", "net", "os", "path",
    "perf_hooks", "process", "punycode", "querystring", "readline", "repl", "stream", "string_decoder", "sys", "timers", "tls",
    "trace_events", "tty", "url", "util", "v8", "vm", "wasi", "worker_threads", "zlib",
];
