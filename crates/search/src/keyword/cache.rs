//! The committed part: a tantivy index in a folder, or in memory.
//!
//! Whatever is found in the folder is checked before it is used, checksums included. What does not pass is thrown away: the rows
//! are elsewhere, and a replay brings them back.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::store::Compressor;
use tantivy::{Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, TantivyError, Term};

use super::KeywordError;
use super::directory::Unsynced;
use super::tail::Tail;

/// The version of what is in the folder. It goes up with every change to how text becomes terms.
const VERSION: u32 = 1;
/// The name of the id column.
pub(super) const ID: &str = "id";
/// The smallest heap that tantivy accepts for its one indexing thread.
const WRITER_BYTES: usize = 15_000_000;
/// Segments of a like size that are merged into one. Small: every query looks into each segment.
const MERGED_SEGMENTS: usize = 4;
/// The share of deleted documents from which a segment is written anew.
const DELETED_SHARE_MAX: f32 = 0.2;

/// What [`super::KeywordIndex::open`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The position of the last committed write: rows behind it must be replayed. Zero means all of them.
    pub position: u64,
    /// Why an earlier cache was thrown away, if one was.
    pub discarded: Option<String>,
}

pub(super) struct Cache {
    index: Index,
    reader: IndexReader,
    pub(super) fields: Fields,
}

#[derive(Clone, Copy)]
pub(super) struct Fields {
    id: Field,
    pub(super) words: Field,
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let id = schema.add_u64_field(ID, INDEXED | FAST);
    // The words arrive cut, folded and stemmed, with a space between them. Positions are not asked for and cost half the index.
    let words = TextFieldIndexing::default().set_tokenizer("whitespace").set_index_option(IndexRecordOption::WithFreqs);
    let words = schema.add_text_field("words", TextOptions::default().set_indexing_options(words));
    (schema.build(), Fields { id, words })
}

fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::None,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    }
}

impl Cache {
    /// A cache that is gone when it is dropped.
    pub(super) fn in_memory() -> Result<Self, KeywordError> {
        let (schema, fields) = schema();
        Ok(Self::over(Index::builder().schema(schema).settings(settings()).create_in_ram()?, fields)?)
    }

    /// The cache in a folder, which belongs to it alone: what is not a good cache of this version is deleted.
    pub(super) fn in_folder(folder: &Path) -> Result<(Self, Recovery), KeywordError> {
        let discarded = match fs::symlink_metadata(folder) {
            Ok(found) if found.is_dir() && fs::read_dir(folder)?.next().is_none() => None,
            Ok(found) if found.is_dir() => match Self::existing(folder) {
                Ok((cache, position)) => return Ok((cache, Recovery { position, discarded: None })),
                Err(reason) => Some(reason),
            },
            Ok(_) => Some("it is not a folder".to_owned()),
            Err(_) => None,
        };
        if discarded.is_some() {
            discard(folder)?;
        }
        super::directory::make_private_folder(folder)?;
        let (schema, fields) = schema();
        let cache =
            Self::over(Index::builder().schema(schema).settings(settings()).open_or_create(Unsynced::open(folder)?)?, fields)?;
        Ok((cache, Recovery { position: 0, discarded }))
    }

    /// Opens what is there, or says why it cannot be trusted.
    fn existing(folder: &Path) -> Result<(Self, u64), String> {
        // Tantivy believes its files and may panic over bytes it never wrote. Here that is an answer, not an accident.
        catch_unwind(AssertUnwindSafe(|| Self::checked(folder))).unwrap_or_else(|_| Err("its files are damaged".to_owned()))
    }

    fn checked(folder: &Path) -> Result<(Self, u64), String> {
        let say = |error: TantivyError| error.to_string();
        let (schema, fields) = schema();
        let index = Index::open(Unsynced::open(folder).map_err(say)?).map_err(say)?;
        if index.schema() != schema {
            return Err("it has another schema".to_owned());
        }
        let metas = index.load_metas().map_err(say)?;
        let position = match &metas.payload {
            Some(payload) => position_in(payload).ok_or_else(|| format!("it is of another version: `{payload}`"))?,
            None if metas.segments.is_empty() => 0,
            None => return Err("it does not say what it holds".to_owned()),
        };
        if !index.validate_checksum().map_err(say)?.is_empty() {
            return Err("its files are damaged".to_owned());
        }
        Ok((Self::over(index, fields).map_err(say)?, position))
    }

    fn over(index: Index, fields: Fields) -> Result<Self, TantivyError> {
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).doc_store_cache_num_blocks(0).try_into()?;
        Ok(Self { index, reader, fields })
    }

    /// What is committed, as of the last [`Cache::commit`].
    pub(super) fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    /// Commits a tail. The writer, its thread and its memory last as long as this call.
    pub(super) fn commit(&self, tail: &Tail) -> Result<(), TantivyError> {
        let options =
            IndexWriterOptions::builder().memory_budget_per_thread(WRITER_BYTES).num_worker_threads(1).num_merge_threads(1);
        let mut writer: IndexWriter = self.index.writer_with_options(options.build())?;
        let mut merging = LogMergePolicy::default();
        merging.set_min_num_segments(MERGED_SEGMENTS);
        merging.set_del_docs_ratio_before_merge(DELETED_SHARE_MAX);
        writer.set_merge_policy(Box::new(merging));
        let holds_something = self.searcher().num_docs() > 0;
        tail.for_each_write(|id, words| {
            if holds_something {
                writer.delete_term(Term::from_field_u64(self.fields.id, id));
            }
            if let Some(words) = words {
                let mut document = TantivyDocument::default();
                document.add_u64(self.fields.id, id);
                document.add_text(self.fields.words, words);
                writer.add_document(document)?;
            }
            Ok::<_, TantivyError>(())
        })?;
        let mut commit = writer.prepare_commit()?;
        commit.set_payload(&payload(tail.position()));
        commit.commit()?;
        writer.wait_merging_threads()?;
        self.reader.reload()
    }
}

fn payload(position: u64) -> String {
    format!("keyword {VERSION} {position}")
}

fn position_in(payload: &str) -> Option<u64> {
    payload.strip_prefix(&format!("keyword {VERSION} "))?.parse().ok()
}

fn discard(folder: &Path) -> Result<(), std::io::Error> {
    if fs::symlink_metadata(folder)?.is_dir() { fs::remove_dir_all(folder) } else { fs::remove_file(folder) }
}
