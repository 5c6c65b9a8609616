//! What hostile trees must not do: an edge always leads to a file of the tree, never to the file itself, and nothing panics.

use std::collections::BTreeSet;

use proptest::prelude::*;
use syntax::{Definition, DefinitionKind, Import, ImportKind, Imported, Language, Outline, Reference, ReferenceKind};

use super::Literal;
use crate::resolve::edges::CANDIDATES_MAX;
use crate::resolve::{Resolution, Resolver, Source, Target};

/// Parts of paths and names, also of strange ones.
const PARTS: [&str; 24] = [
    "a", "b", "src", "lib", ".", "..", "*", "crate", "super", "self", "", "\\", "é", "$x", "#a", "@a", "index", "mod",
    "__init__", "?", "!", "[", "%", ":",
];
const SEPARATORS: [&str; 4] = ["/", ".", "::", "\\"];
const ENDS: [&str; 12] = [".py", ".ts", ".js", ".rs", ".go", ".c", ".rb", ".php", ".lua", ".java", ".ex", ".sh"];
const MANIFESTS: [&str; 9] = [
    "tsconfig.json",
    "package.json",
    "go.mod",
    "go.work",
    "Cargo.toml",
    "composer.json",
    "pyproject.toml",
    "build.zig",
    "compile_commands.json",
];
const TEXTS: [&str; 12] = [
    r#"{"extends": "./tsconfig.json", "compilerOptions": {"baseUrl": "..", "paths": {"*": ["*", "../*"], "a*b*c": ["**"]}}, "references": [{"path": "."}]}"#,
    r##"{"name": "a", "workspaces": ["**", "*"], "exports": {"./*": "./*", ".": {"x": [{"y": "./src/*"}]}}, "imports": {"#a": "#a"}, "main": ".."}"##,
    "module a\nreplace a => ..\nreplace b => ./a\nuse .\nuse (\n..\na\n",
    "[package]\nname = \"a\"\nbuild = \"..\"\n[lib]\npath = \"../a.rs\"\n[dependencies]\na = { path = \".\" }\nb = { path = \"..\" }\n[[bin]]\npath = \"src/a.rs\"\n",
    r#"{"autoload": {"psr-4": {"": ["", ".."], "a\\": "."}, "psr-0": {"": "."}, "classmap": [".."]}}"#,
    "[tool.setuptools.packages.find]\nwhere = [\"..\", \".\", \"a\"]\n",
    "addModule(\"a\", \"a.zig\" addModule(\"",
    r#"[{"directory": "/", "file": "a.c", "command": "-I -I.. -I/ -I"}, 1, {"arguments": ["-I"]}]"#,
    "",
    "{",
    "[[[[[[[[[[[[[[[[[[[[",
    "\"",
];

fn text() -> impl Strategy<Value = String> {
    (prop::sample::select(&SEPARATORS[..]), prop::collection::vec(prop::sample::select(&PARTS[..]), 0..5))
        .prop_map(|(separator, parts)| parts.join(separator))
}

fn import() -> impl Strategy<Value = Import> {
    let kinds = [
        ImportKind::Plain,
        ImportKind::Wildcard,
        ImportKind::Module,
        ImportKind::Relative,
        ImportKind::System,
        ImportKind::Dynamic,
    ];
    let name = text().prop_map(|name| Imported { name, alias: None });
    let location = prop::option::of(text());
    (prop::sample::select(kinds.to_vec()), text(), prop::collection::vec(name, 0..3), location, 0_u32..5)
        .prop_map(|(kind, path, names, location, line)| Import { kind, path, names, location, line })
}

fn definition() -> impl Strategy<Value = Definition> {
    let kinds = [DefinitionKind::Module, DefinitionKind::Class, DefinitionKind::Function];
    // A parent that does not exist, or a circle of parents, must not matter.
    (prop::sample::select(kinds.to_vec()), text(), prop::option::of(0_u32..4), 0_u32..5).prop_map(|(kind, name, parent, line)| {
        let (signature, doc) = (String::new(), String::new());
        Definition { kind, name, parent, start_line: line, end_line: line + 2, start: 0, end: 1, signature, doc }
    })
}

fn outline() -> impl Strategy<Value = Outline> {
    let reference = (text(), prop::option::of(text())).prop_map(|(name, qualifier)| Reference {
        kind: ReferenceKind::Call,
        name,
        qualifier,
        from: None,
        line: 1,
    });
    let imports = prop::collection::vec(import(), 0..6);
    let definitions = prop::collection::vec(definition(), 0..4);
    (imports, definitions, prop::collection::vec(reference, 0..4), prop::option::of(text())).prop_map(
        |(imports, definitions, references, package)| Outline { imports, definitions, references, package, ..Outline::default() },
    )
}

fn path() -> impl Strategy<Value = String> {
    let folders = prop::collection::vec(prop::sample::select(&["a", "b", "src", "lib", "index", "mod", "__init__"][..]), 1..4);
    (folders, prop::sample::select(&ENDS[..])).prop_map(|(parts, end)| format!("{}{end}", parts.join("/")))
}

fn manifest() -> impl Strategy<Value = (String, String)> {
    let folder = prop::sample::select(&["", "a/", "a/b/", "src/"][..]);
    (folder, prop::sample::select(&MANIFESTS[..]), prop::sample::select(&TEXTS[..]))
        .prop_map(|(folder, name, text)| (format!("{folder}{name}"), text.to_owned()))
}

proptest! {
    #[test]
    fn every_edge_leads_to_another_file_of_the_tree(
        files in prop::collection::btree_map(path(), outline(), 1..8),
        manifests in prop::collection::vec(manifest(), 0..6),
        other in prop::option::of(prop::sample::select(&Language::ALL[..])),
    ) {
        let texts = files.keys().map(|path| (path.clone(), String::new()));
        let tree = Literal::new(texts.chain(manifests));
        let sources: Vec<Source<'_>> = files
            .iter()
            .map(|(path, outline)| Source { path, language: other.or_else(|| Language::of(path, "")), outline })
            .collect();
        let resolver = Resolver::new(&tree, &mut sources.iter().copied());
        for source in &sources {
            let mut seen = BTreeSet::new();
            for edge in resolver.imports(&tree, source) {
                prop_assert!((edge.import as usize) < source.outline.imports.len());
                if let Target::File(target) = &edge.target {
                    prop_assert!(tree.files.contains_key(&**target), "{target} is not there");
                    prop_assert!(**target != *source.path);
                    prop_assert!(matches!(edge.resolution, Resolution::Exact | Resolution::Heuristic));
                    seen.insert(target.clone());
                }
            }
            for edge in resolver.references(source) {
                prop_assert!(tree.files.contains_key(&*edge.target) && *edge.target != *source.path);
            }
            prop_assert!(seen.len() <= files.len().max(CANDIDATES_MAX));
        }
    }
}

#[test]
fn changed_manifests_are_known() {
    let files =
        [("tsconfig.json", r#"{"extends": "./shared/strict.json"}"#), ("shared/strict.json", "{}"), ("a.ts", "import './b';")];
    let tree = Literal::new(files.map(|(path, text)| (path.to_owned(), text.to_owned())));
    let outlines = super::outlines(&tree);
    let mut sources = outlines.iter().map(|(path, language, outline)| Source { path, language: *language, outline });
    let resolver = Resolver::new(&tree, &mut sources);
    assert!(resolver.has_read("shared/strict.json") && !Resolver::is_manifest("shared/strict.json"));
    assert!(resolver.has_read("tsconfig.json") && Resolver::is_manifest("tsconfig.json"));
    assert!(!resolver.has_read("a.ts") && !Resolver::is_manifest("a.ts"));
}
