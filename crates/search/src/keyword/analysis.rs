//! Turns text into terms, for documents and for queries.

use std::collections::HashMap;

use super::fold::fold;
use super::stem::stem;
use super::stop::is_stop_word;
use super::words::{Purpose, words};

/// The maximum number of indexed words of a document. A longer document is data and not text.
const DOCUMENT_WORDS_MAX: u32 = 200_000;
/// The maximum number of distinct query terms to look up. The rarest of them are searched for.
const QUERY_TERMS_MAX: usize = 2_048;

/// The terms of a document and their counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    pub(super) counts: HashMap<String, u32>,
    /// The number of all words.
    pub(super) length: u32,
}

/// The terms of a document.
pub(super) fn document_terms(text: &str) -> Terms {
    let mut terms = Terms::default();
    words(&fold(text), Purpose::Document, &mut |mut word| {
        if terms.length < DOCUMENT_WORDS_MAX {
            stem(&mut word);
            *terms.counts.entry(word).or_default() += 1;
            terms.length += 1;
        }
    });
    terms
}

/// The distinct terms of a query in order of first occurrence, each with its weight: a repeated term counts more, but not twice
/// as much. Stop words count only if there is nothing else.
pub(super) fn query_terms(text: &str) -> Vec<(String, f32)> {
    let (mut terms, mut stop_words) = (Counted::default(), Counted::default());
    words(&fold(text), Purpose::Query, &mut |mut word| {
        let list = if is_stop_word(&word) { &mut stop_words } else { &mut terms };
        stem(&mut word);
        list.add(word);
    });
    let chosen = if terms.order.is_empty() { stop_words } else { terms };
    chosen.order.into_iter().map(|(term, count)| (term, 1.0 + (count as f32).ln())).collect()
}

/// Distinct words in order of first occurrence.
#[derive(Default)]
struct Counted {
    places: HashMap<String, usize>,
    order: Vec<(String, u32)>,
}

impl Counted {
    fn add(&mut self, word: String) {
        match self.places.get(&word) {
            Some(place) => {
                if let Some((_, count)) = self.order.get_mut(*place) {
                    *count += 1;
                }
            }
            None if self.order.len() < QUERY_TERMS_MAX => {
                self.places.insert(word.clone(), self.order.len());
                self.order.push((word, 1));
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::words::WORD_BYTES_MAX;
    use super::*;

    fn check(text: &str, expected: &str) {
        let terms = document_terms(text);
        let mut found: Vec<_> = terms.counts.keys().map(String::as_str).collect();
        let mut expected: Vec<_> = expected.split_whitespace().collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn documents() {
        for (text, terms) in [
            ("", ""),
            ("  \t\n", ""),
            ("->?? ()", ""),
            ("x", "x"),
            ("The cats were RUNNING", "the cat were run"),
            ("getUserById", "getuserbyid get user by id"),
            ("get_user_by_id", "getuserbyid get user by id"),
            ("GET-USER-BY-ID", "getuserbyid get user by id"),
            ("HTTPServer", "httpserver http server"),
            ("parseHTML5", "parsehtml5 parse html 5"),
            ("URLs and IDs", "url and id"),
            ("__init__", "init"),
            ("--dry-run", "dryrun dry run"),
            ("src/auth/token.rs", "src/auth/token.rs src auth token.rs token rs"),
            ("C:\\Users\\me", "c/users/me c user me"),
            ("std::fs::read_to_string", "std/fs/readtostring std fs readtostr read to string"),
            ("os.path.join()", "os.path.join os path join"),
            ("See it.", "see it"),
            ("wait... what?!", "wait what"),
            ("v1.2.3", "v1.2.3 v1 v 1 2 3"),
            ("sha256 utf8", "sha256 sha 256 utf8 utf 8"),
            ("d41d8cd98f00b204e9800998ecf8427e", "d41d8cd98f00b204e9800998ecf8427e"),
            ("the user's don't", "the user dont"),
            ("the user’s ‘quoted’ 'word'", "the user quot word"),
            ("C++ C# c", "c c++ c#"),
            ("café CAFÉ cafe\u{301}", "cafe"),
            ("Привет ПРИВЕТ", "привет"),
            ("שלום עולם", "שלום עולם"),
            ("مرحبا بالعالم", "مرحبا بالعالم"),
            ("हिन्दी में", "हिन्दी में"),
            ("数据库", "数 据 库 数据 据库"),
            ("用户login接口", "用 户 用户 login 接 口 接口"),
            ("検索する", "検 索 す る 検索 索す する"),
            ("검색을", "검 색 을 검색 색을"),
            ("猫", "猫"),
            ("🚀 ship 👩🏽\u{200D}💻", "🚀 ship 👩 💻"),
            ("🇩🇪🇫🇷", "🇩🇪 🇫🇷"),
            ("❤\u{FE0F}", "❤"),
        ] {
            check(text, terms);
        }
    }

    #[test]
    fn thai_is_found_by_its_parts() {
        let document = document_terms("ฐานข้อมูลของผู้ใช้");
        for (term, _) in query_terms("ข้อมูล") {
            assert!(document.counts.contains_key(&term), "{term}");
        }
    }

    #[test]
    fn queries_drop_stop_words_unless_there_are_no_others() {
        let terms = |text| query_terms(text).into_iter().map(|(term, _)| term).collect::<Vec<_>>();
        assert_eq!(terms("What is the name of the user?"), ["name", "user"]);
        assert_eq!(terms("to be or not to be"), ["to", "be", "or", "not"]);
        assert_eq!(terms("findById"), ["find", "id", "findbyid"]);
        assert_eq!(terms("数据库"), ["数据", "据库"]);
        assert_eq!(terms("猫"), ["猫"]);
    }

    #[test]
    fn repeated_terms_count_more() {
        let terms = query_terms("token refresh token token");
        assert_eq!(terms[1], ("refresh".to_owned(), 1.0));
        assert!(terms[0].1 > 2.0 && terms[0].1 < 2.2);
    }

    #[test]
    fn huge_texts_are_bounded() {
        let long = "ab".repeat(50_000);
        check(&long, &long[..WORD_BYTES_MAX]);
        let seams = "a_b/".repeat(25_000);
        check(&seams, "a b ab");
        assert!(document_terms(&"x ".repeat(500_000)).length <= DOCUMENT_WORDS_MAX);
        let many: String = (0..20_000).map(|number| format!("word{number} ")).collect();
        assert_eq!(query_terms(&many).len(), QUERY_TERMS_MAX);
        assert!(!document_terms(&"\u{301}".repeat(50_000)).counts.keys().any(|term| term.len() > WORD_BYTES_MAX));
    }

    proptest! {
        #[test]
        fn terms_are_short_and_have_no_space(text in "\\PC{0,60}") {
            let terms = document_terms(&text);
            for term in terms.counts.keys() {
                prop_assert!(!term.is_empty() && term.len() <= WORD_BYTES_MAX && !term.contains(char::is_whitespace), "{:?}", term);
            }
            prop_assert_eq!(terms.counts.values().sum::<u32>(), terms.length);
        }

        #[test]
        fn a_text_matches_itself(text in "[a-zA-Z0-9_/. äß漢字ก]{0,40}") {
            let document = document_terms(&text);
            for (term, _) in query_terms(&text) {
                prop_assert!(document.counts.contains_key(&term), "{}", term);
            }
        }
    }
}
