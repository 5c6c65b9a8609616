//! One file: its content, its version, what is like it.

use std::sync::Arc;

use base::Result;
use base::limits::CODE_FILE_BYTES_MAX;
use store::{Change, OrgStore};
use syntax::Language;

use super::Codebase;
use crate::files::{Read, Sha256};
use crate::history::{Before, Noticed};
use crate::index::Dependencies;
use crate::path::CodePath;

/// The number of similar files.
const SIMILAR_MAX: usize = 10;

/// A file as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct FileRead {
    /// The path that leads to it without symbolic links.
    pub path: CodePath,
    /// What is there.
    pub content: FileContent,
    /// Its programming language, if it is known.
    pub language: Option<&'static str>,
    /// The number of its version in the history. Zero if history does not know this content.
    pub version: i64,
    /// The digest of its content.
    pub sha256: Option<Sha256>,
    /// Its size in bytes.
    pub size: u64,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq)]
pub enum FileContent {
    /// Nothing.
    Missing,
    /// A folder.
    Folder,
    /// Neither a file nor a folder, such as a pipe.
    Special,
    /// A file that is too large to show.
    TooLarge,
    /// A file that is not UTF-8 text.
    Binary,
    /// The text.
    Text(String),
}

/// A file that is about similar things.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarFile {
    /// Its path.
    pub path: Arc<str>,
    /// The calibrated similarity, from 0 to 1.
    pub similarity: f32,
    /// The raw cosine.
    pub cosine: f32,
}

impl<R: AsRef<OrgStore> + Clone> Codebase<R> {
    /// Reads a file.
    pub async fn read(&self, path: &CodePath) -> Result<FileRead> {
        let path = self.place.files.real(path).await?;
        let read = self.place.files.read(self.rows(), &self.project, &path, CODE_FILE_BYTES_MAX).await?;
        let known = self.history().newest_version(&path).await?;
        let (content, sha256, size) = match read {
            Read::Missing => (FileContent::Missing, None, 0),
            Read::Folder => (FileContent::Folder, None, 0),
            Read::Special => (FileContent::Special, None, 0),
            Read::TooLarge { size, .. } => (FileContent::TooLarge, None, size),
            Read::File { bytes, .. } => {
                let (sha256, size) = (Sha256::of(&bytes), bytes.len() as u64);
                let is_text = !bytes.contains(&0);
                let text = String::from_utf8(bytes).ok().filter(|_| is_text);
                (text.map_or(FileContent::Binary, FileContent::Text), Some(sha256), size)
            }
        };
        let text = if let FileContent::Text(text) = &content { text.as_str() } else { "" };
        let language = Language::of(path.as_str(), text).map(Language::name);
        let version = known.filter(|known| known.sha256_after == sha256 && sha256.is_some()).map_or(0, |known| known.number);
        Ok(FileRead { path, content, language, version, sha256, size })
    }

    /// What a file imports and exports, and what imports it. `None` if the index does not have it: it is ignored, or not indexed yet.
    pub async fn dependencies(&self, path: &CodePath) -> Result<Option<Dependencies>> {
        let (index, path) = (Arc::clone(&self.index), path.clone());
        let work = move || {
            index.refresh(path.as_str());
            let snapshot = index.snapshot();
            snapshot.file_number(path.as_str()).map(|_| snapshot.dependencies(path.as_str())).transpose()
        };
        store::compute(self.rows().org(), work).await?
    }

    /// Files about similar things, most similar first.
    pub async fn similar_files(&self, path: &CodePath, threshold: f32) -> Result<Vec<SimilarFile>> {
        let Some(file) = self.index.snapshot().file_number(path.as_str()) else { return Ok(Vec::new()) };
        let finder = Arc::clone(&self.place.finder);
        let found = store::compute(self.rows().org(), move || finder.similar_files(file, threshold, SIMILAR_MAX)).await?;
        let similar = |found: crate::find::SimilarFile| SimilarFile {
            path: found.path,
            similarity: found.similarity,
            cosine: found.cosine,
        };
        Ok(found.into_iter().map(similar).collect())
    }
}

impl Codebase<Change> {
    /// Records that others changed a file that history follows, and returns its version now. Zero if history does not follow it.
    pub async fn notice(&self, file: &FileRead) -> Result<i64> {
        let can_tell = file.sha256.is_some() || file.content == FileContent::Missing;
        if file.version > 0 || !can_tell {
            return Ok(file.version);
        }
        let history = self.history();
        let Some(known) = history.newest_version(&file.path).await? else { return Ok(0) };
        let after = self.place.files.read(self.rows(), &self.project, &file.path, crate::files::FILE_BYTES_MAX).await?;
        let before = if known.exists() { Before::Unknown } else { Before::Missing };
        let noticed = Noticed { path: file.path.clone(), moved_from: None, before, after };
        let versions = history.noticed(vec![noticed]).await?;
        Ok(if file.sha256.is_none() { 0 } else { versions.first().map_or(known.number, |version| version.number) })
    }
}
