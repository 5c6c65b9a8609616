//! What others change on disk.

use super::super::{Before, ChangeSource, ChangeType, Noticed};
use super::*;
use crate::files::{Read, Stamp};

fn read(content: &str) -> Read {
    let stamp = Stamp { device: 1, inode: 1, size: content.len() as u64, modified_ns: 1, changed_ns: 1 };
    Read::File { bytes: content.as_bytes().to_vec(), stamp }
}

fn noticed(text: &str, before: Before, after: Read) -> Noticed {
    Noticed { path: path(text), moved_from: None, before, after }
}

testkit::both_engines! {
    async fn a_change_on_disk_is_recorded_once(engine: Engine) {
        let project = Project::on_disk(engine).await;
        project.write("one", "a", "1\n2\n").await;
        let notice = async |before, after| project.history.noticed(vec![noticed("a", before, after)]).await.unwrap();
        // Our own write is known.
        assert!(notice(Before::Unknown, read("1\n2\n")).await.is_empty());
        let recorded = notice(Before::Content(b"1\n2\n".to_vec()), read("1\n2\n3\n")).await;
        assert_eq!(recorded.len(), 1);
        let version = &recorded[0];
        assert_eq!((version.number, version.source, version.change), (2, ChangeSource::Disk, ChangeType::Update));
        assert_eq!((version.lines_added, version.lines_removed, version.author.agent.as_str()), (Some(1), Some(0), "disk"));
        assert!(notice(Before::Unknown, read("1\n2\n3\n")).await.is_empty());
        assert_eq!(project.content("a", 2).await, "1\n2\n3\n");
        let recorded = notice(Before::Unknown, Read::Missing).await;
        assert_eq!((recorded[0].change, recorded[0].size), (ChangeType::Delete, None));
        assert!(notice(Before::Unknown, Read::Missing).await.is_empty());
        assert_eq!(project.versions(None).await.len(), 3);
    }

    async fn a_file_that_history_does_not_follow_has_no_content(engine: Engine) {
        let project = Project::on_disk(engine).await;
        let changes = vec![
            noticed("new", Before::Missing, read("1\n")),
            noticed("known", Before::Content(b"1\n".to_vec()), read("1\n2\n")),
            noticed("unknown", Before::Unknown, read("1\n")),
            noticed("gone", Before::Unknown, Read::Missing),
            noticed("never", Before::Missing, Read::Missing),
            noticed("large", Before::Missing, Read::TooLarge { size: 99, stamp: Stamp { device: 1, inode: 1, size: 99, modified_ns: 1, changed_ns: 1 } }),
            Noticed { moved_from: Some(path("old/name")), ..noticed("old/moved", Before::Missing, read("m")) },
            Noticed { moved_from: Some(path("old/name")), ..noticed("other/moved", Before::Missing, read("m")) },
        ];
        let recorded = project.history.noticed(changes.clone()).await.unwrap();
        let seen: Vec<_> = recorded.iter().map(|version| (version.path.as_str(), version.change.word(), version.lines_added)).collect();
        let expected = [
            ("gone", "delete", None), ("known", "update", Some(1)), ("large", "create", None), ("new", "create", Some(1)),
            ("old/moved", "rename", Some(1)), ("other/moved", "move", Some(1)), ("unknown", "update", None),
        ];
        assert_eq!(seen, expected);
        assert!(recorded.iter().all(|version| !version.is_kept()));
        assert!(project.history.noticed(changes).await.unwrap().is_empty());
        assert_eq!(project.versions(None).await.len(), 7);
        // A write through us keeps what it replaces, and history follows the file from then on.
        project.edit("new", "1\n");
        project.write("one", "new", "1\n2\n").await;
        assert_eq!(project.content("new", 1).await, "1\n");
        project.history.noticed(vec![noticed("new", Before::Unknown, read("3\n"))]).await.unwrap();
        assert_eq!(project.content("new", 3).await, "3\n");
    }

    async fn many_changes_are_recorded_together(engine: Engine) {
        let project = Project::on_disk(engine).await;
        let changes = |content: &str| (0..300).map(|file| noticed(&format!("f{file}"), Before::Missing, read(content))).collect::<Vec<_>>();
        assert_eq!(project.history.noticed(changes("1")).await.unwrap().len(), 300);
        assert!(project.history.noticed(changes("1")).await.unwrap().is_empty());
        assert_eq!(project.history.noticed(changes("2")).await.unwrap().len(), 300);
        assert_eq!(project.versions(None).await.len(), 600);
    }
}
