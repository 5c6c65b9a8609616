//! Crashes between any two steps: the file has the old or the new content, and history says which.

use std::sync::Arc;

use rustix::io::Errno;
use store::{Faults, Store, StoreConfig};

use super::super::Settled;
use super::super::version::State;
use super::*;
use crate::files::{Step, Steps};

const STEPS: [Step; 5] = [Step::Created, Step::Filled, Step::Synced, Step::Compared, Step::Renamed];

fn dying_at(project: &Project, dies: Step) -> History<Change> {
    let killed = move |step| if step == dies { panic!("killed at {step:?}, as a test wants") } else { Ok(()) };
    let root = Root::open(project.folder.as_ref().unwrap().path()).unwrap();
    let files = Files::Disk(Arc::new(root.with_steps(Steps { at: Some(Arc::new(killed)), kills: true })));
    History { files, ..project.history.clone() }
}

fn leftovers(project: &Project) -> usize {
    let names = fs::read_dir(project.folder.as_ref().unwrap().path()).unwrap();
    names.filter(|entry| crate::is_temporary(entry.as_ref().unwrap().file_name().to_str().unwrap())).count()
}

testkit::both_engines! {
    async fn a_killed_write_is_settled_at_the_next_start(engine: Engine) {
        for dies in STEPS {
            let project = Project::on_disk(engine).await;
            project.write("one", "a", "old\n").await;
            dying_at(&project, dies).write(&author("two"), new("a", "new\n"), |_| Ok(())).await.unwrap_err();
            // A version in progress is not shown.
            assert_eq!(project.versions(None).await.len(), 1, "{dies:?}");
            let is_done = dies == Step::Renamed;
            assert_eq!(leftovers(&project), usize::from(!is_done), "{dies:?}");
            let settled = project.history.settle().await.unwrap();
            assert_eq!(settled, Settled { done: u32::from(is_done), not_done: u32::from(!is_done) }, "{dies:?}");
            assert_eq!(leftovers(&project), 0, "{dies:?}");
            let expected = if is_done { "new\n" } else { "old\n" };
            assert_eq!(project.now("a").await.unwrap(), expected, "{dies:?}");
            let newest = project.versions(None).await.remove(0);
            assert_eq!((newest.number, project.content("a", newest.number).await.as_str()), (1 + i64::from(is_done), expected));
            assert_eq!(project.history.settle().await.unwrap(), Settled::default());
            assert_eq!(project.write("one", "a", "newer\n").await.version.number, newest.number + 1);
        }
    }

    async fn a_killed_write_is_settled_by_the_next_write(engine: Engine) {
        for dies in STEPS {
            let project = Project::on_disk(engine).await;
            project.write("one", "a", "old\n").await;
            for _ in 0..2 {
                dying_at(&project, dies).write(&author("two"), new("a", "new\n"), |_| Ok(())).await.unwrap_err();
                if dies == Step::Renamed {
                    break;
                }
            }
            project.write("one", "a", "newer\n").await;
            let contents: Vec<_> = project.versions(None).await.iter().rev().map(|version| version.author.session.clone()).collect();
            let expected: &[&str] = if dies == Step::Renamed { &["one", "two", "one"] } else { &["one", "one"] };
            assert_eq!(contents, expected, "{dies:?}");
            for (number, content) in (1..).zip(if dies == Step::Renamed { vec!["old\n", "new\n", "newer\n"] } else { vec!["old\n", "newer\n"] }) {
                assert_eq!(project.content("a", number).await, content, "{dies:?}");
            }
            assert_eq!(project.history.settle().await.unwrap(), Settled::default());
        }
    }

    async fn a_killed_removal_is_settled(engine: Engine) {
        for dies in [Step::Compared, Step::Renamed] {
            let project = Project::on_disk(engine).await;
            project.write("one", "a", "old\n").await;
            std::fs::remove_file(project.file("a")).unwrap();
            project.history.noticed(vec![crate::Noticed {
                path: path("a"), moved_from: None, before: crate::Before::Unknown, after: crate::Read::Missing,
            }]).await.unwrap();
            project.write("one", "a", "again\n").await;
            dying_at(&project, dies).restore(&author("two"), &path("a"), 2, None).await.unwrap_err();
            let is_done = dies == Step::Renamed;
            let settled = project.history.settle().await.unwrap();
            assert_eq!(settled, Settled { done: u32::from(is_done), not_done: u32::from(!is_done) });
            assert_eq!(project.now("a").await.is_none(), is_done);
            assert_eq!(project.versions(None).await.len(), 3 + usize::from(is_done));
        }
    }

    /// A disk that fails says so, and history does not claim what did not happen.
    async fn a_failed_write_leaves_no_version(engine: Engine) {
        for fails in STEPS {
            let project = Project::on_disk(engine).await;
            project.write("one", "a", "old\n").await;
            let failing = move |step| if step == fails { Err(Errno::NOSPC.into()) } else { Ok(()) };
            let root = Root::open(project.folder.as_ref().unwrap().path()).unwrap();
            let files = Files::Disk(Arc::new(root.with_steps(Steps { at: Some(Arc::new(failing)), kills: false })));
            let history = History { files, ..project.history.clone() };
            let error = history.write(&author("two"), new("a", "new\n"), |_| Ok(())).await.unwrap_err();
            assert_eq!(error.kind(), base::Kind::Conflict);
            let newest = project.versions(None).await.remove(0);
            assert_eq!(newest.state, State::Done);
            assert_eq!(Some(project.content("a", newest.number).await), project.now("a").await, "{fails:?}");
            assert_eq!(leftovers(&project), 0);
        }
    }

    /// Another process writes between the look and the rename: nothing of it is lost.
    async fn a_write_of_another_process_is_found_before_the_rename(engine: Engine) {
        let project = Project::on_disk(engine).await;
        project.write("one", "a", "old\n").await;
        let (file, times) = (project.file("a"), std::sync::atomic::AtomicU32::new(0));
        let interferes = move |step| match step {
            Step::Synced if times.fetch_add(1, std::sync::atomic::Ordering::SeqCst) < 3 => {
                fs::write(&file, format!("theirs {}\n", times.load(std::sync::atomic::Ordering::SeqCst)))
            }
            _ => Ok(()),
        };
        let root = Root::open(project.folder.as_ref().unwrap().path()).unwrap();
        let files = Files::Disk(Arc::new(root.with_steps(Steps { at: Some(Arc::new(interferes)), kills: false })));
        let history = History { files, ..project.history.clone() };
        history.write(&author("two"), new("a", "ours\n"), |_| Ok(())).await.unwrap();
        let mut contents = Vec::new();
        for version in project.versions(None).await.iter().rev() {
            contents.push((version.source.word(), project.content("a", version.number).await));
        }
        let contents: Vec<_> = contents.iter().map(|(source, content)| (*source, content.as_str())).collect();
        assert_eq!(contents, [("toolcrib", "old\n"), ("disk", "theirs 1\n"), ("disk", "theirs 2\n"), ("disk", "theirs 3\n"), ("toolcrib", "ours\n")]);
        assert_eq!(project.now("a").await.unwrap(), "ours\n");
    }

    /// Each statement of a write fails once. What is left is always consistent.
    async fn any_failing_statement_leaves_file_and_history_in_agreement(engine: Engine) {
        let directory = tempfile::tempdir().unwrap();
        let config = match engine {
            Engine::Sqlite => StoreConfig::Sqlite { path: directory.path().join("toolcrib.db") },
            Engine::Postgres => StoreConfig::Postgres { url: testkit::postgres::fresh_database() },
        };
        let (clock, faults) = (Clock::manual(base::Timestamp::from_ms(1_763_000_000_000)), Faults::on_demand());
        let store = Store::open_with(&config, &clock, faults.clone()).await.unwrap();
        let org = base::OrgId::new(clock.now());
        let folder = tempfile::tempdir().unwrap();
        let files = Files::Disk(Arc::new(Root::open(folder.path()).unwrap()));
        let history = History::new(testkit::changing(&store, &org), ProjectId::new(clock.now()), files, clock.clone());
        let mut failures = 0;
        for nth in 1..200 {
            let content = format!("content {nth}\n");
            faults.fail(nth);
            let written = history.write(&author("one"), new("a", &content), |_| Ok(())).await;
            let has_failed = faults.calm();
            history.settle().await.unwrap();
            let on_disk = fs::read_to_string(folder.path().join("a")).ok();
            let newest = history.newest_version(&path("a")).await.unwrap();
            let recorded = newest.and_then(|version| version.sha256_after);
            assert_eq!(recorded, on_disk.as_ref().map(|content| crate::Sha256::of(content.as_bytes())), "after fault {nth}");
            if written.is_ok() {
                assert_eq!(on_disk, Some(content));
            }
            if !has_failed {
                assert!(written.is_ok() && failures > 3, "{failures} failures");
                return;
            }
            failures += u32::from(written.is_err());
        }
        panic!("every statement failed");
    }
}
