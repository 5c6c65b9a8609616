//! Golden files: `tests/golden/<language>/<sample>` and the outline that is expected of it in `<sample>.outline`.
//! `UPDATE_EXPECT=1 cargo test -p syntax --test golden` writes the expected files: read them before a commit.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use expect_test::expect_file;
use syntax::{Bounds, Definition, Language, Outline};

const BOUNDS: Bounds = Bounds { bytes_max: 1 << 20, parse_ms_max: 60_000, items_max: 10_000, text_chars_max: 400 };

macro_rules! golden {
    ($($test:ident),+) => {
        $(#[test] fn $test() { check(stringify!($test)); })+

        #[test]
        fn every_language_has_golden_files() {
            let tests = [$(stringify!($test)),+];
            assert_eq!(Language::ALL.map(Language::name), tests);
        }
    };
}

golden!(
    rust, python, javascript, typescript, tsx, go, java, c, cpp, csharp, ruby, php, kotlin, swift, scala, zig, bash, lua, elixir
);

fn check(name: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let mut samples: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_none_or(|extension| extension != "outline"))
        .collect();
    samples.sort();
    assert!(!samples.is_empty(), "{} is empty", folder.display());
    for sample in samples {
        let text = fs::read_to_string(&sample).unwrap();
        let path = sample.to_str().unwrap();
        let language = Language::of(path, &text).unwrap_or_else(|| panic!("{path} has no language"));
        assert_eq!(language.name(), name, "{path}");
        let outline = syntax::outline(language, &text, &BOUNDS).unwrap();
        expect_file![format!("{path}.outline")].assert_eq(&render(&outline));
    }
}

/// An outline as a person reads it.
fn render(outline: &Outline) -> String {
    let mut out = String::new();
    writeln!(out, "package: {}", outline.package.as_deref().unwrap_or("-")).unwrap();
    writeln!(out, "errors: {}{}", outline.errors, if outline.is_cut { ", cut" } else { "" }).unwrap();
    out.push_str("\nimports\n");
    for import in &outline.imports {
        write!(out, "  {} {:?} {}", import.line, import.kind, import.path).unwrap();
        for name in &import.names {
            let alias = name.alias.as_ref().map(|alias| format!(" as {alias}")).unwrap_or_default();
            write!(out, " [{}{alias}]", name.name).unwrap();
        }
        if let Some(location) = &import.location {
            write!(out, " at {location}").unwrap();
        }
        out.push('\n');
    }
    let names: Vec<String> = outline.exports.iter().map(|export| format!("{}:{}", export.name, export.line)).collect();
    writeln!(out, "\nexports\n  {}\n\ndefinitions", names.join(" ")).unwrap();
    for definition in &outline.definitions {
        let indent = "  ".repeat(parents(outline, definition).len() + 1);
        let Definition { kind, name, start_line, end_line, signature, doc, .. } = definition;
        writeln!(out, "{indent}{start_line}-{end_line} {kind:?} {name} `{signature}`").unwrap();
        for line in doc.lines() {
            writeln!(out, "{indent}  | {line}").unwrap();
        }
    }
    out.push_str("\nreferences\n");
    for reference in &outline.references {
        let from = reference.from.and_then(|from| outline.definitions.get(from as usize));
        let mut path: Vec<&str> = from.map(|from| parents(outline, from)).unwrap_or_default();
        path.extend(from.map(|from| from.name.as_str()));
        let qualifier = reference.qualifier.as_ref().map(|qualifier| format!(" (of `{qualifier}`)")).unwrap_or_default();
        let from = if path.is_empty() { "-".to_owned() } else { path.join(" > ") };
        writeln!(out, "  {} {:?} {}{qualifier} from {from}", reference.line, reference.kind, reference.name).unwrap();
    }
    // No line ends in a blank: editors would change it.
    out.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") + "\n"
}

fn parents<'a>(outline: &'a Outline, definition: &Definition) -> Vec<&'a str> {
    let mut names = Vec::new();
    let mut parent = definition.parent;
    while let Some(outer) = parent.and_then(|parent| outline.definitions.get(parent as usize)) {
        names.push(outer.name.as_str());
        parent = outer.parent;
    }
    names.reverse();
    names
}
