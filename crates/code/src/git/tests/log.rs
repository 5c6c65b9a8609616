//! The log equals `git log -M`.

use base::Timestamp;

use super::*;

/// Creates, edits, renames, moves, deletes, a merge, a chmod, a link, a binary file and names beyond ASCII.
fn eventful() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("src/main.rs", lines("main", 30));
    fixture.write("src/naïve/größe 漢字.txt", lines("unicode", 10));
    fixture.write("logo.bin", b"\0\x01\x02");
    fixture.write("empty", "");
    fixture.commit("Start\n\nWith a body");
    fixture.write("src/main.rs", lines("main", 30).replace("line 7 ", "line seven "));
    fixture.write("notes.md", lines("notes", 5));
    fixture.commit("Edit, and\nadd notes");
    fixture.rename("src/main.rs", "src/app.rs");
    fixture.commit("Rename");
    fixture.rename("src/app.rs", "core/app.rs");
    fixture.rename("empty", "core/empty");
    fixture.commit("Move");
    fixture.write("core/app.rs", lines("main", 24) + &lines("fresh", 6));
    fixture.rename("core/app.rs", "core/start.rs");
    fixture.rename("logo.bin", "art.bin");
    fixture.write("art.bin", b"\0\x01\x02\x03");
    fixture.commit("Edit with rename");
    fixture.git(&["checkout", "-q", "-b", "side"]);
    fixture.write("side.txt", lines("side", 4));
    fixture.commit("On the side");
    fixture.git(&["checkout", "-q", "main"]);
    fixture.remove("notes.md");
    fixture.commit("Delete");
    fixture.merge("side");
    fixture.rename("src/naïve/größe 漢字.txt", "ünïcode/größe 漢字.txt");
    std::os::unix::fs::symlink("core/start.rs", fixture.tree.join("link")).unwrap();
    fixture.git(&["update-index", "--chmod=+x", "side.txt"]);
    fixture.git(&["config", "core.fileMode", "false"]);
    fixture.commit("Unicode, link, mode");
    fixture.commit("Nothing");
    fixture
}

#[test]
fn the_log_equals_that_of_git() {
    let fixture = eventful();
    let repository = fixture.open();
    for rows in [1, 3, 50] {
        let commits = whole_log(&repository, rows);
        assert_eq!(shown(&commits), git_shown(&fixture, &[]));
        assert_eq!(numbers(&commits), git_numbers(&fixture));
    }
    let merge = whole_log(&repository, 50).into_iter().find(|commit| commit.is_merge).unwrap();
    assert_eq!((merge.subject.as_str(), merge.author.as_str(), merge.changes.len()), ("Merge side", "Ada Lovelace", 0));
}

#[test]
fn packs_and_a_commit_graph_change_nothing() {
    let fixture = eventful();
    let before = whole_log(&fixture.open(), 50);
    let repository = fixture.open();
    fixture.git(&["gc", "-q", "--prune=now"]);
    fixture.git(&["commit-graph", "write", "--reachable"]);
    assert_eq!(whole_log(&repository, 50), before, "opened before the objects were packed");
    assert_eq!(whole_log(&fixture.open(), 50), before);
}

#[test]
fn a_move_keeps_the_name_and_a_rename_does_not() {
    let fixture = eventful();
    let commits = whole_log(&fixture.open(), 50);
    let of = |subject: &str| commits.iter().find(|commit| commit.subject == subject).unwrap().changes.clone();
    assert_eq!(of("Rename")[0].change_type, ChangeType::Rename);
    let moved = of("Move");
    assert_eq!((moved[0].change_type, moved[0].from.as_deref()), (ChangeType::Move, Some("src/app.rs")));
    assert_eq!((moved[0].lines_added, moved[0].lines_removed), (Some(0), Some(0)));
    assert_eq!(of("Edit with rename")[1].change_type, ChangeType::Rename);
}

#[test]
fn a_time_range_limits_the_log() {
    let fixture = Fixture::new();
    for number in 0..6 {
        fixture.write("file", format!("{number}\n"));
        fixture.commit(&number.to_string());
    }
    let at = |number: i64| Some(Timestamp::from_ms((1_700_000_060 + number * 60) * 1_000));
    let subjects = |since, until| {
        let page = fixture.open().log(&LogFilter { since, until, ..LogFilter::default() }).unwrap();
        page.commits.into_iter().map(|commit| commit.subject).collect::<Vec<_>>()
    };
    assert_eq!(subjects(at(4), None), ["5", "4"]);
    assert_eq!(subjects(None, at(1)), ["1", "0"]);
    assert_eq!(subjects(at(2), at(3)), ["3", "2"]);
    assert_eq!(subjects(at(4).map(|time| time.plus_ms(1)), None), ["5"]);
}

#[test]
fn pages_go_on_where_they_began_when_head_moves() {
    let fixture = Fixture::new();
    for number in 0..4 {
        fixture.write("file", format!("{number}\n"));
        fixture.commit(&number.to_string());
    }
    let repository = fixture.open();
    let bounds = Bounds { commits: 2, ..Bounds::default() };
    let first = repository.log(&LogFilter { bounds, ..LogFilter::default() }).unwrap();
    fixture.write("file", "new\n");
    fixture.commit("new");
    let second = repository.log(&LogFilter { bounds, cursor: first.next, ..LogFilter::default() }).unwrap();
    let subjects: Vec<_> = first.commits.iter().chain(&second.commits).map(|commit| commit.subject.as_str()).collect();
    assert_eq!((subjects, second.next), (vec!["3", "2", "1", "0"], None));
    assert_eq!(repository.log(&LogFilter::default()).unwrap().commits[0].subject, "new");
    let wrong = LogFilter { cursor: Some("yesterday".to_owned()), ..LogFilter::default() };
    assert_eq!(repository.log(&wrong).unwrap_err().kind(), base::Kind::InvalidParams);
}

#[test]
fn texts_and_diffs_are_those_of_git() {
    let fixture = eventful();
    let repository = fixture.open();
    let commits = whole_log(&repository, 50);
    let mut compared = 0;
    for commit in commits.iter().filter(|commit| !commit.is_merge) {
        for change in commit.changes.iter().filter(|change| change.lines_added.is_some()) {
            let diff = repository.diff(&change.path, &commit.id).unwrap().unwrap();
            assert_eq!(diff.change, *change);
            // Only git's own names in the heads of hunks are left out, and what precedes the two lines with the names.
            let theirs = fixture.git(&["-c", "core.quotePath=false", "show", "-M", "--format=", &commit.id]);
            let hunks: Vec<_> = diff.text.lines().skip(2).filter(|line| !line.starts_with("@@")).collect();
            assert!(theirs.contains(&hunks.iter().take(4).copied().collect::<Vec<_>>().join("\n")), "{}", diff.text);
            compared += usize::from(!hunks.is_empty());
            if change.change_type != ChangeType::Delete && change.path != "link" {
                let text = fixture.git(&["show", &format!("{}:{}", commit.id, change.path)]);
                assert_eq!(repository.text_at(&change.path, &commit.id).unwrap(), super::super::Content::Text(text));
            }
        }
    }
    assert!(compared > 6);
    let id = &commits[0].id;
    assert_eq!(repository.text_at("no such file", id).unwrap(), super::super::Content::Missing);
    assert_eq!(repository.text_at("src", id).unwrap(), super::super::Content::Missing);
    assert_eq!(repository.text_at("art.bin", id).unwrap(), super::super::Content::Binary(4));
    assert_eq!(repository.diff("side.txt", id).unwrap(), None);
    for unknown in ["HEAD", "0123", &"0".repeat(40), "-x"] {
        assert_eq!(repository.text_at("side.txt", unknown).unwrap_err().kind(), base::Kind::NotFound);
    }
    for escape in ["../x", "/etc/passwd", "a//b", "", "./a"] {
        assert_eq!(repository.text_at(escape, id).unwrap_err().kind(), base::Kind::InvalidParams);
    }
}
