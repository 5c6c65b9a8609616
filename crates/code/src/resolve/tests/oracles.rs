//! Import graphs of real projects, compared with those of other programs: grimp, ruff and madge. Their packages are pinned by hash.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use syntax::ImportKind;
use testkit::node::NodePackages;
use testkit::python::PythonPackages;

use super::{Literal, outlines};
use crate::resolve::{Resolution, Resolver, Source, Target};

/// Both ways.
const AGREEMENT_MIN: f64 = 0.99;
/// madge needs it.
const NODE_MAJOR_MIN: u32 = 18;

type Edges = BTreeSet<(String, String)>;

fn tests_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// Runs a program and parses the lists that it prints: `{from: [to]}`.
fn lists(command: &mut Command) -> BTreeMap<String, Vec<String>> {
    let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    assert!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn edges(lists: &BTreeMap<String, Vec<String>>, file: impl Fn(&str) -> String) -> Edges {
    lists.iter().flat_map(|(from, targets)| targets.iter().map(|to| (file(from), file(to)))).collect()
}

/// Copies the files with these ends into a new folder, and reads them.
fn copy(from: &Path, to: &Path, name: &str, ends: &[&str], files: &mut Vec<(String, String)>) {
    fs::create_dir_all(to.join(name)).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let path = format!("{name}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), to, &path, ends, files);
        } else if ends.iter().any(|end| path.ends_with(end)) {
            let text = fs::read_to_string(entry.path()).unwrap();
            fs::write(to.join(&path), &text).unwrap();
            files.push((path, text));
        }
    }
}

/// Our edges between files. All of them must be certain.
fn ours(files: Vec<(String, String)>, counts: impl Fn(ImportKind) -> bool) -> Edges {
    let tree = Literal::new(files);
    let outlines = outlines(&tree);
    let sources: Vec<Source<'_>> =
        outlines.iter().map(|(path, language, outline)| Source { path, language: *language, outline }).collect();
    let resolver = Resolver::new(&tree, &mut sources.iter().copied());
    let mut found = Edges::new();
    for source in &sources {
        for edge in resolver.imports(&tree, source) {
            let import = source.outline.imports.get(edge.import as usize).unwrap();
            let Target::File(target) = edge.target else { continue };
            assert_eq!(edge.resolution, Resolution::Exact, "{}: {import:?}", source.path);
            if counts(import.kind) {
                found.insert((source.path.to_owned(), target.into()));
            }
        }
    }
    found
}

/// The strongly connected components with more than one file.
fn cycles(edges: &Edges) -> BTreeSet<Vec<String>> {
    let mut graph = graph::Graph::new();
    let mut numbers: HashMap<&str, graph::Node> = HashMap::new();
    for (from, to) in edges {
        let [from, to] = [from, to].map(|file| *numbers.entry(file).or_insert_with(|| graph.add_node()));
        graph.add_edge(from, to, ());
    }
    let names: HashMap<graph::Node, &str> = numbers.into_iter().map(|(name, number)| (number, name)).collect();
    let found = graph::components(&graph, |()| true);
    let named = |cycle: &[graph::Node]| {
        let mut named: Vec<_> = cycle.iter().map(|node| names.get(node).unwrap().to_string()).collect();
        named.sort();
        named
    };
    found.cycles().into_iter().map(named).collect()
}

#[track_caller]
fn compare(name: &str, ours: &Edges, theirs: &Edges) {
    let common = ours.intersection(theirs).count() as f64;
    let (precision, recall) = (common / ours.len() as f64, common / theirs.len() as f64);
    println!("{name}: {} edges, ours {}, precision {precision:.4}, recall {recall:.4}", theirs.len(), ours.len());
    let extra: Vec<_> = ours.difference(theirs).take(10).collect();
    let missing: Vec<_> = theirs.difference(ours).take(10).collect();
    assert!(precision >= AGREEMENT_MIN && recall >= AGREEMENT_MIN, "{name}: extra {extra:?}, missing {missing:?}");
    let (our_cycles, their_cycles) = (cycles(ours), cycles(theirs));
    println!("{name}: {} cycles of {:?}", our_cycles.len(), our_cycles.iter().map(Vec::len).collect::<Vec<_>>());
    assert!(our_cycles == their_cycles, "{name}: other cycles; extra {extra:?}, missing {missing:?}");
}

#[test]
fn the_graph_of_django_is_that_of_grimp_and_ruff() {
    let packages = PythonPackages::install(&tests_path("python/imports.txt"));
    let script = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let output = packages.program("python").args(["-c", script]).output().unwrap();
    let library = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    copy(&library.join("django"), folder.path(), "django", &[".py"], &mut files);
    assert_eq!(files.len(), 885);
    let paths: BTreeSet<String> = files.iter().map(|(path, _)| path.clone()).collect();
    let ours = ours(files, |_| true);

    let mut ruff = packages.program("ruff");
    let said = lists(ruff.args(["analyze", "graph", "--isolated", "django"]).current_dir(&folder));
    compare("ruff", &ours, &edges(&said, str::to_owned));

    let mut grimp = packages.program("python");
    let said = lists(grimp.arg(tests_path("python/imports.py")).current_dir(&folder));
    let file = |module: &str| {
        let path = module.replace('.', "/");
        [format!("{path}/__init__.py"), format!("{path}.py")].into_iter().find(|path| paths.contains(path)).unwrap()
    };
    compare("grimp", &ours, &edges(&said, file));
}

#[test]
fn the_graph_of_rxjs_is_that_of_madge() {
    let packages = NodePackages::install(&tests_path("node/madge"), NODE_MAJOR_MIN);
    let package = packages.folder("rxjs");
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    copy(&package.join("src"), folder.path(), "src", &[".ts", ".json"], &mut files);
    fs::copy(package.join("tsconfig.json"), folder.path().join("tsconfig.json")).unwrap();
    files.push(("tsconfig.json".to_owned(), fs::read_to_string(package.join("tsconfig.json")).unwrap()));
    // madge does not read `/// <reference path>`.
    let ours = ours(files, |kind| kind != ImportKind::Relative);

    let mut madge = packages.script("madge/bin/cli.js", &[]);
    madge.args(["--json", "--extensions", "ts,tsx,js,jsx", "--ts-config", "tsconfig.json", "src"]).current_dir(&folder);
    let theirs = lists(&mut madge);
    assert!(theirs.len() >= 250, "madge read {} files only", theirs.len());
    compare("madge", &ours, &edges(&theirs, |file| format!("src/{file}")));
}
