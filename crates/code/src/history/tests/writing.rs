//! Writes: what is recorded, what is kept, and what two writers do to each other.

use std::fs;
use std::os::unix::fs::symlink;

use base::{Error, Kind};
use tokio::task::JoinSet;

use super::super::{ChangeSource, ChangeType, NewContent, Past};
use super::*;
use crate::files::{Sha256, stored_files};

/// Changes whose audit entry cannot be written.
#[expect(clippy::disallowed_methods, reason = "a domain test takes the role that guard has in the server")]
fn refusing(project: &Project) -> Change {
    struct Refusing;

    impl store::Seal for Refusing {
        fn check(&self, _: &mut store::OrgTx<'_, '_>) -> Result<()> {
            Ok(())
        }

        fn apply(&self, _: &mut store::OrgTx<'_, '_>) -> Result<()> {
            Err(Error::new(Kind::NotPermitted, "no"))
        }
    }

    project.history.rows.sealed_by(Arc::new(Refusing))
}

testkit::both_engines! {
    async fn a_write_is_a_version(engine: Engine) {
        for project in [Project::on_disk(engine).await, Project::in_rows(engine).await] {
            let first = project.write("one", "src/a.rs", "fn a() {}\n").await;
            assert_eq!(first.before, None);
            let second = project.write("two", "src/a.rs", "fn a() {}\nfn b() {}\n").await;
            assert_eq!(second.before.as_deref(), Some(&b"fn a() {}\n"[..]));
            let (first, second) = (first.version, second.version);
            assert_eq!((first.number, first.change, first.source), (1, ChangeType::Create, ChangeSource::Toolcrib));
            assert_eq!((second.number, second.change), (2, ChangeType::Update));
            assert_eq!((second.lines_added, second.lines_removed, second.size), (Some(1), Some(0), Some(20)));
            assert_eq!((second.parent, second.sha256_before), (Some(first.id), first.sha256_after));
            assert_eq!(second.author, author("two"));
            assert_eq!(second.reason.as_deref(), Some("because of src/a.rs"));
            assert!(second.created_at > first.created_at);
            assert_eq!(project.versions(Some("src/a.rs")).await, [second.clone(), first.clone()]);
            assert_eq!(project.history.version(&second.id).await.unwrap(), second);
            assert_eq!(project.content("src/a.rs", 1).await, "fn a() {}\n");
            assert_eq!(project.now("src/a.rs").await.unwrap(), "fn a() {}\nfn b() {}\n");
            // The same content again is a version too, and touches no file.
            let third = project.write("one", "src/a.rs", "fn a() {}\nfn b() {}\n").await.version;
            assert_eq!((third.number, third.lines_added, third.lines_removed), (3, Some(0), Some(0)));
            assert_eq!(project.content("src/a.rs", 3).await, "fn a() {}\nfn b() {}\n");
        }
    }

    async fn an_expected_content_that_is_not_there_is_a_conflict(engine: Engine) {
        for project in [Project::on_disk(engine).await, Project::in_rows(engine).await] {
            let expecting = |content: &str, expected: &str| {
                NewContent { expected: Some(Sha256::of(expected.as_bytes())), ..new("a", content) }
            };
            let write = async |new| project.history.write(&author("one"), new, |_| Ok(())).await;
            let error = write(expecting("x", "y")).await.unwrap_err();
            assert_eq!(error.kind(), Kind::Conflict);
            project.write("one", "a", "1").await;
            write(expecting("2", "1")).await.unwrap();
            let error = write(expecting("3", "1")).await.unwrap_err();
            assert_eq!(error.kind(), Kind::Conflict);
            assert_eq!(error.data().get("sha256").unwrap(), &Sha256::of(b"2").hex());
            assert_eq!(error.data().get("version").unwrap(), 2);
            assert_eq!(project.now("a").await.unwrap(), "2");
            assert_eq!(project.versions(None).await.len(), 2);
        }
    }

    async fn a_refused_check_changes_nothing(engine: Engine) {
        let project = Project::on_disk(engine).await;
        project.write("one", "a", "1").await;
        let refuses = |before: Option<&[u8]>| {
            assert_eq!(before, Some(&b"1"[..]));
            Err(Error::new(Kind::SyntaxError, "line 1"))
        };
        let error = project.history.write(&author("one"), new("a", "2"), refuses).await.unwrap_err();
        assert_eq!(error.kind(), Kind::SyntaxError);
        assert_eq!((project.now("a").await.unwrap(), project.versions(None).await.len()), ("1".to_owned(), 1));
    }

    async fn writers_of_one_file_take_turns(engine: Engine) {
        for project in [Project::on_disk(engine).await, Project::in_rows(engine).await] {
            let mut writers = JoinSet::new();
            for number in 0..16 {
                let history = project.history.clone();
                writers.spawn(async move { history.write(&author("one"), new("a", &format!("{number}\n")), |_| Ok(())).await });
            }
            let mut before: Vec<_> = writers.join_all().await.into_iter().map(|written| written.unwrap().before).collect();
            // Nobody replaced the same content as another.
            before.sort();
            before.dedup();
            assert_eq!(before.len(), 16);
            let versions = project.versions(Some("a")).await;
            assert_eq!(versions.len(), 16);
            assert!(versions.windows(2).all(|pair| pair[0].parent == Some(pair[1].id)));
            assert_eq!(project.now("a").await.unwrap(), project.content("a", 16).await);
        }
    }

    async fn what_was_on_disk_before_is_kept(engine: Engine) {
        let project = Project::on_disk(engine).await;
        project.edit("a", "old\n");
        project.write("one", "a", "new\n").await;
        project.edit("a", "edited\n");
        project.write("one", "a", "newer\n").await;
        fs::remove_file(project.file("a")).unwrap();
        project.write("one", "a", "again\n").await;
        let versions = project.versions(None).await;
        let seen: Vec<_> = versions.iter().rev().map(|version| (version.change.word(), version.source.word())).collect();
        let expected = [
            ("create", "disk"), ("update", "toolcrib"), ("update", "disk"), ("update", "toolcrib"), ("delete", "disk"), ("create", "toolcrib"),
        ];
        assert_eq!(seen, expected);
        for (number, content) in [(1, "old\n"), (2, "new\n"), (3, "edited\n"), (4, "newer\n"), (6, "again\n")] {
            assert_eq!(project.content("a", number).await, content);
        }
        assert!(matches!(project.history.text_at(&path("a"), crate::At::Number(5)).await.unwrap(), Past::Deleted(_)));
        assert!(versions.iter().filter(|version| version.source == ChangeSource::Disk).all(|version| version.author.agent == "disk"));
    }

    async fn without_a_backup_only_the_change_is_kept(engine: Engine) {
        let project = Project::on_disk(engine).await;
        project.edit("a", "old\n");
        let hasty = |content: &str| NewContent { keeps_content: false, ..new("a", content) };
        let first = project.history.write(&author("one"), hasty("1\n"), |_| Ok(())).await.unwrap().version;
        assert_eq!((first.number, first.is_kept(), first.change), (1, false, ChangeType::Update));
        assert_eq!((first.lines_added, first.sha256_before), (Some(1), Some(Sha256::of(b"old\n"))));
        assert!(matches!(project.history.text_at(&path("a"), crate::At::Number(1)).await.unwrap(), Past::NotKept(_)));
        // The next write keeps what it replaces.
        project.write("one", "a", "1\n2\n").await;
        assert_eq!(project.content("a", 1).await, "1\n");
        assert_eq!(project.content("a", 2).await, "1\n2\n");
    }

    async fn a_file_that_is_too_large_is_replaced_and_not_kept(engine: Engine) {
        let project = Project::on_disk(engine).await;
        let size = crate::FILE_BYTES_MAX as u64 + 1;
        fs::File::create(project.file("a")).unwrap().set_len(size).unwrap();
        let checks = |before: Option<&[u8]>| if before.is_some() { Err(Error::internal("it was read")) } else { Ok(()) };
        let written = project.history.write(&author("one"), new("a", "1"), checks).await.unwrap();
        assert_eq!((written.before, written.version.number, written.version.lines_added), (None, 2, None));
        let first = project.versions(None).await.remove(1);
        assert_eq!((first.is_kept(), first.sha256_after, first.size), (false, None, i64::try_from(size).ok()));
        assert_eq!(project.now("a").await.unwrap(), "1");
    }

    /// The audit entry and the version are one transaction, and a caller that may no longer write touches no file.
    async fn a_refused_seal_touches_no_file(engine: Engine) {
        let project = Project::on_disk(engine).await;
        project.write("one", "a", "old").await;
        let history = History { rows: refusing(&project), ..project.history.clone() };
        assert_eq!(history.write(&author("two"), new("a", "new"), |_| Ok(())).await.unwrap_err().kind(), Kind::NotPermitted);
        assert_eq!((project.now("a").await.unwrap(), project.versions(None).await.len()), ("old".to_owned(), 1));
        assert_eq!(project.history.settle().await.unwrap(), crate::Settled::default());
    }

    async fn a_link_has_the_history_of_its_file(engine: Engine) {
        let project = Project::on_disk(engine).await;
        project.write("one", "real/a", "1").await;
        symlink("real", project.file("link")).unwrap();
        let written = project.write("one", "link/a", "2").await.version;
        assert_eq!((written.path, written.number), (path("real/a"), 2));
    }

    async fn too_much_is_refused(engine: Engine) {
        let project = Project::in_rows(engine).await;
        let large = NewContent { content: vec![b'a'; crate::FILE_BYTES_MAX + 1], ..new("a", "") };
        assert_eq!(project.history.write(&author("one"), large, |_| Ok(())).await.unwrap_err().kind(), Kind::TooLarge);
        let wordy = NewContent { reason: Some("a".repeat(4_001)), ..new("a", "") };
        assert_eq!(project.history.write(&author("one"), wordy, |_| Ok(())).await.unwrap_err().kind(), Kind::InvalidParams);
        assert!(project.versions(None).await.is_empty());
    }

    async fn files_in_rows_are_listed(engine: Engine) {
        let project = Project::in_rows(engine).await;
        for name in ["b", "a", "c/d"] {
            project.write("one", name, name).await;
        }
        let (rows, id) = (&project.history.rows, &project.history.project);
        let files = stored_files(rows, id, None, 2).await.unwrap();
        assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        let rest = stored_files(rows, id, Some(&files[1].path), 2).await.unwrap();
        assert_eq!((rest.len(), rest[0].path.as_str(), rest[0].size, rest[0].version), (1, "c/d", 3, 1));
        assert_eq!(rest[0].sha256, Some(Sha256::of(b"c/d")));
        assert!(matches!(project.history.files.read(rows, id, &path("c/d"), 2).await.unwrap(), crate::Read::TooLarge { size: 3, .. }));
    }

    /// Random edits: every version is rebuilt exactly, in fewer than twenty steps.
    async fn a_thousand_edits_are_rebuilt(engine: Engine) {
        let project = Project::in_rows(engine).await;
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = move |below: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % below as u64) as usize
        };
        let mut lines: Vec<String> = (0..200).map(|line| format!("line {line}\n")).collect();
        let mut contents = Vec::new();
        for edit in 0..1_000 {
            for _ in 0..=next(4) {
                let place = next(lines.len());
                match next(4) {
                    0 if lines.len() > 20 => drop(lines.remove(place)),
                    1 => lines.insert(place, format!("new {edit} {}\n", next(1_000))),
                    2 => lines[place] = format!("{}\r\n", next(50)),
                    _ => lines.swap(0, place),
                }
            }
            let mut content = lines.concat();
            // Now and then without an end of line, empty, or something else entirely.
            match next(50) {
                0 => content.clear(),
                1 => content = format!("\u{feff}{}", next(1_000_000)),
                2 => drop(content.pop()),
                _ => (),
            }
            project.write("one", "a", &content).await;
            contents.push(content);
        }
        let versions = project.versions(Some("a")).await;
        assert!(versions.iter().all(|version| version.steps.is_some_and(|steps| steps < 20)));
        assert!(versions.iter().filter(|version| version.steps == Some(0)).count() < 200);
        for (number, content) in (1..).zip(&contents) {
            assert_eq!(project.content("a", number).await, *content, "version {number}");
        }
    }
}
