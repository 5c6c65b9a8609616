//! Which files count as renamed, and the history of one file.

use super::*;

#[test]
fn equal_contents_prefer_the_same_name_as_in_git() {
    let fixture = Fixture::new();
    for folder in ["a", "b", "c"] {
        fixture.write(&format!("{folder}/same.txt"), lines("same", 9));
    }
    fixture.write("a/other.txt", lines("same", 9));
    fixture.commit("Start");
    fixture.rename("a/other.txt", "z/other.txt");
    fixture.rename("c/same.txt", "y/same.txt");
    fixture.rename("b/same.txt", "x/unlike.txt");
    fixture.commit("Move");
    assert_eq!(shown(&whole_log(&fixture.open(), 50)), git_shown(&fixture, &[]));
}

#[test]
fn similar_contents_compete_as_in_git() {
    let fixture = Fixture::new();
    for number in 0..6 {
        fixture.write(&format!("old/{number}.txt"), lines("shared", 20) + &lines(&format!("own {number}"), number * 4));
    }
    fixture.commit("Start");
    for number in 0..6 {
        fixture.remove(&format!("old/{number}.txt"));
    }
    for number in 0..5 {
        let text =
            lines("shared", 20) + &lines(&format!("own {}", 5 - number), number * 5) + &lines(&format!("new {number}"), number);
        fixture.write(&format!("new/{}.txt", number + 1), text);
    }
    fixture.write("new/nine.txt", lines("shared", 8));
    fixture.commit("Rewrite");
    assert_eq!(shown(&whole_log(&fixture.open(), 50)), git_shown(&fixture, &[]));
}

#[test]
fn half_of_the_content_decides() {
    for kept in 8..13 {
        let fixture = Fixture::new();
        fixture.write("before", lines("a", 20));
        fixture.commit("Start");
        fixture.remove("before");
        fixture.write("after", lines("a", kept) + &lines("b", 20 - kept));
        fixture.commit("Replace");
        assert_eq!(shown(&whole_log(&fixture.open(), 50)), git_shown(&fixture, &[]), "{kept} of 20 lines kept");
    }
}

#[test]
fn a_file_that_becomes_a_folder_is_deleted() {
    let fixture = Fixture::new();
    fixture.write("thing", lines("thing", 12));
    fixture.write("thing-more", lines("more", 12));
    fixture.commit("Start");
    fixture.remove("thing");
    fixture.write("thing/inside", lines("else", 12));
    fixture.commit("Folder");
    std::fs::remove_dir_all(fixture.tree.join("thing")).unwrap();
    std::os::unix::fs::symlink("thing-more", fixture.tree.join("thing")).unwrap();
    fixture.commit("Link");
    fixture.remove("thing");
    fixture.write("thing", lines("thing", 12));
    fixture.commit("File");
    assert_eq!(shown(&whole_log(&fixture.open(), 50)), git_shown(&fixture, &[]));
}

#[test]
fn a_history_follows_names_as_git_does() {
    let fixture = Fixture::new();
    fixture.write("one.txt", lines("text", 20));
    fixture.write("unrelated", lines("unrelated", 3));
    fixture.commit("Create");
    fixture.write("one.txt", lines("text", 22));
    fixture.commit("Edit");
    fixture.rename("one.txt", "two.txt");
    fixture.write("two.txt", lines("text", 21));
    fixture.commit("Rename");
    fixture.write("unrelated", lines("unrelated", 4));
    fixture.commit("Elsewhere");
    fixture.rename("two.txt", "deep/er/two.txt");
    fixture.commit("Move");
    fixture.write("deep/er/two.txt", lines("text", 25));
    fixture.commit("Edit again");
    let repository = fixture.open();
    for rows in [1, 2, 50] {
        let ours = whole_history(&repository, "deep/er/two.txt", rows);
        assert_eq!(shown(&ours), git_shown(&fixture, &["--follow", "--", "deep/er/two.txt"]));
    }
    // A name of the past ends with the rename.
    let past = whole_history(&repository, "one.txt", 50);
    assert_eq!(past.iter().map(|commit| commit.subject.as_str()).collect::<Vec<_>>(), ["Rename", "Edit", "Create"]);
    assert_eq!((past[0].changes[0].path.as_str(), past[0].changes[0].from.as_deref()), ("two.txt", Some("one.txt")));
    assert!(whole_history(&repository, "never", 50).is_empty());
}

#[test]
fn a_file_that_comes_back_has_both_lives() {
    let fixture = Fixture::new();
    for (step, text) in [("Create", Some("first\n")), ("Delete", None), ("Other", None), ("Create again", Some("second\n"))] {
        match text {
            Some(text) => fixture.write("file", text),
            None if step == "Delete" => fixture.remove("file"),
            None => fixture.write("other", "other\n"),
        }
        fixture.commit(step);
    }
    let ours = whole_history(&fixture.open(), "file", 50);
    assert_eq!(shown(&ours), git_shown(&fixture, &["--follow", "--", "file"]));
    assert_eq!(ours.len(), 3);
}

#[test]
fn a_rename_on_one_branch_does_not_hide_edits_on_another() {
    let fixture = Fixture::new();
    fixture.write("old.txt", lines("text", 30));
    fixture.commit("Create");
    fixture.git(&["checkout", "-q", "-b", "side"]);
    fixture.write("old.txt", lines("text", 30).replace("line 3 ", "line three "));
    fixture.commit("Edit the old name");
    fixture.git(&["checkout", "-q", "main"]);
    fixture.rename("old.txt", "new.txt");
    fixture.commit("Rename");
    // The edit of the old name is newer than the rename, so that a single current name would miss it.
    fixture.git(&["checkout", "-q", "side"]);
    fixture.write("old.txt", lines("text", 30).replace("line 3 ", "line three ").replace("line 20 ", "line twenty "));
    fixture.commit("Edit the old name later");
    fixture.git(&["checkout", "-q", "main"]);
    fixture.merge("side");
    let ours = whole_history(&fixture.open(), "new.txt", 50);
    let subjects: Vec<_> = ours.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!(subjects, ["Edit the old name later", "Rename", "Edit the old name", "Create"]);
    assert_eq!(our_blame(&fixture.open(), "new.txt"), git_blame(&fixture, "new.txt"));
}

#[test]
fn too_many_candidates_are_paired_by_content_and_name_only() {
    let fixture = Fixture::new();
    // More than a thousand each way, so that their product is over the limit.
    let mut stream = Vec::new();
    fixture.import_heading(&mut stream, "Start");
    for number in 0..1_010 {
        import_file(&mut stream, &format!("old/{number}.txt"), &lines(&format!("file {number}"), 4));
    }
    for name in ["old/0equal.txt", "old/unique"] {
        import_file(&mut stream, name, &lines(name, 40));
    }
    fixture.import_heading(&mut stream, "Rewrite all");
    stream.extend_from_slice(b"deleteall\n");
    for number in 0..1_010 {
        import_file(&mut stream, &format!("new/{number}.md"), &lines(&format!("file {number}"), 5));
    }
    import_file(&mut stream, "new/0equal.md", &lines("old/0equal.txt", 40));
    import_file(&mut stream, "a/unique", &lines("old/unique", 41));
    fixture.import(&stream);
    let page =
        fixture.open().log(&LogFilter { bounds: Bounds { commits: 1, ..Bounds::default() }, ..LogFilter::default() }).unwrap();
    let commit = &page.commits[0];
    assert!(commit.is_partial, "it says that renames may be missing");
    assert_eq!(commit.changes.len(), 1_000, "and it does not list everything");
    let ours: Vec<_> = shown(&page.commits).into_iter().filter(|line| line.starts_with("R\t")).collect();
    let theirs: Vec<_> = git_shown(&fixture, &["-1"]).into_iter().filter(|line| line.starts_with("R\t")).collect();
    assert_eq!(ours, theirs);
    assert_eq!(ours, ["R\told/unique\ta/unique", "R\told/0equal.txt\tnew/0equal.md"]);
}

#[test]
fn a_history_reads_only_the_folders_on_its_way() {
    let fixture = Fixture::new();
    let mut stream = Vec::new();
    fixture.import_heading(&mut stream, "Start");
    for file in 0..400 {
        import_file(&mut stream, &format!("wide/file {file}"), "text\n");
    }
    import_file(&mut stream, "one/target", "text\n");
    for number in 0..400 {
        fixture.import_heading(&mut stream, "Edit");
        import_file(&mut stream, &format!("wide/file {number}"), "another text\n");
    }
    fixture.import_heading(&mut stream, "Touch");
    import_file(&mut stream, "one/target", "another text\n");
    fixture.import(&stream);
    // The wide folder has a new version of 13 kB in each commit. Reading only those would take over 5 MB.
    let bounds = Bounds { bytes: 200_000, ..Bounds::default() };
    let page = fixture.open().history("one/target", None, &bounds).unwrap();
    assert_eq!(page.commits.iter().map(|commit| commit.subject.as_str()).collect::<Vec<_>>(), ["Touch", "Start"]);
    assert!(!page.is_partial);
}
