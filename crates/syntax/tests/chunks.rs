//! Chunks follow the structure and leave no line out.

use std::fs;
use std::path::Path;

use syntax::{Bounds, Chunk, Language, chunks, outline};

const BOUNDS: Bounds = Bounds { bytes_max: 1 << 22, parse_ms_max: 60_000, items_max: 10_000, text_chars_max: 200 };

fn code(language: Language, text: &str) -> Vec<Chunk> {
    chunks(Some(language), "a/b", text, Some(&outline(language, text, &BOUNDS).unwrap()))
}

fn titles(chunks: &[Chunk]) -> Vec<String> {
    chunks.iter().map(|chunk| format!("{}-{} {}", chunk.start_line, chunk.end_line, chunk.title)).collect()
}

/// Every line with content is in a chunk, chunks are in order, and their bytes are what their lines say.
fn check(text: &str, chunks: &[Chunk]) {
    let mut starts = vec![0];
    starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
    for (number, line) in (1_u32..).zip(text.split('\n')) {
        let is_covered = chunks.iter().any(|chunk| (chunk.start_line..=chunk.end_line).contains(&number));
        assert!(is_covered || line.trim().is_empty(), "line {number} is in no chunk: {line:?}");
    }
    for chunk in chunks {
        assert!(chunk.start_line >= 1 && chunk.start_line <= chunk.end_line, "{chunk:?}");
        assert!(chunk.start < chunk.end && chunk.end - chunk.start <= 8 * 1024, "{chunk:?}");
        assert!(text.get(chunk.start as usize..chunk.end as usize).is_some(), "{chunk:?}");
        assert!(starts[chunk.start_line as usize - 1] <= chunk.start as usize, "{chunk:?}");
        assert!(chunk.end_line - chunk.start_line < 60, "{chunk:?}");
        assert!(chunk.title.chars().count() <= 400, "{chunk:?}");
    }
    assert!(chunks.windows(2).all(|pair| pair[0].end <= pair[1].start), "{:?}", titles(chunks));
}

#[test]
fn each_function_is_a_chunk_and_a_class_keeps_its_small_members() {
    let text = "import os\n\nLIMIT = 1\n\n\nclass A(B):\n    size = 3\n\n    def small(self):\n        return 1\n\n    # Above.\n    def \
                large(self):\n        a = 1\n        b = 2\n        return a + b\n\n\ndef f():\n    pass\n\n\nmain()\n";
    let found = code(Language::Python, text);
    check(text, &found);
    assert_eq!(
        titles(&found),
        ["1-3 a/b", "6-10 a/b > A: class A(B)", "12-16 a/b > A > large: def large(self)", "19-20 a/b > f: def f()", "23-23 a/b"]
    );
}

#[test]
fn brackets_of_a_block_belong_to_what_is_in_it() {
    let text = "struct A;\n\nimpl A {\n    /// Doc.\n    fn f(&self) {\n        g();\n        h();\n    }\n}\n\nfn g() {}\n";
    let found = code(Language::Rust, text);
    check(text, &found);
    let expected = ["1-1 a/b > A: struct A", "3-9 a/b > A > f: fn f(&self)", "11-11 a/b > g: fn g()"];
    assert_eq!(titles(&found), expected);
}

#[test]
fn a_long_function_is_split_at_blank_lines() {
    let body = "    one();\n    two();\n\n".repeat(50);
    let text = format!("fn long() {{\n{body}}}\n");
    let found = code(Language::Rust, &text);
    check(&text, &found);
    assert!(found.len() >= 3);
    assert!(found.iter().all(|chunk| chunk.definition == Some(0) && chunk.title == "a/b > long: fn long()"));
    assert!(found.iter().all(|chunk| !text.lines().nth(chunk.end_line as usize - 1).unwrap().is_empty()));
}

#[test]
fn markdown_is_split_at_headings_and_other_text_at_blank_lines() {
    let text = format!("# Title\n\nwords\n\n## Part\n\n{}", "a line\n\n".repeat(30));
    let found = chunks(None, "docs/a.md", &text, None);
    check(&text, &found);
    assert_eq!(titles(&found), ["1-3 docs/a.md > Title", "5-43 docs/a.md > Title > Part", "45-65 docs/a.md > Title > Part"]);
    let text = "word\n".repeat(100);
    let found = chunks(None, "a.txt", &text, None);
    check(&text, &found);
    assert_eq!(titles(&found), ["1-40 a.txt", "41-80 a.txt", "81-100 a.txt"]);
}

#[test]
fn a_very_long_line_is_split_by_bytes() {
    let text = format!("const a = '{}';\nlet b = 1;\n", "é".repeat(20_000));
    let found = code(Language::JavaScript, &text);
    check(&text, &found);
    assert!(found.len() >= 5);
    let no_lines: Vec<Chunk> = chunks(None, "a", "\n \n", None);
    assert_eq!(no_lines, []);
}

#[test]
fn every_golden_file_is_covered() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut count = 0;
    for folder in fs::read_dir(root).unwrap() {
        for sample in fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = sample.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let name = path.to_str().unwrap();
            match Language::of(name, &text) {
                Some(language) => check(&text, &code(language, &text)),
                None => check(&text, &chunks(None, name, &text, None)),
            }
            count += 1;
        }
    }
    assert!(count >= 18, "{count}");
}
