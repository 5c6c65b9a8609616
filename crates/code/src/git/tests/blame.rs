//! Blame equals `git blame`.

use super::*;

#[test]
fn lines_come_from_the_commit_that_wrote_them() {
    let fixture = Fixture::new();
    fixture.write("file", lines("first", 10));
    let first = fixture.commit("First");
    fixture.write("file", lines("first", 10).replace("line 4 ", "line four ") + &lines("end", 2));
    let second = fixture.commit("Second");
    fixture.write("elsewhere", "x\n");
    fixture.commit("Elsewhere");
    let repository = fixture.open();
    let blame = repository.blame("file", &Bounds::default()).unwrap();
    let found: Vec<_> = blame.lines.iter().map(|lines| (lines.start_line, lines.lines, lines.commit.as_str())).collect();
    assert_eq!(found, [(1, 4, &*first), (5, 1, &*second), (6, 5, &*first), (11, 2, &*second)]);
    assert!(blame.lines.iter().all(|lines| lines.author == "Ada Lovelace"));
    assert_eq!(blame.lines[1].time.ms(), 1_700_000_120_000);
    assert_eq!(our_blame(&repository, "file"), git_blame(&fixture, "file"));
}

#[test]
fn renames_merges_and_a_missing_line_end_are_followed() {
    let fixture = Fixture::new();
    fixture.write("start", lines("start", 40));
    fixture.commit("Create");
    fixture.git(&["checkout", "-q", "-b", "side"]);
    fixture.write("start", lines("start", 40).replace("line 30 ", "line thirty ").replace("line 31 ", ""));
    fixture.commit("Side");
    fixture.git(&["checkout", "-q", "main"]);
    fixture.write("start", lines("head", 3) + &lines("start", 40));
    fixture.commit("Head");
    fixture.merge("side");
    fixture.rename("start", "folder/renamed");
    fixture.commit("Move");
    fixture.write("folder/renamed", std::fs::read_to_string(fixture.tree.join("folder/renamed")).unwrap() + "no line end");
    fixture.commit("End");
    assert_eq!(our_blame(&fixture.open(), "folder/renamed"), git_blame(&fixture, "folder/renamed"));
}

#[test]
fn what_cannot_be_blamed_says_why() {
    let fixture = Fixture::new();
    assert_eq!(fixture.open().blame("file", &Bounds::default()).unwrap_err().kind(), base::Kind::NotFound, "without a commit");
    fixture.write("empty", "");
    fixture.write("binary", b"\0");
    fixture.commit("Create");
    let repository = fixture.open();
    assert_eq!(repository.blame("gone", &Bounds::default()).unwrap_err().kind(), base::Kind::NotFound);
    assert_eq!(repository.blame("binary", &Bounds::default()).unwrap_err().kind(), base::Kind::InvalidParams);
    assert!(repository.blame("empty", &Bounds::default()).unwrap().lines.is_empty());
}
