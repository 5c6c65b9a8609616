//! Restores and rollbacks.

use base::Kind;

use super::super::{RollbackOutcome, Writer};
use super::*;

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n";

async fn roll_back(project: &Project, session: &str) -> Vec<(String, &'static str)> {
    project.clock().advance_ms(1_000);
    let writer = Writer::Session(session.to_owned());
    let rolled_back = project.history.rollback(&author("admin"), &writer, None, None).await.unwrap();
    let word = |outcome: &RollbackOutcome| match outcome {
        RollbackOutcome::Restored(_) => "restored",
        RollbackOutcome::Reverted(_) => "reverted",
        RollbackOutcome::Unchanged => "unchanged",
        RollbackOutcome::Conflict => "conflict",
        RollbackOutcome::NotKept => "not kept",
        RollbackOutcome::Failed(error) => panic!("{error}"),
    };
    rolled_back.iter().map(|file| (file.path.to_string(), word(&file.outcome))).collect()
}

testkit::both_engines! {
    async fn a_version_is_restored_as_a_new_one(engine: Engine) {
        for project in [Project::on_disk(engine).await, Project::in_rows(engine).await] {
            project.write("one", "a", "1\n").await;
            project.write("one", "a", "2\n").await;
            let restored = project.history.restore(&author("two"), &path("a"), 1, None).await.unwrap().unwrap();
            assert_eq!((restored.number, restored.reason.as_deref()), (3, Some("restore version 1")));
            assert_eq!(project.now("a").await.unwrap(), "1\n");
            assert_eq!(project.history.restore(&author("two"), &path("a"), 1, None).await.unwrap(), None);
            let missing = project.history.restore(&author("two"), &path("a"), 9, None).await;
            assert_eq!(missing.unwrap_err().kind(), Kind::NotFound);
            let hasty = NewContent { keeps_content: false, ..new("b", "1") };
            project.history.write(&author("one"), hasty, |_| Ok(())).await.unwrap();
            let lost = project.history.restore(&author("two"), &path("b"), 1, None).await;
            assert_eq!(lost.unwrap_err().kind(), Kind::Conflict);
        }
    }

    async fn a_session_is_rolled_back(engine: Engine) {
        for project in [Project::on_disk(engine).await, Project::in_rows(engine).await] {
            project.write("good", "alone", LINES).await;
            project.write("good", "merged", LINES).await;
            project.write("good", "conflict", LINES).await;
            project.write("good", "untouched", LINES).await;
            for round in ["x", "y"] {
                project.write("bad", "alone", round).await;
                project.write("bad", "created", round).await;
                project.write("bad", "created and used", &LINES.replace('1', round)).await;
            }
            project.write("bad", "merged", &LINES.replace('2', "bad")).await;
            project.write("good", "merged", &LINES.replace('2', "bad").replace('4', "good")).await;
            project.write("bad", "merged", &LINES.replace('2', "bad").replace('4', "good").replace('6', "worse")).await;
            project.write("good", "merged", &LINES.replace('2', "bad").replace('4', "better").replace('6', "worse")).await;
            project.write("bad", "conflict", &LINES.replace('4', "bad")).await;
            project.write("good", "conflict", &LINES.replace('4', "bad, improved")).await;
            project.write("good", "created and used", LINES).await;
            let expected = [
                ("alone", "restored"), ("conflict", "conflict"), ("created", "restored"), ("created and used", "conflict"), ("merged", "reverted"),
            ];
            let found = roll_back(&project, "bad").await;
            assert_eq!(found.iter().map(|(path, word)| (path.as_str(), *word)).collect::<Vec<_>>(), expected);
            assert_eq!(project.now("alone").await.unwrap(), LINES);
            assert_eq!(project.now("created").await, None);
            assert_eq!(project.now("created and used").await.unwrap(), LINES);
            assert_eq!(project.now("merged").await.unwrap(), LINES.replace('4', "better"));
            assert_eq!(project.now("conflict").await.unwrap(), LINES.replace('4', "bad, improved"));
            assert_eq!(project.now("untouched").await.unwrap(), LINES);
            // Again, it has nothing left to do.
            let again: Vec<_> = roll_back(&project, "bad").await.into_iter().map(|(_, word)| word).collect();
            assert_eq!(again, ["unchanged", "conflict", "unchanged", "conflict", "unchanged"]);
            // The rollback itself can be rolled back.
            let undone = roll_back(&project, "admin").await;
            assert!(undone.iter().all(|(_, word)| *word == "restored"), "{undone:?}");
            assert_eq!(project.now("created").await.unwrap(), "y");
            assert!(roll_back(&project, "nobody").await.is_empty());
        }
    }

    async fn edits_on_disk_survive_a_rollback(engine: Engine) {
        let project = Project::on_disk(engine).await;
        project.edit("a", LINES);
        project.write("bad", "a", &LINES.replace('2', "bad")).await;
        project.edit("a", &LINES.replace('2', "bad").replace('6', "mine"));
        assert_eq!(roll_back(&project, "bad").await, [("a".to_owned(), "reverted")]);
        assert_eq!(project.now("a").await.unwrap(), LINES.replace('6', "mine"));
        project.write("bad", "a", "all gone\n").await;
        project.edit("a", "something else\n");
        assert_eq!(roll_back(&project, "bad").await, [("a".to_owned(), "conflict")]);
        assert_eq!(project.now("a").await.unwrap(), "something else\n");
        let hasty = NewContent { keeps_content: false, ..new("b", "1") };
        project.history.write(&author("hasty"), hasty.clone(), |_| Ok(())).await.unwrap();
        project.history.write(&author("hasty"), NewContent { content: b"2".to_vec(), ..hasty }, |_| Ok(())).await.unwrap();
        assert_eq!(roll_back(&project, "hasty").await, [("b".to_owned(), "not kept")]);
        // History begins after the file: nobody knows what was there.
        project.edit("c", "precious\n");
        let hasty = NewContent { keeps_content: false, ..new("c", "1") };
        project.history.write(&author("late"), hasty, |_| Ok(())).await.unwrap();
        project.write("late", "c", "2").await;
        assert_eq!(roll_back(&project, "late").await, [("c".to_owned(), "not kept")]);
        assert_eq!(project.now("c").await.unwrap(), "2");
    }

    async fn an_agent_is_rolled_back_page_by_page(engine: Engine) {
        let project = Project::in_rows(engine).await;
        for file in ["a", "b", "c"] {
            project.write("one", file, "1").await;
        }
        let writer = Writer::Agent("agent of one".to_owned());
        let rest = project.history.rollback(&author("admin"), &writer, None, Some(&path("a"))).await.unwrap();
        assert_eq!(rest.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(project.now("a").await.unwrap(), "1");
        assert_eq!(project.now("b").await, None);
    }
}
