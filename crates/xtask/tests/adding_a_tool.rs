//! Checks `docs/adding-a-tool.md` against an existing tool: every file exists and contains the tool.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;

use xtask::root;

/// The tool in the checklist's example: its family, its file and its name.
const FAMILY: &str = "kits";
const FILE: &str = "get";
const TOOL: &str = "kits.get";

/// The files that the checklist names, and texts in each that show that the step was done.
const STEPS: &[(&str, &[&str])] = &[
    (
        "crates/tools/src/kits/get.rs",
        &["impl Tool for Get", "Cow::Borrowed(\"kits.get\")", "deny_unknown_fields", ".with_rows(", "rows::line("],
    ),
    ("crates/tools/src/catalogue.rs", &["Registered::typed(kits::Get)"]),
    ("docs/tools.md", &["## kits.get", "[`kits.get`](#kitsget)"]),
    ("crates/tools/src/rows.rs", &["pub(crate) fn line("]),
    ("crates/cli/tests/it/menu.rs", &["const TOOLS: &[ToolRow]", "name: \"kits.get\""]),
    ("crates/cli/tests/it/answers.rs", &["fn calls(", "(\"kits.get\", "]),
    // The leak test calls every tool of the menu.
    ("crates/cli/tests/it/leak.rs", &["for row in TOOLS"]),
];

fn checklist() -> String {
    let text = fs::read_to_string(root().join("docs/adding-a-tool.md")).unwrap();
    text.replace("<family>", FAMILY).replace("<tool>", FILE)
}

/// The paths in backticks. The code of the example contains none.
fn named_files(text: &str) -> BTreeSet<&str> {
    let is_path = |word: &&str| (word.starts_with("crates/") || word.starts_with("docs/")) && !word.contains([' ', '\n']);
    text.split('`').filter(is_path).collect()
}

#[test]
fn files_of_the_checklist_exist() {
    let text = checklist();
    let named = named_files(&text);
    assert!(named.len() >= STEPS.len(), "{named:?}");
    for path in named {
        assert!(root().join(path).is_file(), "docs/adding-a-tool.md names {path}, which does not exist");
    }
}

#[test]
fn every_file_of_the_checklist_is_checked() {
    let text = checklist();
    let steps: BTreeSet<&str> = STEPS.iter().map(|(path, _)| *path).collect();
    assert_eq!(named_files(&text), steps);
}

#[test]
fn every_step_is_done_for_the_example() {
    for (path, proofs) in STEPS {
        let text = fs::read_to_string(root().join(path)).unwrap();
        for proof in *proofs {
            assert!(text.contains(proof), "{path} lacks `{proof}`, which `{TOOL}` needs");
        }
    }
}

#[test]
fn the_example_is_the_checked_tool() {
    let text = checklist();
    for member in ["Cow::Borrowed(\"kits.get\")", "impl Tool for Get", "Scope::KitsRead", "Effect::ReadOnly"] {
        assert!(text.contains(member), "the example lacks `{member}`");
    }
}

#[test]
fn every_tool_is_in_each_list_of_the_checklist() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let [reference, menu, answers] = ["docs/tools.md", "crates/cli/tests/it/menu.rs", "crates/cli/tests/it/answers.rs"].map(read);
    let catalogue = tools::Catalogue::builtin().unwrap();
    let names: Vec<String> = catalogue.tools().iter().map(|tool| tool.spec().name.to_string()).collect();
    assert!(names.iter().any(|name| name == TOOL), "{names:?}");
    for name in names {
        assert!(reference.contains(&format!("## {name}\n")), "docs/tools.md lacks {name}");
        assert!(menu.contains(&format!("name: \"{name}\"")), "the menu lacks {name}");
        // A short call is on one line. A long one has its name on a line of its own.
        let calls = [format!("(\"{name}\", "), format!("(\n            \"{name}\",\n")];
        let is_called = calls.iter().any(|call| answers.contains(call));
        assert!(is_called, "the answers lack {name}");
    }
}
