//! Embeddings: texts with a similar meaning get similar vectors.
//!
//! The bundled embedder is all-MiniLM-L6-v2, quantised by us and compiled into the binary: no download, no other process, and
//! the same bits on every machine. It reads the first 256 word pieces of a text. Nothing here does I/O or stores a text.
//!
//! | module | purpose |
//! |---|---|
//! | `embedder` | the interface of embedders, and the type of vectors |
//! | `cache` | a cache for vectors of repeated queries |
//! | `minilm` | the forward pass |
//! | `pause` | background work gives way between layers |
//! | `stored` | the stored form of vectors |
//! | `weights` | the weights file, read in place |
//! | `wordpiece`, `characters`, `vocabulary` | from text to word pieces |

mod cache;
mod characters;
mod embedder;
mod minilm;
mod pause;
mod stored;
mod vocabulary;
mod weights;
mod wordpiece;

pub use cache::Cached;
pub use embedder::{Embedder, Embedding};
pub use minilm::MiniLm;
pub use pause::giving_way;
pub use stored::{from_row, to_row};
#[cfg(any(test, feature = "rebuild"))]
pub(crate) use {vocabulary::PIECE_CHARACTERS_MAX, vocabulary::slots, weights::Dimensions, weights::PAGE};
