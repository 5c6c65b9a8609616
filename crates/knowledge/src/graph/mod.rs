//! The knowledge graph: facts that agents state, as triplets of a source, a relationship and a target.
//!
//! Nothing is deleted. A triplet has four times: when it was learned, when it was superseded, from when it is true, and until
//! when. A read as of some time sees what was known and true then. An entity is found by every spelling of its name and by its
//! aliases. Merging two entities keeps both rows and can be undone. A weight starts at one half and moves when agents rate a
//! triplet. It affects the order of answers and hides nothing.
//!
//! | module | purpose |
//! |---|---|
//! | `model` | entities and triplets, as stated and as stored |
//! | `name` | which names are the same |
//! | `resolve`, `ahead`, `ingest` | storing facts |
//! | `rules` | facts in the text of an observation |
//! | `query`, `rank` | facts that answer a question |
//! | `walk` | neighbours and paths |
//! | `nearest` | names that an unknown one was meant to be |
//! | `improve` | ratings of facts |
//! | `manage`, `retract`, `suggest` | management by people |
//! | `read` | loads triplets by number |

mod ahead;
mod improve;
mod ingest;
mod manage;
mod model;
mod name;
mod nearest;
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
pub struct KnowledgeGraph<R = OrgStore> {
    rows: R,
    project: ProjectId,
    clock: Clock,
}

impl<R: AsRef<OrgStore>> KnowledgeGraph<R> {
    /// The graph of a project, for reading or, with a [`Change`](store::Change), for changing.
    pub fn new(rows: R, project: ProjectId, clock: Clock) -> Self {
        Self { rows, project, clock }
    }

    fn rows(&self) -> &OrgStore {
        self.rows.as_ref()
    }
}
