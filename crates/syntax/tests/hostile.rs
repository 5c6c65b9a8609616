//! No text panics, hangs or gets past the bounds.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use syntax::{Bounds, Language, Outline, Unparsed, added_errors, chunks, outline};

const BOUNDS: Bounds = Bounds { bytes_max: 1 << 20, parse_ms_max: 5_000, items_max: 50, text_chars_max: 40 };

/// Every sample of a language with its text.
fn samples() -> &'static Vec<(Language, String)> {
    static SAMPLES: OnceLock<Vec<(Language, String)>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        let folders = fs::read_dir(root).unwrap().map(|folder| folder.unwrap().path());
        let paths = folders.flat_map(|folder| fs::read_dir(folder).unwrap()).map(|sample| sample.unwrap().path());
        let mut texts: Vec<(Language, String)> = paths
            .filter_map(|path| {
                let text = fs::read_to_string(&path).unwrap();
                Language::of(path.to_str().unwrap(), &text).map(|language| (language, text))
            })
            .collect();
        texts.sort();
        texts
    })
}

/// Runs everything on a text and checks what comes back.
fn run(language: Language, text: &str) -> Result<Outline, Unparsed> {
    let found = outline(language, text, &BOUNDS);
    if let Ok(found) = &found {
        check(text, found);
    }
    for chunk in chunks(Some(language), "path", text, found.as_ref().ok()) {
        assert!(text.get(chunk.start as usize..chunk.end as usize).is_some(), "{chunk:?}");
    }
    for error in added_errors(language, Some("x"), text, &BOUNDS) {
        assert!(error.line >= 1 && error.column >= 1 && error.message.chars().count() < 100, "{error:?}");
    }
    found
}

fn check(text: &str, outline: &Outline) {
    let short = |text: &str| text.chars().count() <= BOUNDS.text_chars_max;
    let is_definition = |index: u32| (index as usize) < outline.definitions.len();
    let lines = text.split('\n').count() as u32;
    assert!(outline.definitions.len() <= BOUNDS.items_max && outline.references.len() <= BOUNDS.items_max);
    assert!(outline.imports.len() <= BOUNDS.items_max && outline.exports.len() <= BOUNDS.items_max);
    for (index, definition) in outline.definitions.iter().enumerate() {
        assert!(definition.parent.is_none_or(|parent| (parent as usize) < index), "{definition:?}");
        assert!(text.get(definition.start as usize..definition.end as usize).is_some(), "{definition:?}");
        assert!(definition.start_line >= 1 && definition.start_line <= definition.end_line, "{definition:?}");
        assert!(definition.end_line <= lines, "{definition:?}");
        assert!(short(&definition.name) && short(&definition.doc), "{definition:?}");
        // A name after the body is added to the signature.
        assert!(definition.signature.chars().count() <= 2 * BOUNDS.text_chars_max + 1, "{definition:?}");
    }
    for reference in &outline.references {
        assert!(reference.from.is_none_or(is_definition) && (1..=lines).contains(&reference.line), "{reference:?}");
        assert!(short(&reference.name) && reference.qualifier.as_deref().is_none_or(short), "{reference:?}");
    }
    for import in &outline.imports {
        assert!(!import.path.is_empty() && (1..=lines).contains(&import.line), "{import:?}");
        assert!(import.names.len() <= BOUNDS.items_max && import.location.as_deref().is_none_or(short), "{import:?}");
    }
    assert!(outline.exports.iter().all(|export| short(&export.name) && (1..=lines).contains(&export.line)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..400), language in select(Language::ALL.as_slice())) {
        let _ = run(language, &String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_tokens_do_no_harm(
        tokens in prop::collection::vec(
            select(["(", ")", "{", "}", "[", "]", "<", ">", "\"", "'", "`", "/*", "*/", "//", "#", "\n", " ", "class", "fn", "def", "use",
                "import", "from", "export", "::", ".", ",", ";", ":", "=", "a", "é", "@", "end", "do", "\\", "\0", "\r\n", "\t"].as_slice()),
            0..200,
        ),
        language in select(Language::ALL.as_slice()),
    ) {
        let _ = run(language, &tokens.concat());
    }

    #[test]
    fn mutated_samples_do_no_harm(
        sample in any::<Index>(),
        edits in prop::collection::vec((any::<Index>(), 0_usize..20, select(["", "(", "}", "\"", "\n", "é", "x", "/*", "'"].as_slice())), 1..6),
    ) {
        let (language, text) = sample.get(samples());
        let mut mutated = text.clone();
        for (at, length, insert) in edits {
            let start = mutated.floor_char_boundary(at.index(mutated.len() + 1));
            let end = mutated.ceil_char_boundary((start + length).min(mutated.len()));
            mutated.replace_range(start..end, insert);
        }
        let _ = run(*language, &mutated);
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    // The stack of a thread in a test is 2 MiB: a function that called itself for each level would not get through.
    let bounds = Bounds { parse_ms_max: 1_000, ..BOUNDS };
    for language in Language::ALL {
        for open in ["(", "[", "{", "f(", "if x { ", "class A { "] {
            let _ = outline(language, &open.repeat(5_000), &bounds);
        }
    }
    let _ = run(Language::Rust, &"(".repeat(100_000));
    let _ = run(Language::Python, &"(".repeat(100_000));
    let _ = run(Language::JavaScript, &format!("x = {}{};", "(".repeat(100_000), ")".repeat(100_000)));
    let _ = run(Language::Rust, &format!("use {}b{};", "a::{".repeat(20_000), "}".repeat(20_000)));
    let _ = run(Language::Go, &format!("package a\nvar x = {}1", "-".repeat(100_000)));
}

#[test]
fn very_long_lines_and_lists_are_cut() {
    let long = format!("const {} = f({});", "a".repeat(200_000), "x.y().".repeat(1_000));
    let found = run(Language::JavaScript, &long).unwrap();
    assert_eq!(found.definitions[0].name.len(), BOUNDS.text_chars_max);
    assert!(found.is_cut);
    let many = "fn f() { g(); }\n".repeat(1_000);
    let found = run(Language::Rust, &many).unwrap();
    assert_eq!((found.definitions.len(), found.references.len(), found.is_cut), (BOUNDS.items_max, BOUNDS.items_max, true));
    let names = format!("from a import {}\n", vec!["b"; 10_000].join(", "));
    assert_eq!(run(Language::Python, &names).unwrap().imports[0].names.len(), BOUNDS.items_max);
}

#[test]
fn limits_are_kept() {
    let text = "fn f() {}\n".repeat(20_000);
    assert_eq!(outline(Language::Rust, &text, &Bounds { bytes_max: 1_000, ..BOUNDS }), Err(Unparsed::TooLong));
    assert_eq!(outline(Language::Rust, &text, &Bounds { parse_ms_max: 0, ..BOUNDS }), Err(Unparsed::TookTooLong));
    // A parse that was stopped leaves nothing behind for the next one.
    let found = outline(Language::Rust, "fn g() {}", &BOUNDS).unwrap();
    assert_eq!((found.definitions.len(), found.definitions[0].name.as_str(), found.errors), (1, "g", 0));
}
