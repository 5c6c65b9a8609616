//! The committed part: a tantivy index in a folder or in memory.
//!
//! The content of the folder is verified before use, including checksums. If it fails, it is deleted: the rows are elsewhere,
//! and a replay restores them.

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

/// The version of the folder's content. Increase it with every change to how text becomes terms.
const VERSION: u32 = 1;
/// The name of the id column.
pub(super) const ID: &str = "id";
/// The minimum heap that tantivy accepts for its one indexing thread.
const WRITER_BYTES: usize = 15_000_000;
/// The number of segments of similar size that are merged. It is small, because every query searches each segment.
const MERGED_SEGMENTS: usize = 4;
/// The share of deleted documents at which a segment is rewritten.
const DELETED_SHARE_MAX: f32 = 0.2;

/// The result of [`super::KeywordIndex::open`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The position of the last committed write. Later rows must be replayed. Zero means all rows.
    pub position: u64,
    /// Why an earlier cache was deleted, if one was.
    pub discarded: Option<String>,
}

pub(super) struct Cache {
    index: Index,
    reader: IndexReader,
    pub(super) fields: Fields,
}

#[derive(Clone, Copy)]
pub(super) struct Fields {
    pub(super) id: Field,
    pub(super) words: Field,
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let id = schema.add_u64_field(ID, INDEXED | FAST);
    // The words are already split, folded and stemmed, and separated by spaces. Positions are not needed and would double the
    // index.
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
    /// A cache that lives until it is dropped.
    pub(super) fn in_memory() -> Result<Self, KeywordError> {
        let (schema, fields) = schema();
        Ok(Self::over(Index::builder().schema(schema).settings(settings()).create_in_ram()?, fields)?)
    }

    /// The cache in a dedicated folder. Anything but a valid cache of this version is deleted.
    pub(super) fn in_folder(folder: &Path) -> Result<(Self, Recovery), KeywordError> {
        let discarded = match fs::symlink_metadata(folder) {
            Ok(found) if found.is_dir() && fs::read_dir(folder)?.next().is_none() => None,
            Ok(found) if found.is_dir() => match Self::existing(folder) {
                Ok((cache, position)) => return Ok((cache, Recovery { position, discarded: None })),
                Err(reason) => Some(reason),
            },
            Ok(_) => Some("it is not a directory".to_owned()),
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

    /// Opens the existing cache, or says why it cannot be trusted.
    fn existing(folder: &Path) -> Result<(Self, u64), String> {
        // Tantivy trusts its files and may panic on bytes that it never wrote. Here a panic means damage.
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
            None => return Err("its content is not described".to_owned()),
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

    /// The content as of the last [`Cache::commit`].
    pub(super) fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    /// Commits a tail. The writer, its thread and its memory exist only during this call.
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
