//! One file of the index, and how it is made from what is on disk.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use syntax::{Bounds, Language, Outline};

use super::files::{Content, FileStamp, ProjectFiles};
use super::lean::Lean;
use super::pack::{Key, Pack};

/// A longer file is not parsed.
pub(crate) const PARSED_BYTES_MAX: u64 = 1024 * 1024;
/// A longer file is not read.
pub(crate) const READ_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// A file that changed this shortly before it was read may change again without a new stamp.
const SETTLED_AFTER_NS: i64 = 2_000_000_000;
/// A zero byte this early means that a file is not text.
const BINARY_LOOK_BYTES: usize = 8 * 1024;
/// The limits of one parse.
pub(crate) const BOUNDS: Bounds =
    Bounds { bytes_max: PARSED_BYTES_MAX as usize, parse_ms_max: 2_000, items_max: 20_000, text_chars_max: 400 };

/// What is known about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FileState {
    /// It has an outline.
    Parsed,
    /// It is text in no known language, or too long to be parsed.
    Text,
    /// It is not text, or too long to be read.
    Binary,
    /// It is in a known language, but could not be parsed.
    Unparsed,
    /// It could not be read.
    Unreadable,
}

/// A file of the index.
#[derive(Clone, Debug)]
pub(crate) struct IndexedFile {
    pub(crate) path: Arc<str>,
    pub(crate) stamp: FileStamp,
    /// Whether an equal stamp means equal content.
    pub(crate) is_settled: bool,
    pub(crate) hash: [u8; 32],
    pub(crate) language: Option<Language>,
    pub(crate) state: FileState,
    pub(crate) lean: Arc<Lean>,
}

/// A file as it was read, before its names are numbers.
#[derive(Debug)]
pub(crate) struct ReadFile {
    pub(crate) stamp: FileStamp,
    pub(crate) is_settled: bool,
    pub(crate) hash: [u8; 32],
    pub(crate) language: Option<Language>,
    pub(crate) state: FileState,
    pub(crate) outline: Option<Box<Outline>>,
    /// The text, for passages.
    pub(crate) text: Option<Box<str>>,
}

impl ReadFile {
    /// A file whose content is not known.
    fn without_content(stamp: FileStamp, state: FileState) -> Self {
        Self { stamp, is_settled: true, hash: [0; 32], language: None, state, outline: None, text: None }
    }
}

/// What makes outlines: the cache first, then the parser.
pub(crate) struct Extractor {
    pub(crate) pack: Arc<Pack>,
    /// How often a text was parsed.
    pub(crate) parses: AtomicU64,
    /// How often a file was read.
    pub(crate) reads: AtomicU64,
}

impl Extractor {
    pub(crate) fn new(pack: Arc<Pack>) -> Self {
        Self { pack, parses: AtomicU64::new(0), reads: AtomicU64::new(0) }
    }

    /// Reads a file and makes its outline. Nothing if there is no such file any more. `now_ns` is the time before the read.
    pub(crate) fn read(&self, files: &dyn ProjectFiles, path: &str, now_ns: i64) -> Option<ReadFile> {
        let stamp = files.stamp(path)?;
        if stamp.size > READ_BYTES_MAX {
            return Some(ReadFile::without_content(stamp, FileState::Binary));
        }
        self.reads.fetch_add(1, Ordering::Relaxed);
        let (stamp, content) = match files.read(path, READ_BYTES_MAX) {
            Ok(read) => read,
            // It has just gone, or it cannot be read at all.
            Err(_) => return files.stamp(path).map(|stamp| ReadFile::without_content(stamp, FileState::Unreadable)),
        };
        let Content::Bytes(bytes) = content else {
            return Some(ReadFile::without_content(stamp, FileState::Binary));
        };
        let mut read = ReadFile {
            is_settled: now_ns.saturating_sub(stamp.modified_ns.max(stamp.changed_ns)) > SETTLED_AFTER_NS,
            hash: Sha256::digest(&bytes).into(),
            ..ReadFile::without_content(stamp, FileState::Binary)
        };
        if bytes.iter().take(BINARY_LOOK_BYTES).any(|byte| *byte == 0) {
            return Some(read);
        }
        // An old encoding spoils a few characters, not the lines.
        let text = String::from_utf8(bytes).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned());
        read.state = FileState::Text;
        if stamp.size <= PARSED_BYTES_MAX {
            read.language = Language::of(path, &text);
        }
        if let Some(language) = read.language {
            read.outline = self.outline(language, &read.hash, &text).map(Box::new);
            read.state = if read.outline.is_some() { FileState::Parsed } else { FileState::Unparsed };
        }
        read.text = Some(text.into());
        Some(read)
    }

    /// The outline of a text.
    pub(crate) fn outline(&self, language: Language, hash: &[u8; 32], text: &str) -> Option<Outline> {
        let key = Key::new(hash, language.name());
        if let Some(known) = self.pack.get(&key) {
            return Some(known);
        }
        self.parses.fetch_add(1, Ordering::Relaxed);
        // Whatever a text does to a parser, the other files are indexed.
        let parsed = catch_unwind(AssertUnwindSafe(|| syntax::outline(language, text, &BOUNDS)));
        let outline = parsed.ok()?.ok()?;
        self.pack.put(key, &outline);
        Some(outline)
    }
}
