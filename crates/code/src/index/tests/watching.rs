//! Indexes that follow the disk by themselves.

use std::time::Duration;

use base::{OrgId, ProjectId, Timestamp};

use super::super::indexes::CodeIndexes;
use super::*;

/// Long enough for a busy machine. A test that fails waits this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until the published state is as it should be.
async fn until(index: &ProjectIndex, is_so: impl Fn(&Snapshot) -> bool) -> bool {
    let mut told = index.subscribe();
    let wait = async {
        while !is_so(&index.snapshot()) {
            told.changed().await.unwrap();
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.is_ok()
}

#[tokio::test]
async fn changes_on_disk_are_followed() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), "a.py", "def f():\n    pass\n");
    write(home.path(), "old/c.py", "import a\n");
    let indexes = CodeIndexes::new(None, usize::MAX, Clock::system());
    let (org, project) = (OrgId::new(Timestamp::from_ms(0)), ProjectId::new(Timestamp::from_ms(0)));
    let parts = || Ok(ProjectParts { files: Arc::new(Folder::open(home.path()).unwrap()), sink: None });
    let index = indexes.project(org, project, parts).unwrap();
    assert!(Arc::ptr_eq(&index, &indexes.project(org, project, || unreachable!()).unwrap()), "everyone shares it");
    let test = async {
        let coverage = index.settled(PATIENCE).await;
        assert!(coverage.is_complete && coverage.is_fresh, "{coverage:?}");
        write(home.path(), "a.py", "def g():\n    pass\n");
        assert!(until(&index, |state| state.symbols("a.py").is_some_and(|symbols| symbols[0].name == "g")).await, "changed");
        write(home.path(), "new/deep/b.py", "import a\n");
        assert!(until(&index, |state| state.file_number("new/deep/b.py").is_some()).await, "new folders");
        write(home.path(), "new/deep/d.py", "import a\n");
        assert!(until(&index, |state| state.file_number("new/deep/d.py").is_some()).await, "new folders are watched");
        std::fs::rename(home.path().join("old"), home.path().join("moved")).unwrap();
        let is_moved = |state: &Snapshot| state.file_number("moved/c.py").is_some() && state.file_number("old/c.py").is_none();
        assert!(until(&index, is_moved).await, "a folder moves");
        std::fs::remove_dir_all(home.path().join("new")).unwrap();
        assert!(until(&index, |state| state.file_count() == 2).await, "removed");
        write(home.path(), ".gitignore", "moved\n");
        assert!(until(&index, |state| state.file_count() == 1).await, "ignored from now on");
        let coverage = index.settled(PATIENCE).await;
        assert!(coverage.is_fresh && coverage.files == 1, "{coverage:?}");
    };
    tokio::select! {
        () = indexes.run() => unreachable!(),
        () = test => {}
    }
}

#[tokio::test]
async fn the_least_used_index_is_dropped_when_memory_is_short() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), "a.py", "def f():\n    pass\n");
    let indexes = CodeIndexes::new(None, 1, Clock::system());
    let org = OrgId::new(Timestamp::from_ms(0));
    let projects: Vec<_> = (0..2).map(|_| ProjectId::new(Timestamp::from_ms(0))).collect();
    let parts = || Ok(ProjectParts { files: Arc::new(Folder::open(home.path()).unwrap()), sink: None });
    let first = indexes.project(org, projects[0], parts).unwrap();
    first.catch_up();
    let second = indexes.project(org, projects[1], parts).unwrap();
    second.catch_up();
    let again = indexes.project(org, projects[0], parts).unwrap();
    assert!(!Arc::ptr_eq(&first, &again), "it was dropped");
    assert_eq!(first.snapshot().file_count(), 1, "who has it can still ask");
    indexes.forget(org, projects[0]);
    assert!(!Arc::ptr_eq(&again, &indexes.project(org, projects[0], parts).unwrap()));
}

#[tokio::test]
async fn what_is_kept_makes_the_next_start_quick() {
    let (home, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(home.path(), "a.py", "def f():\n    pass\n");
    let (org, project) = (OrgId::new(Timestamp::from_ms(0)), ProjectId::new(Timestamp::from_ms(0)));
    let parts = || Ok(ProjectParts { files: Arc::new(Folder::open(home.path()).unwrap()), sink: None });
    for expected in [(1, 1), (0, 0)] {
        let indexes = CodeIndexes::new(Some(cache.path().to_owned()), usize::MAX, later());
        let index = indexes.project(org, project, parts).unwrap();
        index.catch_up();
        assert_eq!(index.work_done(), expected);
        indexes.keep();
        indexes.stop();
    }
}
