//! Tests of the whole search. Most use a small embedder, where a text is the sum of its words.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use base::{Error, Kind, Result, Timestamp};
use search::embed::{Embedder, Embedding, MiniLm};

use super::finder::{Finder, FinderConfig};
use super::pack::VectorPack;
use super::passage::{FILE_PASSAGES_MAX, Parts, Passage, PassageKind, PassageSink};
use super::query::{FindOptions, Found, QUERY_BYTES_MAX};
use super::rank::{CodeWeights, SearchTypes, Surroundings};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// A passage with a text and maybe a symbol.
pub(super) fn passage(text: &str, symbol: Option<&str>) -> Passage {
    at(text, symbol, (1, 5))
}

fn at(text: &str, symbol: Option<&str>, lines: (u32, u32)) -> Passage {
    let symbol = symbol.map(Arc::from);
    Passage::new(Parts {
        title: "",
        doc: "",
        body: text,
        lines,
        symbol,
        names: Vec::new(),
        kind: PassageKind::Code,
        changed_at: Some(Timestamp::from_ms(1)),
    })
}

/// Counts the texts that it embeds. Words that mean the same have the same place.
#[derive(Default)]
pub(super) struct Words {
    embedded: AtomicUsize,
    is_down: AtomicBool,
}

fn place(word: &str) -> usize {
    let word = match word {
        "remove" | "erase" => "delete",
        word => word,
    };
    word.bytes().fold(7_usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(usize::from(byte))) % 64
}

impl Embedder for Words {
    fn model(&self) -> &str {
        "words"
    }

    fn dimension(&self) -> usize {
        64
    }

    fn embed_query(&self, query: &str) -> Result<Embedding> {
        if self.is_down.load(Ordering::Relaxed) {
            return Err(Error::new(Kind::Unavailable, "down"));
        }
        let mut numbers = vec![0.01; 64];
        for word in query.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()) {
            numbers[place(&word.to_lowercase())] += 1.0;
        }
        Ok(Embedding::new(numbers))
    }

    fn embed_texts(&self, texts: &[&str]) -> Result<Vec<Option<Embedding>>> {
        let made = texts.iter().map(|text| self.embed_query(text).map(|vector| (!text.contains("refused")).then_some(vector)));
        let made = made.collect::<Result<Vec<_>>>()?;
        self.embedded.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(made)
    }
}

fn open(folder: Option<&Path>, words: &Arc<Words>) -> Finder {
    let pack = folder.map(|folder| Arc::new(VectorPack::open(&folder.join("packs"), "words", 64, 1 << 20).unwrap()));
    let embedder = Arc::clone(words) as Arc<dyn Embedder>;
    let folder = folder.map(|folder| folder.join("project"));
    Finder::open(FinderConfig { folder, embedder, pack, questions: Arc::default() }).unwrap()
}

fn embed_all(finder: &Finder) {
    while finder.embed_some().unwrap() > 0 {}
}

/// Files of one passage each.
fn filled(files: &[(&str, &str)]) -> Finder {
    let finder = open(None, &Arc::default());
    for (file, (path, text)) in (0..).zip(files) {
        finder.put_file(file, path, vec![passage(text, None)]);
    }
    embed_all(&finder);
    finder
}

fn options(around: Surroundings<'_>) -> FindOptions<'_> {
    FindOptions {
        types: SearchTypes { semantic: true, graph: true, dependency: true, temporal: true },
        semantic_threshold: 0.7,
        changed_within: None,
        accept: None,
        around,
        offset: 0,
        limit: 10,
        now: Timestamp::from_ms(100 * DAY_MS),
        weights: CodeWeights::default(),
    }
}

fn paths(found: &Found) -> Vec<&str> {
    found.hits.iter().map(|hit| &*hit.path).collect()
}

fn find(finder: &Finder, query: &str) -> Vec<String> {
    let found = finder.find(query, &options(Surroundings::none())).unwrap();
    paths(&found).into_iter().map(str::to_owned).collect()
}

const FILES: [(&str, &str); 5] = [
    ("store/delete.py", "delete expired"),
    ("store/read.py", "read rows by key"),
    ("net/socket.py", "open a socket and listen"),
    ("net/retry.py", "retry after a failure with a pause"),
    ("doc/readme.md", "install and start the server"),
];

#[test]
fn words_and_meaning_find_passages() {
    let finder = filled(&FILES);
    assert_eq!(find(&finder, "socket")[0], "net/socket.py");
    assert_eq!(find(&finder, "erase expired")[0], "store/delete.py");
    let found = finder.find("remove", &options(Surroundings::none())).unwrap();
    assert_eq!(paths(&found)[0], "store/delete.py", "no word is the same, but it means the same");
    let hit = &found.hits[0];
    assert!(hit.signals.keyword == 0.0 && hit.signals.vector > 0.0 && hit.similarity.unwrap() >= 0.7, "{hit:?}");
    assert!((hit.score - hit.signals.sum()).abs() < 1e-6 && hit.cosine.is_some());
    assert!(find(&finder, "zzzz").is_empty(), "nothing is similar enough");
}

#[test]
fn the_threshold_applies_to_what_words_do_not_find() {
    let finder = filled(&FILES);
    let ask = |semantic_threshold: f32| {
        let options = FindOptions { semantic_threshold, ..options(Surroundings::none()) };
        finder.find("remove socket", &options).unwrap().hits
    };
    assert!(ask(0.0).len() == 5 && ask(1.1).len() == 1 && &*ask(1.1)[0].path == "net/socket.py");
}

#[test]
fn without_a_model_words_still_answer() {
    let words = Arc::new(Words::default());
    let finder = open(None, &words);
    finder.put_file(1, "a.py", vec![passage("open a socket", None)]);
    words.is_down.store(true, Ordering::Relaxed);
    assert!(finder.embed_some().is_err());
    assert_eq!(finder.coverage().waiting, 1, "it waits again");
    let found = finder.find("socket", &options(Surroundings::none())).unwrap();
    assert!(found.words_only && found.hits.len() == 1);
    assert_eq!(finder.semantic("socket", None, 0.0, 0, 5).unwrap_err().kind(), Kind::Unavailable);
    words.is_down.store(false, Ordering::Relaxed);
    embed_all(&finder);
    assert!(!finder.find("socket", &options(Surroundings::none())).unwrap().words_only);
}

#[test]
fn exact_identifiers_come_first() {
    let finder = open(None, &Arc::default());
    let mention = "parse_header parse_header parse_header is called here and parse_header there";
    finder.put_file(1, "calls.py", vec![passage(mention, Some("main"))]);
    let lines = "x\n".repeat(5);
    finder.put_file(2, "http.py", vec![passage(&format!("def parse_header(self): {lines}"), Some("Request.parse_header"))]);
    embed_all(&finder);
    for query in ["parse_header", "parseHeader", "where is Request.parse_header"] {
        let found = finder.find(query, &options(Surroundings::none())).unwrap();
        assert!(paths(&found)[0] == "http.py" && found.hits[0].signals.identifier > 0.0, "{query}: {found:?}");
        assert_eq!(found.hits[0].symbol.as_deref(), Some("Request.parse_header"));
    }
}

#[test]
fn parts_of_identifiers_and_whole_ones_are_words() {
    let finder = filled(&[("a.ts", "function getUserById(id) {}"), ("b.py", "def drop_old_rows(): ..."), ("c.py", "other")]);
    let only_words = |query: &str| {
        let types = SearchTypes { semantic: false, graph: false, dependency: false, temporal: false };
        let options = FindOptions { types, ..options(Surroundings::none()) };
        paths(&finder.find(query, &options).unwrap()).join(" ")
    };
    for query in ["getUserById", "get_user_by_id", "user", "getuserbyid"] {
        assert_eq!(only_words(query), "a.ts", "{query}");
    }
    for query in ["drop_old_rows", "dropOldRows", "rows", "old"] {
        assert_eq!(only_words(query), "b.py", "{query}");
    }
}

#[test]
fn files_around_the_best_are_raised() {
    let texts = [("a.py", "socket socket listen"), ("b.py", "socket of cheese"), ("c.py", "socket of cheese"), ("d.py", "wood")];
    let finder = filled(&texts);
    let signals = |around: Surroundings<'_>| finder.find("socket listen", &options(around)).unwrap();
    let plain = signals(Surroundings::none());
    assert_eq!(paths(&plain), ["a.py", "b.py", "c.py"], "equal scores are ordered by path");
    let by_graph =
        signals(Surroundings { neighbours_of: &|file| vec![(2, 0.5), (file, 1.0), (77, 1.0)], ..Surroundings::none() });
    assert_eq!(paths(&by_graph), ["a.py", "c.py", "b.py"]);
    assert!(by_graph.hits[1].signals.graph > 0.0 && by_graph.hits[0].signals.graph == 0.0);
    let by_import = signals(Surroundings { linked_with: &|_| vec![2, 3], ..Surroundings::none() });
    assert!(paths(&by_import) == ["a.py", "c.py", "b.py"] && by_import.hits[1].signals.dependency > 0.0);
    let changed = |file: u32| Some(Timestamp::from_ms(if file == 2 { 99 * DAY_MS } else { 1 }));
    let by_time = signals(Surroundings { changed_at: &changed, ..Surroundings::none() });
    assert!(paths(&by_time)[1] == "c.py" && by_time.hits[1].signals.temporal > by_time.hits[2].signals.temporal);
    let within = Some((Timestamp::from_ms(98 * DAY_MS), Timestamp::from_ms(100 * DAY_MS)));
    let around = Surroundings { changed_at: &changed, ..Surroundings::none() };
    let recent = finder.find("socket", &FindOptions { changed_within: within, ..options(around) }).unwrap();
    assert_eq!(paths(&recent), ["c.py"]);
    let accepted = FindOptions { accept: Some(&|file| file == 1), ..options(Surroundings::none()) };
    assert_eq!(paths(&finder.find("socket", &accepted).unwrap()), ["b.py"]);
}

#[test]
fn pages_follow_each_other() {
    let finder = open(None, &Arc::default());
    for file in 0..25 {
        finder.put_file(file, &format!("f{file:02}.py"), vec![passage(&format!("socket number{file}"), None)]);
    }
    embed_all(&finder);
    let (mut all, mut offset) = (Vec::new(), Some(0));
    while let Some(at) = offset {
        let found = finder.find("socket", &FindOptions { offset: at, ..options(Surroundings::none()) }).unwrap();
        assert_eq!(found.total, 25);
        all.extend(found.hits.iter().map(|hit| hit.path.to_string()));
        offset = found.next;
    }
    let whole = finder.find("socket", &FindOptions { limit: usize::MAX, ..options(Surroundings::none()) }).unwrap();
    assert_eq!(all, paths(&whole));
    let past = finder.find("socket", &FindOptions { offset: 1_000, ..options(Surroundings::none()) }).unwrap();
    assert!(past.hits.is_empty() && past.next.is_none());
}

#[test]
fn changes_are_seen_at_once() {
    let finder = open(None, &Arc::default());
    let texts = |texts: &[&str]| (1..).zip(texts).map(|(line, text)| at(text, None, (line * 10, line * 10 + 1))).collect();
    finder.put_file(1, "a.py", texts(&["socket", "cheese"]));
    embed_all(&finder);
    finder.put_file(1, "a.py", texts(&["wood", "cheese"]));
    assert!(find(&finder, "socket").is_empty() && find(&finder, "wood").len() == 1);
    let coverage = finder.coverage();
    assert_eq!((coverage.passages, coverage.embedded, coverage.waiting), (2, 1, 1), "the unchanged passage keeps its vector");
    finder.remove_file(1);
    assert!(find(&finder, "cheese").is_empty() && finder.coverage().passages == 0 && finder.coverage().waiting == 0);
    embed_all(&finder);
    assert_eq!(finder.coverage().embedded, 0);
}

#[test]
fn a_restart_makes_no_vector_twice_and_indexes_no_word_twice() {
    let folder = tempfile::tempdir().unwrap();
    let words = Arc::new(Words::default());
    let put = |finder: &Finder, files: &[(&str, &str)]| {
        for (file, (path, text)) in (0..).zip(files) {
            finder.put_file(file, path, vec![passage(text, None)]);
        }
        finder.settle().unwrap();
    };
    let finder = open(Some(folder.path()), &words);
    put(&finder, &FILES);
    embed_all(&finder);
    assert_eq!(words.embedded.load(Ordering::Relaxed), 5);
    drop(finder);
    let finder = open(Some(folder.path()), &words);
    put(&finder, &FILES[1..]);
    assert_eq!(finder.coverage().embedded, 4, "vectors are there without any work");
    assert_eq!(finder.embed_some().unwrap(), 0);
    assert_eq!(words.embedded.load(Ordering::Relaxed), 5);
    assert_eq!(finder.keyword.pending(), 0);
    assert!(find(&finder, "expired").is_empty(), "the removed file is not found");
    assert_eq!(find(&finder, "socket")[0], "net/socket.py");
    // Another project with the same files, as another worktree is.
    let pack = Arc::clone(finder.pack.as_ref().unwrap());
    let embedder = Arc::clone(&words) as Arc<dyn Embedder>;
    let other = Finder::open(FinderConfig { folder: None, embedder, pack: Some(pack), questions: Arc::default() }).unwrap();
    put(&other, &FILES);
    assert_eq!((other.coverage().embedded, other.embed_some().unwrap()), (5, 0));
}

#[test]
fn dimensions_are_honoured() {
    let finder = filled(&FILES);
    let whole = finder.semantic("open a socket", None, 0.0, 0, 3).unwrap();
    assert!(whole.dimension == 64 && &*whole.hits[0].path == "net/socket.py");
    assert_eq!(finder.semantic("open a socket", Some(9_999), 0.0, 0, 3).unwrap(), whole);
    let cut = finder.semantic("open a socket", Some(32), 0.0, 0, 5).unwrap();
    assert!(cut.dimension == 32 && cut.hits.len() == 5 && cut.hits[0].cosine != whole.hits[0].cosine);
    assert_eq!(finder.semantic("x", Some(0), 0.0, 0, 1).unwrap().dimension, 8);
    let page = finder.semantic("open a socket", None, 0.0, 3, 3).unwrap();
    assert!(whole.next == Some(3) && page.hits.len() == 2 && page.next.is_none());
    let strict = finder.semantic("open a socket and listen", None, 0.7, 0, 9).unwrap();
    assert!(strict.hits.iter().all(|hit| hit.similarity.unwrap() >= 0.7) && strict.hits.len() < 5);
}

#[test]
fn similar_files_share_meaning() {
    let files =
        [("a.py", "delete rows of sessions"), ("b.py", "erase rows of sessions"), ("c.py", "open a socket"), ("d.py", "x y")];
    let finder = filled(&files);
    let similar = finder.similar_files(0, 0.0, 10);
    assert!(&*similar[0].path == "b.py" && similar[0].cosine > 0.9, "{similar:?}");
    assert!(similar.iter().all(|similar| similar.file != 0));
    assert_eq!(finder.similar_files(0, 0.7, 10).len(), 1);
    assert!(finder.similar_files(99, 0.0, 10).is_empty() && finder.similar_files(0, 0.0, 0).is_empty());
}

#[test]
fn hostile_texts_and_numbers_are_bounded() {
    let finder = open(None, &Arc::default());
    let long = "a_b/".repeat(50_000);
    let texts = ["", "\u{0}", "refused", "\u{202e}\u{301}\u{301}", "🇩🇪🇩🇪", long.as_str(), "((((((((((((((((((", "ﷺ"];
    let hostile = texts.map(|text| at(text, Some(text), (u32::MAX, 0)));
    finder.put_file(u32::MAX, "../../etc/\u{0}", hostile.to_vec());
    finder.put_file(1, "", (0..5_000).map(|number| passage(&format!("same {}", number % 3), Some("f"))).collect());
    embed_all(&finder);
    let coverage = finder.coverage();
    assert_eq!(coverage.passages, 8 + FILE_PASSAGES_MAX);
    assert!(
        coverage.left_out == 5_000 - FILE_PASSAGES_MAX && coverage.embedded == coverage.passages - 1 && coverage.waiting == 0
    );
    for query in ["same", "\u{0}", "f", "🇩🇪", &"x".repeat(QUERY_BYTES_MAX)] {
        let found = finder.find(query, &options(Surroundings::none())).unwrap();
        assert!(found.hits.iter().filter(|hit| hit.file == 1).count() <= 3);
    }
    for query in ["", "  \n", &"x".repeat(QUERY_BYTES_MAX + 1)] {
        let error = finder.find(query, &options(Surroundings::none())).unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidParams);
        assert!(finder.semantic(query, None, 0.0, 0, 1).is_err());
    }
    let empty = open(None, &Arc::default());
    assert!(find(&empty, "anything").is_empty() && empty.similar_files(0, 0.0, 5).is_empty());
    assert!(empty.semantic("anything", Some(16), 0.0, 0, 5).unwrap().hits.is_empty());
}

#[test]
fn the_bundled_model_finds_code_by_what_it_does() {
    let embedder = Arc::new(MiniLm::bundled().unwrap());
    let finder = Finder::open(FinderConfig { folder: None, embedder, pack: None, questions: Arc::default() }).unwrap();
    let functions = [
        ("median.py", "def middle(data):\n    data = sorted(data)\n    n = len(data)\n    return data[n // 2]"),
        ("fetch.py", "def fetch(url):\n    with urlopen(url) as response:\n        return response.read()"),
        ("rm.py", "def clean(folder):\n    for entry in os.scandir(folder):\n        os.unlink(entry.path)"),
    ];
    for (file, (path, text)) in (0..).zip(functions) {
        finder.put_file(file, path, vec![passage(text, None)]);
    }
    embed_all(&finder);
    for (query, path) in [("download a web page", "fetch.py"), ("delete all files of a directory", "rm.py")] {
        let found = finder.semantic(query, None, 0.0, 0, 3).unwrap();
        assert_eq!(&*found.hits[0].path, path, "{found:?}");
        assert!(found.hits[0].similarity > found.hits[2].similarity);
    }
}
