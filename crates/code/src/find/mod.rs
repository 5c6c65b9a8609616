//! Search over the passages of one project: words, exact names, meaning, the graph around, imports and recency.
//!
//! The index hands over the passages of files ([`PassageSink`]). Words are found at once. Vectors are made in the background, and an
//! answer never waits for them: [`FindCoverage`] says how many are missing. Everything here is a cache that can be deleted and built again
//! from the files. It never holds the text of a file, except while a passage waits for its vector.
//!
//! | module | purpose |
//! |---|---|
//! | `passage`, `cut` | what the index hands over, and how a file becomes that |
//! | `finder`, `known` | the indexes of a project, and what of them survives a restart |
//! | `catalogue`, `identifier` | lines and symbols of passages, and names in queries |
//! | `queue`, `embed`, `vectors`, `pack` | from passages to vectors, and the vectors of the org on disk |
//! | `query`, `rank`, `group` | from a question to hits |
//! | `semantic` | search by meaning alone, similar files |
//! | `calibration` | from cosines to similarities |
//! | `evaluation` | measures the ranking on questions with known answers |

mod calibration;
mod catalogue;
mod cut;
mod embed;
pub mod evaluation;
mod finder;
mod group;
mod identifier;
mod known;
mod pack;
mod passage;
mod query;
mod queue;
mod rank;
mod semantic;
#[cfg(test)]
mod tests;
mod vectors;

pub(crate) use cut::passages;
pub(crate) use finder::{Finder, FinderConfig};
pub(crate) use pack::VectorPack;
pub(crate) use passage::{Passage, PassageSink};
pub(crate) use query::{CodeHit, FindOptions};
pub(crate) use rank::{CodeWeights, SearchTypes, Surroundings};
pub(crate) use semantic::SimilarFile;
