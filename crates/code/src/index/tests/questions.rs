//! Questions about small projects.

use ::graph::Direction;

use super::super::answers::{Analysis, Analyzed, Searched};
use super::super::graph::Relationship;
use super::super::search::GraphSearch;
use super::super::walk::{Algorithm, WalkCounters};
use super::*;

fn project() -> (tempfile::TempDir, Arc<Snapshot>) {
    let home = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("app.py", "import os\nimport core.a\nfrom core.b import B\n\ndef main():\n    B().run()\n    core.a.helper()\n"),
        ("core/__init__.py", ""),
        ("core/a.py", "from core.b import B\nimport missing_in_core\n\ndef helper():\n    return B()\n"),
        ("core/b.py", "from core import c\n\nclass B:\n    def run(self):\n        c.go(self)\n"),
        ("core/c.py", "from core.a import helper\nfrom . import nothing\n\ndef go(b):\n    helper()\n    go(b)\n"),
        ("lonely.py", "def f():\n    pass\n\ndef f():\n    pass\n"),
        ("odd#name.py", "def f():\n    pass\n"),
    ] {
        write(home.path(), path, text);
    }
    let snapshot = indexed(home.path());
    (home, snapshot)
}

fn analyze(snapshot: &Snapshot, path: &str, analysis: Analysis, depth: u32, algorithm: Algorithm) -> Analyzed {
    snapshot.analyze(path, analysis, depth, false, algorithm).unwrap()
}

fn far(files: &[super::super::answers::FarFile]) -> Vec<(&str, u32)> {
    files.iter().map(|file| (file.path.as_str(), file.distance)).collect()
}

#[test]
fn a_file_is_analysed() {
    let (_home, snapshot) = project();
    let full = analyze(&snapshot, "app.py", Analysis::Full, 5, Algorithm::Fre);
    assert_eq!(far(&full.imports), [("core/a.py", 1), ("core/b.py", 1), ("core/c.py", 2), ("core/__init__.py", 3)]);
    assert_eq!(full.exports, ["main"]);
    assert_eq!(full.circular, [["core/a.py", "core/b.py", "core/c.py"]]);
    assert_eq!((full.impact.len(), full.engine), (0, "bfs"));
    let impact = analyze(&snapshot, "core/c.py", Analysis::Impact, 5, Algorithm::Fre);
    assert_eq!(far(&impact.impact), [("core/b.py", 1), ("app.py", 2), ("core/a.py", 2)]);
    assert!(impact.imports.is_empty() && impact.circular.is_empty());
    let near = analyze(&snapshot, "core/c.py", Analysis::Impact, 1, Algorithm::Fre);
    assert_eq!(far(&near.impact), [("core/b.py", 1)]);
    let external = snapshot.analyze("app.py", Analysis::Imports, 5, true, Algorithm::Fre).unwrap();
    assert!(external.imports.iter().any(|file| file.path == "os"), "{:?}", external.imports);
    assert!(external.edges.iter().any(|edge| edge.to == "os" && edge.resolution.word() == "external"));
    assert!(full.edges.iter().all(|edge| edge.resolution.word() != "external"), "{:?}", full.edges);
}

#[test]
fn all_algorithms_answer_the_same() {
    let (_home, snapshot) = project();
    let plain = |analyzed: Analyzed| Analyzed { engine: "", counters: WalkCounters::default(), ..analyzed };
    for path in ["app.py", "core/a.py", "core/c.py", "lonely.py"] {
        for depth in 0..4 {
            let expected = plain(analyze(&snapshot, path, Analysis::Full, depth, Algorithm::Fre));
            for algorithm in [Algorithm::Dijkstra, Algorithm::Dfs] {
                let found = analyze(&snapshot, path, Analysis::Full, depth, algorithm);
                assert_eq!(found.engine, algorithm.engine());
                assert_eq!(plain(found), expected, "{path} {depth} {algorithm:?}");
            }
        }
    }
}

fn asked(starts: &[&str]) -> GraphSearch {
    GraphSearch {
        start_nodes: starts.iter().map(|start| (*start).to_owned()).collect(),
        relationships: Vec::new(),
        max_depth: 5,
        algorithm: Algorithm::Fre,
        direction: Direction::Out,
        limit: 100,
        cursor: None,
    }
}

fn ids(found: &Searched) -> Vec<(&str, &str, u32)> {
    found.nodes.iter().map(|node| (node.id.as_str(), node.kind, node.depth)).collect()
}

#[test]
fn symbols_and_files_are_walked() {
    let (_home, snapshot) = project();
    let calls = GraphSearch { relationships: vec![Relationship::Calls], ..asked(&["app.py#main"]) };
    let found = snapshot.graph_search(&calls).unwrap();
    assert_eq!(
        ids(&found),
        [
            ("app.py#main", "function", 0),
            ("core/a.py#helper", "function", 1),
            ("core/b.py#B", "class", 1),
            ("core/b.py#B.run", "method", 1),
            ("core/c.py#go", "function", 2),
        ]
    );
    let callers = GraphSearch { direction: Direction::In, max_depth: 1, ..calls.clone() };
    let callers = GraphSearch { start_nodes: vec!["core/c.py#go".to_owned()], ..callers };
    assert_eq!(
        ids(&snapshot.graph_search(&callers).unwrap()),
        [("core/c.py#go", "function", 0), ("core/b.py#B.run", "method", 1)]
    );
    let imports = GraphSearch { relationships: vec![Relationship::Imports], max_depth: 1, ..asked(&["core/c.py"]) };
    assert_eq!(
        ids(&snapshot.graph_search(&imports).unwrap()),
        [("core/c.py", "file", 0), ("core/__init__.py", "file", 1), ("core/a.py", "file", 1)]
    );
    let exports = GraphSearch { relationships: vec![Relationship::Exports], ..asked(&["core/b.py"]) };
    assert_eq!(ids(&snapshot.graph_search(&exports).unwrap()), [("core/b.py", "file", 0), ("core/b.py#B", "class", 0)]);
}

#[test]
fn pages_together_are_the_whole() {
    let (_home, snapshot) = project();
    for algorithm in [Algorithm::Fre, Algorithm::Bfs, Algorithm::Dijkstra] {
        for direction in [Direction::Out, Direction::In, Direction::Both] {
            let whole = snapshot.graph_search(&GraphSearch { algorithm, direction, ..asked(&["core/a.py"]) }).unwrap();
            assert_eq!(whole.next, None);
            let (mut nodes, mut edges, mut cursor) = (Vec::new(), Vec::new(), None);
            loop {
                let page = GraphSearch { algorithm, direction, limit: 2, cursor, ..asked(&["core/a.py"]) };
                let page = snapshot.graph_search(&page).unwrap();
                nodes.extend(page.nodes);
                edges.extend(page.edges);
                cursor = page.next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!((&nodes, &edges), (&whole.nodes, &whole.edges), "{algorithm:?} {direction:?}");
            assert!(nodes.len() > 3);
        }
    }
}

#[test]
fn an_unknown_node_is_named_with_similar_ones() {
    let (_home, snapshot) = project();
    for (id, similar) in [
        ("core/aa.py", "`core/a.py`"),
        ("a.py", "`core/a.py`"),
        ("core/b.py#B.rum", "`core/b.py#B.run`"),
        ("core/b.py#run", "`core/b.py#B.run`"),
        ("nothing/like/it.zig", "relative to the project's root"),
    ] {
        let error = snapshot.graph_search(&asked(&[id])).unwrap_err();
        assert!(error.message().contains(&format!("`{id}`")) && error.message().contains(similar), "{}", error.message());
        assert_eq!(error.data()["parameter"], "start_nodes");
    }
    assert!(snapshot.graph_search(&asked(&[])).is_err());
    assert!(snapshot.analyze("nope.py", Analysis::Full, 1, false, Algorithm::Fre).is_err());
}

#[test]
fn symbols_have_names_of_their_own() {
    let (_home, snapshot) = project();
    let names: Vec<String> = snapshot.symbols("lonely.py").unwrap().into_iter().map(|symbol| symbol.name).collect();
    assert_eq!(names, ["f", "f~2"]);
    assert_eq!(snapshot.symbol("lonely.py#f~2").unwrap().1.start_line, 4);
    assert_eq!(snapshot.symbol("odd#name.py#f").unwrap().0, "odd#name.py");
    assert_eq!(snapshot.symbol("core/b.py#B.run").unwrap().1.start_line, 4);
    assert!(snapshot.symbol("core/b.py#run").is_none());
    let found = snapshot.dependencies("core/c.py").unwrap();
    assert_eq!(found.exports, ["go"]);
    assert_eq!(found.imported_by, ["core/b.py"]);
}

#[test]
fn an_overview_names_what_everything_depends_on() {
    let (_home, snapshot) = project();
    let overview = snapshot.overview();
    assert_eq!((overview.files, overview.circles), (7, 1));
    assert_eq!(overview.languages, [("python", 7)]);
    assert_eq!(overview.imports, 6);
    let central: Vec<&str> = overview.central.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(central.len(), 4, "{central:?}");
}
