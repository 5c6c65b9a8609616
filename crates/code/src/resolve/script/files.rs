//! Which file a path without its extension, or with the extension of its build output, means.

use crate::resolve::Tree;
use crate::resolve::path::{base, child};

const TYPESCRIPT_FIRST: &[&str] = &[
    ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs", ".json", ".vue", ".svelte", ".astro", ".d.mts",
    ".d.cts",
];
const JAVASCRIPT_FIRST: &[&str] = &[
    ".js", ".jsx", ".mjs", ".cjs", ".json", ".ts", ".tsx", ".mts", ".cts", ".d.ts", ".vue", ".svelte", ".astro", ".d.mts",
    ".d.cts",
];
/// The sources that an extension of build output may stand for.
const SOURCES: &[(&str, &[&str])] = &[
    (".js", &[".ts", ".tsx", ".d.ts", ".jsx"]),
    (".jsx", &[".tsx", ".d.ts"]),
    (".mjs", &[".mts", ".d.mts"]),
    (".cjs", &[".cts", ".d.cts"]),
];

/// Looks up files as a compiler does. A TypeScript file prefers TypeScript.
#[derive(Clone, Copy)]
pub(super) struct Lookup<'a> {
    pub(super) tree: &'a dyn Tree,
    pub(super) is_typescript: bool,
}

impl Lookup<'_> {
    /// The file that an imported path means: itself, with an extension, or as a folder.
    pub(super) fn find(self, path: &str, is_folder: bool) -> Option<String> {
        let file = if is_folder || path.is_empty() { None } else { self.file(path) };
        file.or_else(|| self.tree.has_folder(path).then(|| self.index(path)).flatten())
    }

    /// The file of a path: with another extension, itself, or with one added.
    pub(super) fn file(self, path: &str) -> Option<String> {
        let sources = || {
            let (stem, sources) = SOURCES.iter().find_map(|(end, sources)| Some((path.strip_suffix(end)?, *sources)))?;
            self.first(stem, sources)
        };
        let itself = || self.tree.has_file(path).then(|| path.to_owned());
        let found = if self.is_typescript { sources().or_else(itself) } else { itself().or_else(sources) };
        found.or_else(|| self.with_extension(path))
    }

    /// A file with an extension added.
    pub(super) fn with_extension(self, path: &str) -> Option<String> {
        self.first(path, if self.is_typescript { TYPESCRIPT_FIRST } else { JAVASCRIPT_FIRST })
    }

    /// The index file of a folder.
    pub(super) fn index(self, folder: &str) -> Option<String> {
        self.with_extension(&child(folder, "index"))
    }

    fn first(self, stem: &str, ends: &[&str]) -> Option<String> {
        let mut candidate = String::with_capacity(stem.len() + 8);
        ends.iter().find_map(|end| {
            candidate.clear();
            candidate.push_str(stem);
            candidate.push_str(end);
            self.tree.has_file(&candidate).then(|| candidate.clone())
        })
    }
}

/// A path without the extension of a script or a declaration.
pub(super) fn without_extension(path: &str) -> &str {
    const ENDS: [&str; 11] = [".d.ts", ".d.mts", ".d.cts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"];
    ENDS.iter().find_map(|end| path.strip_suffix(end)).filter(|stem| !base(stem).is_empty()).unwrap_or(path)
}

/// Whether a file only declares types.
pub(super) fn is_declaration(path: &str) -> bool {
    [".d.ts", ".d.mts", ".d.cts"].iter().any(|end| path.ends_with(end))
}
