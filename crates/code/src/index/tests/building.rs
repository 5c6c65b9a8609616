//! Builds: what is read, what is parsed, what is reused, and what the coverage says.

use std::sync::Mutex;

use super::super::file::FileState;
use super::*;
use crate::find::{Passage, PassageSink};

fn project(root: &Path, files: usize) {
    for file in 0..files {
        let text = format!(
            "import m{}\n\ndef f{file}():\n    return m{}.f{}()\n",
            (file + 1) % files,
            (file + 1) % files,
            (file + 1) % files
        );
        write(root, &format!("m{file}.py"), text);
    }
}

#[test]
fn twenty_callers_share_one_build() {
    let home = tempfile::tempdir().unwrap();
    project(home.path(), 200);
    let index = index(home.path(), None, later());
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                index.catch_up();
                assert_eq!(index.snapshot().file_count(), 200, "everyone gets the whole index");
            });
        }
    });
    assert_eq!(index.work_done(), (200, 200));
}

#[test]
fn an_unchanged_project_is_not_read_again() {
    let (home, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    project(home.path(), 50);
    write(home.path(), "notes.txt", "text");
    let first = index(home.path(), Some(cache.path()), later());
    first.catch_up();
    assert_eq!(first.work_done(), (51, 50));
    first.reconcile();
    assert_eq!(first.work_done(), (51, 50), "a listing is enough");
    let expected = described(&first.snapshot());
    drop(first);
    let second = index(home.path(), Some(cache.path()), later());
    second.catch_up();
    assert_eq!(second.work_done(), (0, 0), "everything is kept");
    assert_eq!(described(&second.snapshot()), expected);
    drop(second);
    // Another worktree has the same contents.
    let other = tempfile::tempdir().unwrap();
    project(other.path(), 50);
    let other = index(other.path(), Some(cache.path()), later());
    std::fs::remove_file(cache.path().join("p.files")).unwrap();
    other.catch_up();
    assert_eq!(other.work_done(), (50, 0), "read, but not parsed");
}

#[test]
fn a_damaged_cache_is_no_error() {
    let (home, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    project(home.path(), 10);
    let expected = {
        let index = index(home.path(), Some(cache.path()), later());
        index.catch_up();
        described(&index.snapshot())
    };
    for (file, bytes) in [("p.files", &b"rubbish"[..]), ("outlines.pack", b"rubbish"), ("outlines.pack", b"")] {
        std::fs::write(cache.path().join(file), bytes).unwrap();
        let index = index(home.path(), Some(cache.path()), later());
        index.catch_up();
        assert_eq!(described(&index.snapshot()), expected, "{file}");
        assert!(index.work_done().0 > 0);
    }
}

#[test]
fn coverage_tells_the_truth() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), "good.py", "def f():\n    pass\n");
    write(home.path(), "broken.py", "def f(:\n  )\n");
    write(home.path(), "latin.py", b"# caf\xe9\n\ndef g():\n    pass\n");
    write(home.path(), "binary.py", b"\0\x01\x02");
    write(home.path(), "notes.txt", "text");
    write(home.path(), "huge.py", "x = 1\n".repeat(200_000));
    write(home.path(), "vast.bin", vec![7; 5 * 1024 * 1024]);
    let index = index(home.path(), None, later());
    let before = index.coverage();
    assert_eq!((before.files, before.indexed, before.is_complete, before.is_fresh), (0, 0, false, false));
    assert_eq!(index.snapshot().file_count(), 0, "a question is answered before there is anything");
    index.catch_up();
    let after = index.coverage();
    assert_eq!((after.files, after.indexed, after.parsed, after.failed), (7, 7, 3, 0));
    assert!(after.is_complete && after.is_fresh);
    let snapshot = index.snapshot();
    let state = |path: &str| snapshot.at(path).unwrap().1.state;
    for (path, expected) in [
        ("good.py", FileState::Parsed),
        ("latin.py", FileState::Parsed),
        ("binary.py", FileState::Binary),
        ("notes.txt", FileState::Text),
        ("huge.py", FileState::Text),
        ("vast.bin", FileState::Binary),
    ] {
        assert_eq!(state(path), expected, "{path}");
    }
    assert_eq!(snapshot.symbols("latin.py").unwrap()[0].start_line, 3);
    index.ask_to_reconcile();
    assert!(!index.coverage().is_fresh, "there is work");
    index.catch_up();
    assert!(index.coverage().is_fresh);
    std::fs::remove_dir_all(home.path()).unwrap();
    index.reconcile();
    assert!(!index.coverage().is_complete, "nothing can be said without the folder");
    assert_eq!(index.snapshot().file_count(), 7, "the last state stays");
}

#[derive(Default)]
struct Kept(Mutex<std::collections::BTreeMap<u32, (String, Vec<Passage>)>>);

impl PassageSink for Kept {
    fn put_file(&self, file: u32, path: &str, passages: Vec<Passage>) {
        self.0.lock().unwrap().insert(file, (path.to_owned(), passages));
    }

    fn remove_file(&self, file: u32) {
        self.0.lock().unwrap().remove(&file);
    }
}

#[test]
fn passages_follow_the_files() {
    let (home, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(home.path(), "a.py", "def f():\n    return 1\n");
    write(home.path(), "b.py", "def f():\n    return 1\n");
    let open = || {
        let sink = Arc::new(Kept::default());
        let parts = ProjectParts { files: Arc::new(Folder::open(home.path()).unwrap()), sink: Some(sink.clone()) };
        let kept = Some(cache.path().join("p.files"));
        let index = ProjectIndex::new(parts, Arc::new(Pack::open(Some(cache.path()))), kept, later(), || ());
        index.catch_up();
        (index, sink)
    };
    let numbers = |sink: &Kept| -> Vec<(String, Vec<[u8; 32]>)> {
        let files = sink.0.lock().unwrap();
        let mut all: Vec<_> = files
            .values()
            .map(|(path, passages)| (path.clone(), passages.iter().map(|passage| passage.hash).collect::<Vec<_>>()))
            .collect();
        all.sort();
        all
    };
    let (first, sink) = open();
    let expected = numbers(&sink);
    assert_eq!(expected.len(), 2);
    assert!(expected.iter().all(|(_, numbers)| !numbers.is_empty()));
    assert_ne!(expected[0].1, expected[1].1, "a passage names its file");
    drop(first);
    let (second, sink) = open();
    assert_eq!(numbers(&sink), expected, "passages stay, also when outlines come from the cache");
    write(home.path(), "a.py", "def g():\n    return 22\n");
    assert!(second.refresh("a.py"));
    let changed = numbers(&sink);
    assert_ne!(changed[0], expected[0]);
    assert_eq!(changed[1], expected[1]);
    std::fs::remove_file(home.path().join("b.py")).unwrap();
    assert!(second.refresh("b.py"));
    assert_eq!(numbers(&sink).len(), 1);
}

#[test]
fn memory_stays_small() {
    let home = tempfile::tempdir().unwrap();
    for file in 0..60 {
        // About what a file of six thousand bytes has.
        let functions = (0..10).map(|number| {
            let calls = (0..5).map(|call| format!("    value = helper_{}(value)\n", (file + number + call) % 40));
            format!("def work_{file}_{number}(value):\n{}    return value\n\n", calls.collect::<String>())
        });
        let imports = (1..8).map(|other| {
            let other = (file + other) % 60;
            format!("from m{other} import work_{other}_1, work_{other}_2 as second\n")
        });
        write(home.path(), &format!("m{file}.py"), imports.chain(functions).collect::<String>());
    }
    let index = index(home.path(), None, later());
    index.catch_up();
    index.snapshot().graph();
    let each = index.bytes() / 60;
    assert!(each < 4_096, "{each} bytes for each file");
}
