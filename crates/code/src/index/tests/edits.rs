//! After any edits, an index that followed them equals one that is made from scratch.

use proptest::prelude::*;

use super::super::snapshot::Following;
use super::*;

const PATHS: [&str; 16] = [
    "a.py",
    "b.py",
    "pkg/__init__.py",
    "pkg/c.py",
    "pkg/d.py",
    "src/x.ts",
    "src/y.ts",
    "src/z/index.ts",
    "src/z/w.ts",
    "src/lib.rs",
    "src/m.rs",
    "src/m/n.rs",
    "Cargo.toml",
    "j/A.java",
    "j/B.java",
    "j/C.java",
];

const PYTHON: [&str; 9] = [
    "def f():\n    return 1\n",
    "from a import f\n\ndef g():\n    return f()\n",
    "from pkg import *\nfrom pkg.c import Base\n\nclass D(Base):\n    def run(self):\n        self.helper()\n        f()\n",
    "class Base:\n    def helper(self):\n        pass\n\ndef f():\n    pass\n",
    "from .c import Base, f\nfrom .d import *\n",
    "import b\nimport pkg.d\n\ndef h():\n    b.g()\n    pkg.d.g()\n    thing.helper()\n",
    "",
    "class Base:\n    pass\n\nclass Mid(Base):\n    def helper(self):\n        return g()\n\ndef g():\n    pass\n",
    "from pkg.d import Mid as Base\n\nclass E(Base):\n    def go(self):\n        self.helper()\n",
];

const SCRIPT: [&str; 6] = [
    "export function f() { return 1; }\n",
    "import { f } from './y';\nexport class A { go() { f(); } }\n",
    "export * from './z';\nexport { f as g } from './x';\n",
    "import { A } from './x';\nimport { g } from './y';\nexport class B extends A { run() { this.go(); g(); } }\n",
    "import * as y from '../y';\nexport default function w() { y.f(); y.go(); }\n",
    "export { default } from './w';\nimport w from './w';\nw();\n",
];

const RUST: [&str; 7] = [
    "mod m;\npub use m::n::deep;\nfn top() {\n    m::f();\n    crate::m::n::deep();\n}\n",
    "pub mod n;\nuse n::N;\npub fn f() {\n    N::new().go();\n    super::top();\n}\n",
    "pub struct N;\nimpl N {\n    pub fn new() -> Self {\n        Self\n    }\n    pub fn go(&self) {\n        deep();\n    }\n}\npub fn deep() {}\n",
    "pub trait Go {\n    fn go(&self);\n}\npub struct N;\nimpl Go for N {\n    fn go(&self) {}\n}\n",
    "use crate::m::f;\nuse crate::m::n::*;\nfn top() {\n    f();\n    deep();\n}\n",
    "pub mod m {\n    pub fn f() {}\n}\npub mod n;\n",
    "",
];

const MANIFEST: [&str; 2] =
    ["[package]\nname = \"one\"\nedition = \"2024\"\n", "[package]\nname = \"two\"\n\n[lib]\npath = \"src/m.rs\"\n"];

const JAVA: [&str; 6] = [
    "package p;\nclass A {\n    void a() {\n        new B().b();\n        C.c();\n    }\n}\n",
    "package p;\nclass B extends A {\n    void b() {\n        a();\n    }\n}\n",
    "package q;\nimport p.*;\npublic class C extends B {\n    static void c() {\n        new A();\n    }\n}\n",
    "package p;\npublic class C {\n    static void c() {}\n    void a() {}\n}\n",
    "package q;\nimport static p.C.c;\nclass A {\n    void a() {\n        c();\n    }\n}\n",
    "package p;\ninterface A {}\n",
];

#[derive(Clone, Debug)]
enum Edit {
    Write(usize, usize),
    Delete(usize),
    Rename(usize, usize),
    RenameFolder,
    Ignore(bool),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        6 => (0..PATHS.len(), 0..9usize).prop_map(|(path, text)| Edit::Write(path, text)),
        2 => (0..PATHS.len()).prop_map(Edit::Delete),
        2 => (0..PATHS.len(), 0..PATHS.len()).prop_map(|(from, to)| Edit::Rename(from, to)),
        1 => Just(Edit::RenameFolder),
        1 => any::<bool>().prop_map(Edit::Ignore),
    ]
}

/// Does an edit, and returns the paths that an event would name.
fn apply(root: &Path, edit: &Edit) -> Vec<String> {
    match edit {
        Edit::Write(path, text) => {
            let path = PATHS[*path];
            let texts: &[&str] = match path.rsplit('.').next() {
                Some("py") => &PYTHON,
                Some("rs") => &RUST,
                Some("toml") => &MANIFEST,
                Some("java") => &JAVA,
                _ => &SCRIPT,
            };
            write(root, path, texts[text % texts.len()]);
            vec![path.to_owned()]
        }
        Edit::Delete(path) => {
            drop(std::fs::remove_file(root.join(PATHS[*path])));
            vec![PATHS[*path].to_owned()]
        }
        Edit::Rename(from, to) => {
            let (from, to) = (PATHS[*from], PATHS[*to]);
            if root.join(from).exists() {
                std::fs::create_dir_all(root.join(to).parent().unwrap()).unwrap();
                std::fs::rename(root.join(from), root.join(to)).unwrap();
            }
            vec![from.to_owned(), to.to_owned()]
        }
        Edit::RenameFolder => {
            let (from, to) = if root.join("pkg").exists() { ("pkg", "other") } else { ("other", "pkg") };
            if root.join(from).exists() {
                drop(std::fs::remove_dir_all(root.join(to)));
                std::fs::rename(root.join(from), root.join(to)).unwrap();
            }
            vec!["pkg".to_owned(), "other".to_owned()]
        }
        Edit::Ignore(is_on) => {
            write(root, ".gitignore", if *is_on { "src/z\n" } else { "" });
            vec![String::new()]
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn a_followed_index_equals_a_new_one(
        first in prop::collection::vec(edit(), 0..20),
        later in prop::collection::vec((edit(), 0u8..3), 1..12),
    ) {
        let home = tempfile::tempdir().unwrap();
        for edit in &first {
            apply(home.path(), edit);
        }
        let followed = index(home.path(), None, Clock::system());
        followed.catch_up();
        for (edit, way) in &later {
            let paths = apply(home.path(), edit);
            match way {
                _ if matches!(edit, Edit::Ignore(_)) => followed.reconcile(),
                0 => followed.reconcile(),
                1 if !matches!(edit, Edit::RenameFolder) => {
                    for path in &paths {
                        followed.refresh(path);
                    }
                    followed.catch_up();
                }
                _ => {
                    followed.waiting.ask_for(paths);
                    followed.catch_up();
                }
            }
            let (snapshot, expected) = (followed.snapshot(), indexed(home.path()));
            prop_assert_eq!(described(&snapshot), described(&expected), "after {:?}", edit);
            let edges = |snapshot: &Snapshot| {
                let graph = snapshot.graph();
                (graph.all.edge_count(), graph.files.edge_count(), graph.cycles.cycles().len(), graph.all.node_count())
            };
            prop_assert_eq!(edges(&snapshot), edges(&expected));
        }
    }
}

#[test]
fn one_file_is_refreshed_at_once() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), "a.py", "def f():\n    pass\n");
    write(home.path(), "b.py", "from a import f\n\ndef g():\n    f()\n");
    write(home.path(), ".gitignore", "out\n");
    let index = index(home.path(), None, Clock::system());
    index.catch_up();
    assert!(!index.refresh("a.py"), "nothing changed");
    assert_eq!(index.snapshot().dependencies("a.py").unwrap().imported_by, ["b.py"]);
    // The same length, as fast as it can be.
    write(home.path(), "a.py", "def e():\n    pass\n");
    assert!(index.refresh("a.py"));
    assert_eq!(index.snapshot().symbols("a.py").unwrap()[0].name, "e");
    let links = |path: &str| {
        let snapshot = index.snapshot();
        links(&snapshot, snapshot.file_number(path).unwrap())
    };
    assert!(links("b.py").is_empty(), "the symbol that it calls is gone");
    write(home.path(), "out/c.py", "x = 1\n");
    assert!(!index.refresh("out/c.py"), "ignored files stay out");
    write(home.path(), "d.py", "import b\n");
    assert!(index.refresh("d.py"), "a new file");
    assert_eq!(index.snapshot().dependencies("b.py").unwrap().imported_by, ["d.py"]);
    std::fs::remove_file(home.path().join("d.py")).unwrap();
    assert!(index.refresh("d.py"));
    assert!(index.snapshot().dependencies("b.py").unwrap().imported_by.is_empty());
    assert!(!index.refresh("../a.py") && !index.refresh("missing.py"));
    assert_eq!(index.coverage().following, Following::Events);
}
