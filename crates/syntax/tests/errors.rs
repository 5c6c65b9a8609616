//! Which syntax errors a change adds.

use syntax::{Bounds, Language, added_errors};

const BOUNDS: Bounds = Bounds { bytes_max: 1 << 20, parse_ms_max: 60_000, items_max: 1_000, text_chars_max: 200 };

/// The added errors as `line:column message`.
fn added(language: Language, before: Option<&str>, after: &str) -> Vec<String> {
    let errors = added_errors(language, before, after, &BOUNDS);
    errors.iter().map(|error| format!("{}:{} {}", error.line, error.column, error.message)).collect()
}

#[test]
fn a_good_text_adds_nothing() {
    assert_eq!(added(Language::Rust, None, "fn main() {}\n"), Vec::<String>::new());
    assert_eq!(added(Language::Python, Some("def f(:\n"), "def f():\n    pass\n"), Vec::<String>::new());
    assert_eq!(added(Language::Go, None, ""), Vec::<String>::new());
}

#[test]
fn a_new_error_has_its_place_and_says_what_is_wrong() {
    assert_eq!(added(Language::Rust, None, "fn main() {\n    let é = (1;\n}\n"), ["2:15 missing `)`"]);
    assert_eq!(added(Language::JavaScript, None, "function f() {\n  return 1;\n}\n}\n"), ["4:1 unexpected `}`"]);
    assert_eq!(added(Language::Go, None, "package a\n\nfunc f() {\n\tif x {\n}\n"), ["6:1 missing `}`"]);
    assert_eq!(added(Language::Java, None, "class A {\n  void f() { g(1, \n"), ["2:15 unclosed `(`"]);
    assert_eq!(added(Language::Rust, None, "fn main() {\n    foo(1,\n"), ["2:8 unclosed `(`"]);
}

#[test]
fn an_error_that_moved_is_not_new() {
    let before = "fn a() {}\n\nfn b( {}\n";
    assert_ne!(added(Language::Rust, None, before), Vec::<String>::new());
    assert_eq!(added(Language::Rust, Some(before), "fn a() {}\n\nfn c() {}\n\nfn b( {}\n"), Vec::<String>::new());
    assert_eq!(added(Language::Rust, Some(before), "fn b( {}\n"), Vec::<String>::new());
}

#[test]
fn a_second_error_like_the_first_is_new() {
    let before = "x = [1, 2\n";
    let once = added(Language::Python, None, before);
    assert_eq!(once.len(), 1, "{once:?}");
    let after = "def f():\n    return 1\n\ny = )\nx = [1, 2\n";
    let errors = added(Language::Python, Some(before), after);
    assert!(!errors.is_empty() && errors.iter().all(|error| error.starts_with("4:")), "{errors:?}");
}

#[test]
fn the_line_of_an_old_error_can_be_edited() {
    let before = "const a = 1;\nconst b = {% if x %};\nconst c = 3;\n";
    let after = "const a = 1;\nconst b2 = {% if x %};\nconst c = 3;\n";
    assert_ne!(added(Language::JavaScript, None, before), Vec::<String>::new());
    assert_eq!(added(Language::JavaScript, Some(before), after), Vec::<String>::new());
}

#[test]
fn a_text_beyond_the_bounds_is_not_judged() {
    let bounds = Bounds { bytes_max: 5, ..BOUNDS };
    assert_eq!(added_errors(Language::Rust, None, "fn main( {", &bounds), Vec::new());
}
