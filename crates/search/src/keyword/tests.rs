//! Compares the index with a model: a new index in memory with the same current texts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::top::Hit;

fn ids(hits: &[Hit]) -> Vec<u64> {
    hits.iter().map(|hit| hit.id).collect()
}

fn found(index: &KeywordIndex, text: &str) -> Vec<u64> {
    ids(&index.search(text, 10, None).unwrap())
}

#[test]
fn writes_are_found_at_once_and_after_a_flush() {
    let index = KeywordIndex::in_memory().unwrap();
    index.upsert(1, "Refresh tokens are rotated by rotateRefreshToken", 1).unwrap();
    index.upsert(2, "The login page shows an error", 2).unwrap();
    for _ in 0..2 {
        assert_eq!(found(&index, "how is a refresh token rotated?"), [1]);
        assert_eq!(found(&index, "rotate_refresh_token"), [1]);
        assert_eq!(found(&index, "errors on login pages"), [2]);
        assert_eq!(found(&index, "kubernetes"), Vec::<u64>::new());
        assert_eq!(found(&index, "?!"), Vec::<u64>::new());
        index.flush().unwrap();
    }
    assert_eq!((index.pending(), index.position()), (0, 2));
}

#[test]
fn updates_and_removals_are_seen_at_once() {
    let index = KeywordIndex::in_memory().unwrap();
    index.upsert(1, "apple", 1).unwrap();
    index.upsert(2, "apple", 2).unwrap();
    index.flush().unwrap();
    index.upsert(1, "banana", 3).unwrap();
    index.remove(2, 4).unwrap();
    for _ in 0..2 {
        assert_eq!(found(&index, "apple"), Vec::<u64>::new());
        assert_eq!(found(&index, "banana"), [1]);
        index.flush().unwrap();
    }
    index.upsert(2, "cherry", 5).unwrap();
    index.remove(2, 6).unwrap();
    index.upsert(2, "apple", 7).unwrap();
    assert_eq!(found(&index, "apple cherry"), [2]);
    assert_eq!(index.flush().unwrap(), 7);
}

#[test]
fn equal_texts_are_ordered_by_id() {
    let index = KeywordIndex::in_memory().unwrap();
    for (position, id) in [5, 3, 9, 1, 7, 2].into_iter().enumerate() {
        index.upsert(id, "the same words", position as u64).unwrap();
        if position % 2 == 1 {
            index.flush().unwrap();
        }
    }
    assert_eq!(ids(&index.search("same words", 4, None).unwrap()), [1, 2, 3, 5]);
}

#[test]
fn refused_items_are_replaced_by_the_next() {
    let index = KeywordIndex::in_memory().unwrap();
    for id in 0..600 {
        index.upsert(id, &format!("common word{} {}", id % 7, "filler ".repeat(id as usize % 5)), id).unwrap();
        if id == 400 {
            index.flush().unwrap();
        }
    }
    let all = index.search("common word3", 1_000, None).unwrap();
    let filter = |id: u64| id % 50 == 3;
    let expected: Vec<Hit> = all.iter().filter(|hit| filter(hit.id)).take(5).copied().collect();
    assert_eq!(index.search("common word3", 5, Some(&filter)).unwrap(), expected);
    assert_eq!(
        index.scores("common word3", &[3, 53, 9_999]).unwrap(),
        all.iter().filter(|hit| [3, 53].contains(&hit.id)).copied().collect::<Vec<_>>()
    );
}

#[test]
fn committing_does_not_change_scores() {
    let index = KeywordIndex::in_memory().unwrap();
    for id in 0..200 {
        index.upsert(id, &format!("{} alpha beta{}", "word ".repeat(id as usize % 90), id % 11), id).unwrap();
    }
    let before = index.search("alpha beta5 word", 50, None).unwrap();
    index.flush().unwrap();
    let after = index.search("alpha beta5 word", 50, None).unwrap();
    assert_eq!(ids(&before), ids(&after));
    assert!(before.iter().zip(&after).all(|(before, after)| (before.score - after.score).abs() < 1e-4));
}

#[test]
fn a_huge_query_uses_its_rarest_words() {
    let index = KeywordIndex::in_memory().unwrap();
    for id in 0..300 {
        index.upsert(id, &(0..300).map(|word| format!("noise{word} ")).collect::<String>(), id).unwrap();
    }
    index.upsert(1_000, "needle", 1_000).unwrap();
    index.flush().unwrap();
    let question: String = (0..6_000).map(|word| format!("noise{} ", word % 300)).chain(["needle".to_owned()]).collect();
    assert_eq!(found(&index, &question)[0], 1_000);
}

#[test]
fn the_tail_is_bounded() {
    let index = KeywordIndex::in_memory().unwrap();
    let mut position = 0;
    while index.remove(position, position).is_ok() {
        position += 1;
        assert!(position <= 32_768);
    }
    assert!(index.wants_flush());
    assert!(matches!(index.upsert(1, "x", position), Err(KeywordError::TailFull)));
    index.flush().unwrap();
    index.upsert(1, "x", position).unwrap();
    assert!(!index.wants_flush());
}

#[test]
fn a_failed_flush_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words");
    let (index, _) = KeywordIndex::open(&path).unwrap();
    index.upsert(1, "first", 1).unwrap();
    // Another writer holds the lock.
    let other = tantivy::Index::open_in_dir(&path).unwrap();
    let writer: tantivy::IndexWriter = other.writer_with_num_threads(1, 15_000_000).unwrap();
    assert!(index.flush().is_err());
    index.upsert(2, "second", 2).unwrap();
    index.upsert(3, "third", 3).unwrap();
    index.remove(1, 4).unwrap();
    assert!(index.flush().is_err());
    assert_eq!((found(&index, "first second third"), index.position()), (vec![2, 3], 0));
    drop(writer);
    assert_eq!(index.flush().unwrap(), 4);
    assert_eq!((found(&index, "first second third"), index.pending()), (vec![2, 3], 0));
}

#[test]
fn a_flush_does_not_block_queries_and_writes() {
    let index = KeywordIndex::in_memory().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..20 {
                index.flush().unwrap();
            }
        });
        for id in 0..2_000 {
            index.upsert(id, "steady", id).unwrap();
            assert_eq!(index.scores("steady", &[id]).unwrap().len(), 1);
        }
    });
    index.flush().unwrap();
    assert_eq!(index.search("steady", 5_000, None).unwrap().len(), 2_000);
}

/// An index with segments, deleted documents and a tail, of texts that often have the same score.
fn crowded(seed: u64, words: u64) -> KeywordIndex {
    let index = KeywordIndex::in_memory().unwrap();
    let mut state = seed;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for position in 0..3_000 {
        let id = if position > 2_000 { random(2_500) } else { position };
        let text: String = (0..=random(4)).map(|_| format!("word{} ", random(words) * random(words) / words)).collect();
        index.upsert(id, &text, position).unwrap();
        if position % 700 == 699 {
            index.flush().unwrap();
        }
    }
    index
}

#[test]
fn a_short_list_is_the_start_of_a_long_one() {
    for (seed, words) in [(1, 3), (2, 12), (3, 60), (4, 400)] {
        let index = crowded(seed, words);
        for query in ["word0", "word1 word2", "word0 word1 word2 word3 word9", "word0 word50 word300", "word1 unknown"] {
            let all = index.search(query, 10_000, None).unwrap();
            for limit in [1, 10, 100] {
                let few = index.search(query, limit, None).unwrap();
                assert_eq!(few, all.iter().take(limit).copied().collect::<Vec<_>>(), "{query}, {words} words");
                let odd = |id: u64| id % 3 == 1;
                let expected: Vec<Hit> = all.iter().filter(|hit| odd(hit.id)).take(limit).copied().collect();
                assert_eq!(index.search(query, limit, Some(&odd)).unwrap(), expected, "{query}, {words} words");
            }
            let asked: Vec<u64> = (0..2_600).step_by(7).collect();
            let expected: Vec<Hit> = all.iter().filter(|hit| asked.contains(&hit.id)).copied().collect();
            assert_eq!(index.scores(query, &asked).unwrap(), expected, "{query}, {words} words");
        }
    }
}

fn cache_with_one(path: &Path) {
    let (index, recovery) = KeywordIndex::open(path).unwrap();
    assert_eq!(recovery.position, 0);
    index.upsert(1, "something", 42).unwrap();
    index.flush().unwrap();
}

#[test]
fn a_folder_is_reopened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/words");
    cache_with_one(&path);
    let (index, recovery) = KeywordIndex::open(&path).unwrap();
    assert_eq!(recovery, Recovery { position: 42, discarded: None });
    assert_eq!(found(&index, "something"), [1]);
}

type Damage = dyn Fn(&Path);

#[test]
fn an_untrustworthy_folder_is_recreated() {
    let damages: &[(&str, &Damage)] = &[
        ("garbage", &|path| fs::write(path.join("meta.json"), "garbage").unwrap()),
        ("emptied", &|path| for_each_file(path, |file| fs::write(file, "").unwrap())),
        ("cut short", &|path| {
            for_each_file(path, |file| {
                let bytes = fs::read(&file).unwrap();
                fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
            });
        }),
        ("a bit turned in each segment file", &|path| {
            for_each_file(path, |file| {
                let mut bytes = fs::read(&file).unwrap();
                if file.extension().is_some_and(|extension| extension != "json" && extension != "lock") {
                    bytes[0] ^= 1;
                    fs::write(file, bytes).unwrap();
                }
            });
        }),
        ("segments gone", &|path| {
            for_each_file(path, |file| {
                if file.extension().is_some_and(|extension| extension == "idx") {
                    fs::remove_file(file).unwrap();
                }
            });
        }),
        ("another version", &|path| {
            let meta = fs::read_to_string(path.join("meta.json")).unwrap();
            fs::write(path.join("meta.json"), meta.replace("keyword 1 42", "keyword 0 42")).unwrap();
        }),
        ("another schema", &|path| {
            fs::remove_dir_all(path).unwrap();
            fs::create_dir(path).unwrap();
            tantivy::Index::create_in_dir(path, tantivy::schema::Schema::builder().build()).unwrap();
        }),
        ("strangers", &|path| {
            fs::remove_dir_all(path).unwrap();
            fs::create_dir_all(path.join("sub")).unwrap();
            fs::write(path.join("sub/readme"), "hello").unwrap();
        }),
        ("a file in its place", &|path| {
            fs::remove_dir_all(path).unwrap();
            fs::write(path, "hello").unwrap();
        }),
    ];
    for (name, damage) in damages {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words");
        cache_with_one(&path);
        damage(&path);
        let (index, recovery) = KeywordIndex::open(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(recovery.position == 0 && recovery.discarded.is_some(), "{name}: {recovery:?}");
        assert_eq!(found(&index, "something"), Vec::<u64>::new(), "{name}");
        index.upsert(1, "something", 7).unwrap();
        index.flush().unwrap();
        drop(index);
        assert_eq!(KeywordIndex::open(&path).unwrap().1, Recovery { position: 7, discarded: None }, "{name}");
    }
}

fn for_each_file(folder: &Path, mut change: impl FnMut(std::path::PathBuf)) {
    for entry in fs::read_dir(folder).unwrap() {
        change(entry.unwrap().path());
    }
}

#[derive(Clone, Debug)]
enum Step {
    Upsert(u64, String),
    Remove(u64),
    Flush,
    /// The process dies: uncommitted writes are replayed from the position in the folder.
    Crash,
    Search(String),
}

fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["alpha", "beta", "gammaDelta", "epsilon_zeta", "数据库", "🚀", "running", "the"]);
    prop::collection::vec(word, 0..6).prop_map(|words| words.join(" "))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => (0_u64..12, text()).prop_map(|(id, text)| Step::Upsert(id, text)),
        4 => (0_u64..12).prop_map(Step::Remove),
        2 => Just(Step::Flush),
        1 => Just(Step::Crash),
        6 => text().prop_map(Step::Search),
    ]
}

fn apply(index: &KeywordIndex, position: u64, (id, text): &(u64, Option<String>)) {
    match text {
        Some(text) => index.upsert(*id, text, position).unwrap(),
        None => index.remove(*id, position).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_history_matches_an_index_built_at_once(steps in prop::collection::vec(step(), 1..50)) {
        let folder = tempfile::tempdir().unwrap();
        let (mut index, _) = KeywordIndex::open(folder.path()).unwrap();
        let mut journal: Vec<(u64, Option<String>)> = Vec::new();
        for step in steps {
            match step {
                Step::Upsert(id, text) => {
                    journal.push((id, Some(text)));
                    apply(&index, journal.len() as u64, &journal[journal.len() - 1]);
                }
                Step::Remove(id) => {
                    journal.push((id, None));
                    apply(&index, journal.len() as u64, &journal[journal.len() - 1]);
                }
                Step::Flush => {
                    index.flush().unwrap();
                }
                Step::Crash => {
                    drop(index);
                    let (opened, recovery) = KeywordIndex::open(folder.path()).unwrap();
                    prop_assert_eq!(&recovery.discarded, &None);
                    for (position, write) in (1..).zip(&journal).skip(recovery.position as usize) {
                        apply(&opened, position, write);
                    }
                    index = opened;
                }
                Step::Search(text) => {
                    let living: BTreeMap<u64, &String> = journal.iter().fold(BTreeMap::new(), |mut living, (id, text)| {
                        match text {
                            Some(text) => living.insert(*id, text),
                            None => living.remove(id),
                        };
                        living
                    });
                    let model = KeywordIndex::in_memory().unwrap();
                    for (id, text) in living {
                        model.upsert(id, text, 0).unwrap();
                    }
                    let mut expected = ids(&model.search(&text, 100, None).unwrap());
                    let mut found = ids(&index.search(&text, 100, None).unwrap());
                    expected.sort_unstable();
                    found.sort_unstable();
                    prop_assert_eq!(found, expected, "{}", text);
                }
            }
        }
    }
}

#[test]
fn only_the_owner_can_read_a_folder() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("cache/words");
    let (index, _) = KeywordIndex::open(&folder).unwrap();
    for round in 0..20 {
        index.upsert(round, "what an agent wrote", round).unwrap();
        index.flush().unwrap();
    }
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode(&parent.path().join("cache")), mode(&folder)], [0o700; 2]);
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 3);
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}
