//! Small projects in several languages with the links that a person would draw.

use std::collections::BTreeSet;

use super::super::tests::{indexed, links, write};

/// The files and the expected links of a project.
fn parse(text: &str) -> (Vec<(&str, &str)>, BTreeSet<String>) {
    let mut files = Vec::new();
    let mut expected = BTreeSet::new();
    for part in text.split("=== ").skip(1) {
        let (path, body) = part.split_once('\n').unwrap();
        match path {
            "edges" => expected = body.lines().map(str::to_owned).collect(),
            path => files.push((path, body)),
        }
    }
    (files, expected)
}

#[test]
fn golden_projects_are_linked() {
    let projects = [
        ("python", include_str!("golden/python.txt")),
        ("typescript", include_str!("golden/typescript.txt")),
        ("rust", include_str!("golden/rust.txt")),
        ("go", include_str!("golden/go.txt")),
        ("java", include_str!("golden/java.txt")),
        ("c", include_str!("golden/c.txt")),
        ("ruby", include_str!("golden/ruby.txt")),
    ];
    let mut poor = Vec::new();
    for (language, text) in projects {
        let (files, expected) = parse(text);
        let home = tempfile::tempdir().unwrap();
        for (path, text) in files {
            write(home.path(), path, text);
        }
        let snapshot = indexed(home.path());
        let all: Vec<String> = snapshot.paths.values().flat_map(|number| links(&snapshot, *number)).collect();
        let guessed: BTreeSet<&str> = all.iter().filter_map(|line| line.strip_suffix(" ?")).collect();
        let found: BTreeSet<String> = all.iter().map(|line| line.trim_end_matches(" ?").to_owned()).collect();
        let right = found.intersection(&expected).count();
        let wrong: Vec<&String> = found.difference(&expected).collect();
        let missing: Vec<&String> = expected.difference(&found).collect();
        let certain_and_wrong: Vec<&&String> = wrong.iter().filter(|line| !guessed.contains(line.as_str())).collect();
        let precision = right as f64 / found.len().max(1) as f64;
        let recall = right as f64 / expected.len() as f64;
        println!("{language}: precision {precision:.2}, recall {recall:.2}, {} of {} guessed", guessed.len(), found.len());
        println!("  wrong: {wrong:#?}\n  missing: {missing:#?}");
        if precision < 0.9 || recall < 0.7 || !certain_and_wrong.is_empty() {
            poor.push(format!(
                "{language}: precision {precision:.2}, recall {recall:.2}, certain and wrong {certain_and_wrong:?}"
            ));
        }
    }
    assert!(poor.is_empty(), "{poor:#?}");
}

#[test]
fn circles_of_bases_and_of_exports_end() {
    let home = tempfile::tempdir().unwrap();
    for file in 0..12 {
        let all = (0..12).map(|other| format!("from m{other} import *\nimport m{other}\n"));
        let bases = (0..12).map(|other| format!("m{other}.C{other}.Inner, m{other}.D")).collect::<Vec<_>>().join(", ");
        let body = format!(
            "class C{file}({bases}):\n    def f(self):\n        self.g()\n        super().g()\n        missing_{file}()\n"
        );
        write(home.path(), &format!("m{file}.py"), all.collect::<String>() + &body);
    }
    for file in 0..12 {
        let all = (0..12).map(|other| format!("export * from './s{other}';\n")).collect::<String>();
        write(home.path(), &format!("s{file}.ts"), all + "import { nothing } from './s0';\nnothing();\n");
    }
    let snapshot = indexed(home.path());
    assert_eq!(snapshot.file_count(), 24);
    assert!(snapshot.paths.values().all(|number| links(&snapshot, *number).iter().all(|link| !link.contains("missing_"))));
}
