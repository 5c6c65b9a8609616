//! The knowledge graph: facts that agents state, as triplets of a source, a relationship and a target.
//!
//! Nothing is deleted. A triplet has four times (when it was learned, when something newer took its place, from when and until when
//! it is true), and a read as of some time sees what was known and true then. An entity is one however its name is written, and has
//! aliases; merging two keeps both rows and can be undone. A weight, one half at first, moves when agents judge a triplet; it bends
//! the order and hides nothing.
//!
//! | room | holds |
//! |---|---|
//! | `model` | entities and triplets, as they are stated and as they are kept |
//! | `name` | when two names are one |
//! | `resolve`, `ingest` | taking facts in |
//! | `rules` | facts that a note states in plain words |
//! | `query`, `rank` | facts that answer a question |
//! | `walk` | neighbours and paths |
//! | `improve` | what facts learn from being judged |
//! | `manage`, `retract`, `suggest` | what people do with it |
//! | `read` | from numbers to triplets |

mod improve;
mod ingest;
mod manage;
mod model;
mod name;
mod query;
mod rank;
mod read;
mod resolve;
mod retract;
pub(crate) mod rules;
mod sql;
mod suggest;
mod walk;

use base::{Clock, ProjectId};
use store::OrgStore;

pub use improve::{Improved, ImprovedEntity, ImprovedTriplet, Judgement, TripletRef};
pub use ingest::Ingested;
pub(crate) use ingest::ingest_in;
pub use manage::{EntityDetail, GraphStats, ListedEntity, Mention, Merged, TripletDetail, TripletFilter};
pub use model::{Entity, NewEntity, NewTriplet, Provenance, Triplet};
pub use query::{GraphHit, GraphHits, GraphQuery};
pub use rank::GraphRanking;
pub use retract::{RetractFilter, Retracted};
pub use suggest::Suggestion;
pub use walk::{Neighbours, NeighboursQuery, Path, PathQuery, Towards};

pub(crate) use retract::retract_of_observation;
pub(crate) use sql::{ENTITIES_CHANGED, TRIPLETS_CHANGED, WORDED};

/// The knowledge graph of one project.
#[derive(Clone)]
pub struct KnowledgeGraph {
    rows: OrgStore,
    project: ProjectId,
    clock: Clock,
}

impl KnowledgeGraph {
    /// The graph among an org's rows.
    pub fn new(rows: OrgStore, project: ProjectId, clock: Clock) -> Self {
        Self { rows, project, clock }
    }
}
