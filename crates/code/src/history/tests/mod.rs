//! History on both engines, for files on disk and in rows.

mod crash;
mod noticed;
mod reading;
mod undo;
mod writing;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use base::{Author, Clock, PageRequest, ProjectId, Result};
use store::Change;
use tempfile::TempDir;
use testkit::{Engine, TestStore};

use super::{History, HistoryFilter, NewContent, Version, Written};
use crate::files::{Files, Root};
use crate::path::CodePath;

/// A project, with its files on disk or in rows.
struct Project {
    // Declared first, so that the store closes before its directory is removed.
    store: TestStore,
    history: History<Change>,
    folder: Option<TempDir>,
}

impl Project {
    async fn on_disk(engine: Engine) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::Disk(Arc::new(Root::open(folder.path()).unwrap()));
        Self::with(engine, files, Some(folder)).await
    }

    async fn in_rows(engine: Engine) -> Self {
        Self::with(engine, Files::Rows, None).await
    }

    async fn with(engine: Engine, files: Files, folder: Option<TempDir>) -> Self {
        let store = TestStore::open(engine).await;
        let project = ProjectId::new(store.clock.now());
        let history = History::new(store.new_org(), project, files, store.clock.clone());
        Self { store, history, folder }
    }

    fn clock(&self) -> &Clock {
        &self.store.clock
    }

    /// Where a file is on disk.
    fn file(&self, path: &str) -> PathBuf {
        self.folder.as_ref().unwrap().path().join(path)
    }

    fn edit(&self, path: &str, content: &str) {
        fs::write(self.file(path), content).unwrap();
    }

    async fn write(&self, who: &str, path: &str, content: &str) -> Written {
        self.try_write(who, path, content).await.unwrap()
    }

    async fn try_write(&self, who: &str, path: &str, content: &str) -> Result<Written> {
        self.clock().advance_ms(1_000);
        self.history.write(&author(who), new(path, content), |_| Ok(())).await
    }

    /// The versions of a file or of everything, newest first.
    async fn versions(&self, of: Option<&str>) -> Vec<Version> {
        let within = of.map(|of| super::Within::File(path(of)));
        let filter = HistoryFilter { within, ..HistoryFilter::default() };
        self.history.list(&filter, &page(1_000)).await.unwrap().items
    }

    /// The content of a version of a file.
    async fn content(&self, of: &str, number: i64) -> String {
        match self.history.text_at(&path(of), super::At::Number(number)).await.unwrap() {
            super::Past::Content(version, content) => {
                assert_eq!(version.number, number);
                String::from_utf8(content).unwrap()
            }
            other => panic!("{other:?}"),
        }
    }

    /// What a reader gets now.
    async fn now(&self, of: &str) -> Option<String> {
        let read = self.history.files.read(&self.history.rows, &self.history.project, &path(of), 1_000_000).await.unwrap();
        if let crate::Read::File { bytes, .. } = read { Some(String::from_utf8(bytes).unwrap()) } else { None }
    }
}

fn author(session: &str) -> Author {
    Author { agent: format!("agent of {session}"), session: session.to_owned() }
}

fn path(text: &str) -> CodePath {
    CodePath::parse(text).unwrap()
}

fn page(rows: u32) -> PageRequest {
    PageRequest { rows, after: None }
}

fn new(text: &str, content: &str) -> NewContent {
    let reason = Some(format!("because of {text}"));
    NewContent {
        path: path(text),
        content: content.as_bytes().to_vec(),
        expected: None,
        keeps_content: true,
        label: None,
        reason,
    }
}
