//! Texts as vectors: texts that mean alike get vectors that point alike.
//!
//! The bundled embedder is all-MiniLM-L6-v2, quantised by us and compiled into the binary: no download, no other process, the
//! same bits on every machine. It reads the first 256 word pieces of a text. Nothing here does I/O or keeps a text.
//!
//! | room | holds |
//! |---|---|
//! | `embedder` | what any embedder can do, and what a vector is |
//! | `cache` | vectors of texts that come again |
//! | `minilm` | the forward pass |
//! | `weights` | the weights file, read where it lies |
//! | `wordpiece`, `characters`, `vocabulary` | from text to word pieces |

mod cache;
mod characters;
mod embedder;
mod minilm;
mod vocabulary;
mod weights;
mod wordpiece;

pub use cache::Cached;
pub use embedder::{Embedder, Embedding};
pub use minilm::MiniLm;
#[cfg(any(test, feature = "rebuild"))]
pub(crate) use {vocabulary::PIECE_CHARACTERS_MAX, vocabulary::slots, weights::Dimensions, weights::PAGE};
