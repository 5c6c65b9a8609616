//! Repositories that are empty, shallow, detached, damaged or too large.

use std::time::Duration;

use super::super::Content;
use super::*;

fn object(fixture: &Fixture, revision: &str) -> PathBuf {
    let id = fixture.git(&["rev-parse", revision]);
    let (folder, name) = id.trim().split_at(2);
    fixture.tree.join(".git/objects").join(folder).join(name)
}

fn some_commits(count: usize) -> Fixture {
    let fixture = Fixture::new();
    for number in 0..count {
        fixture.write("file", lines("text", 10 + number));
        fixture.write(&format!("folder/{number}"), lines(&number.to_string(), 3));
        fixture.commit(&number.to_string());
    }
    fixture
}

#[test]
fn an_empty_repository_has_no_history() {
    let fixture = Fixture::new();
    let repository = fixture.open();
    assert_eq!(repository.head().unwrap(), None);
    assert_eq!(repository.log(&LogFilter::default()).unwrap(), super::super::CommitPage::default());
    assert_eq!(repository.history("file", None, &Bounds::default()).unwrap(), super::super::CommitPage::default());
    fixture.write("file", "1\n");
    let id = fixture.commit("First");
    assert_eq!(repository.head().unwrap(), Some(id));
    assert_eq!(whole_log(&repository, 50).len(), 1, "the same handle sees the first commit");
}

#[test]
fn a_detached_head_counts() {
    let fixture = some_commits(3);
    fixture.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    assert_eq!(shown(&whole_log(&fixture.open(), 50)), git_shown(&fixture, &[]));
}

#[test]
fn a_shallow_clone_says_that_history_is_missing() {
    let fixture = some_commits(5);
    let source = format!("file://{}", fixture.tree.display());
    fixture.git_in(&fixture.home, &["clone", "-q", "--depth", "2", &source, "shallow"]);
    let repository = Repository::discover(&fixture.home.join("shallow")).unwrap();
    let page = repository.log(&LogFilter::default()).unwrap();
    assert!(page.is_partial && page.next.is_none());
    let found: Vec<_> =
        page.commits.iter().map(|commit| (commit.subject.as_str(), commit.is_partial, commit.changes.len())).collect();
    assert_eq!(found, [("4", false, 2), ("3", true, 0)], "the oldest commit does not pretend to create everything");
    let history = repository.history("file", None, &Bounds::default()).unwrap();
    assert_eq!((history.commits.len(), history.is_partial), (1, true));
    assert!(repository.blame("file", &Bounds::default()).unwrap().is_partial);
}

#[test]
fn a_missing_commit_ends_the_list() {
    let fixture = some_commits(4);
    std::fs::remove_file(object(&fixture, "HEAD~2")).unwrap();
    let repository = fixture.open();
    let page = repository.log(&LogFilter::default()).unwrap();
    assert_eq!((page.commits.len(), page.is_partial, page.next), (2, true, None));
    assert!(page.commits[1].is_partial, "its changes are unknown without its parent");
    let history = repository.history("file", None, &Bounds::default()).unwrap();
    assert!(history.is_partial && !history.commits.is_empty());
    assert!(repository.blame("file", &Bounds::default()).unwrap().is_partial);
}

#[test]
fn a_missing_head_or_tree_is_said() {
    let fixture = some_commits(3);
    std::fs::remove_file(object(&fixture, "HEAD~1^{tree}")).unwrap();
    let page = fixture.open().log(&LogFilter::default()).unwrap();
    let partial: Vec<_> = page.commits.iter().map(|commit| commit.is_partial).collect();
    assert_eq!(partial, [true, true, false]);
    std::fs::remove_file(object(&fixture, "HEAD")).unwrap();
    assert_eq!(fixture.open().log(&LogFilter::default()).unwrap_err().kind(), base::Kind::Unavailable);
}

#[test]
fn damaged_objects_neither_panic_nor_hang() {
    let fixture = some_commits(8);
    fixture.git(&["gc", "-q", "--prune=now"]);
    let packs = fixture.tree.join(".git/objects/pack");
    let files: Vec<_> = std::fs::read_dir(&packs).unwrap().map(|entry| entry.unwrap().path()).collect();
    for file in files {
        let whole = std::fs::read(&file).unwrap();
        for step in 0..40 {
            // Another file takes the place of the old one, as a mapped file must not be changed in place.
            let mut bytes = whole.clone();
            let at = step * whole.len() / 40;
            match step % 4 {
                0 => bytes.truncate(at),
                1 => bytes[at] ^= 0xff,
                2 => bytes[at..].fill(0),
                _ => bytes[at..].fill(0xff),
            }
            std::fs::remove_file(&file).unwrap();
            std::fs::write(&file, bytes).unwrap();
            let Some(repository) = Repository::discover(&fixture.tree) else { continue };
            let bounds = Bounds { wall: Duration::from_secs(20), ..Bounds::default() };
            let _ = repository.log(&LogFilter { bounds, ..LogFilter::default() });
            let _ = repository.history("file", None, &bounds);
            let _ = repository.blame("file", &bounds);
        }
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, whole).unwrap();
    }
    assert_eq!(whole_log(&fixture.open(), 50).len(), 8);
}

#[test]
fn large_files_are_skipped_with_a_mark() {
    let fixture = Fixture::new();
    fixture.write("large", "0123456789abcdef\n".repeat(1 << 20));
    let id = fixture.commit("Large");
    let repository = fixture.open();
    assert_eq!(repository.text_at("large", &id).unwrap(), Content::TooLarge(17 << 20));
    let commit = &whole_log(&repository, 1)[0];
    assert_eq!((commit.changes[0].lines_added, commit.changes[0].change_type), (None, ChangeType::Create));
    let diff = repository.diff("large", &id).unwrap().unwrap();
    assert!(diff.is_partial && diff.text.is_empty());
    fixture.git(&["gc", "-q"]);
    assert_eq!(fixture.open().text_at("large", &id).unwrap(), Content::TooLarge(17 << 20), "also in a pack");
}

#[test]
fn an_object_that_expands_without_measure_is_refused() {
    let fixture = some_commits(1);
    // Zeros shrink to a thousandth, so that a small repository can ask for much memory.
    let zeros = fixture.home.join("zeros");
    std::fs::File::create(&zeros).unwrap().set_len(80 << 20).unwrap();
    let tree = fixture.git(&["hash-object", "-t", "tree", "-w", "--literally", zeros.to_str().unwrap()]);
    let commit = fixture.git(&["commit-tree", "-p", "HEAD", "-m", "Bomb", tree.trim()]);
    fixture.git(&["update-ref", "HEAD", commit.trim()]);
    let repository = fixture.open();
    let page = repository.log(&LogFilter::default()).unwrap();
    let found: Vec<_> = page.commits.iter().map(|commit| (commit.subject.as_str(), commit.is_partial)).collect();
    assert_eq!(found, [("Bomb", true), ("0", false)]);
    let history = repository.history("file", None, &Bounds::default()).unwrap();
    assert_eq!((history.commits.len(), history.is_partial), (1, true));
    assert_eq!(repository.text_at("file", commit.trim()).unwrap_err().kind(), base::Kind::Unavailable);
}

#[test]
fn a_small_budget_gets_there_in_many_pages() {
    let fixture = some_commits(12);
    let repository = fixture.open();
    let all = whole_log(&repository, 50);
    let bounds = Bounds { bytes: 2_500, ..Bounds::default() };
    let (mut found, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = repository.log(&LogFilter { bounds, cursor, ..LogFilter::default() }).unwrap();
        found.extend(page.commits);
        pages += 1;
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
        assert!(page.is_partial && pages < 100, "every page gets on");
    }
    assert!(pages > 2);
    assert_eq!(
        found.iter().map(|commit| &commit.id).collect::<Vec<_>>(),
        all.iter().map(|commit| &commit.id).collect::<Vec<_>>()
    );
    let (mut pages, mut cursor) = (0, None);
    loop {
        let page = repository.history("file", cursor.as_deref(), &bounds).unwrap();
        (pages, cursor) = (pages + 1, page.next);
        if cursor.is_none() {
            break;
        }
        assert!(page.is_partial && pages < 100, "every page gets on");
    }
    assert!(repository.blame("file", &bounds).unwrap().is_partial);
}

#[test]
fn no_time_at_all_is_an_early_end() {
    let fixture = some_commits(3);
    let bounds = Bounds { wall: Duration::ZERO, ..Bounds::default() };
    let page = fixture.open().log(&LogFilter { bounds, ..LogFilter::default() }).unwrap();
    assert!(page.commits.is_empty() && page.is_partial && page.next.is_some());
}

#[test]
fn a_hostile_tree_neither_panics_nor_escapes() {
    let fixture = some_commits(2);
    let blob = fixture.git(&["rev-parse", "HEAD:file"]);
    let tree = fixture.home.join("tree.bin");
    let mut bytes = Vec::new();
    let id: Vec<u8> = (0..20).map(|at| u8::from_str_radix(&blob[at * 2..at * 2 + 2], 16).unwrap()).collect();
    for name in ["z", "../../escape", "a", "a", ".git", "", "\u{202e}x"] {
        bytes.extend_from_slice(format!("100644 {name}\0").as_bytes());
        bytes.extend_from_slice(&id);
    }
    std::fs::write(&tree, bytes).unwrap();
    let tree = fixture.git(&["hash-object", "-t", "tree", "-w", "--literally", tree.to_str().unwrap()]);
    let commit = fixture.git(&["commit-tree", "-p", "HEAD", "-m", "Hostile", tree.trim()]);
    fixture.git(&["update-ref", "HEAD", commit.trim()]);
    let repository = fixture.open();
    let page = repository.log(&LogFilter::default()).unwrap();
    assert_eq!(page.commits[0].subject, "Hostile");
    assert!(repository.text_at("../../escape", commit.trim()).is_err());
    let _ = repository.history("a", None, &Bounds::default()).unwrap();
}
