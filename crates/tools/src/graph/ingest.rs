//! `graph_ingest`

use std::borrow::Cow;

use base::limits::{
    ENTITY_ALIASES_MAX, ENTITY_NAME_CHARS_MAX, RELATIONSHIP_WRITTEN_CHARS_MAX, TRIPLET_DESCRIPTION_CHARS_MAX,
    TRIPLETS_PER_CALL_MAX,
};
use base::{Result, Scope, TripletId};
use guard::{Capability, Effect, Spec};
use knowledge::{NewEntity, NewTriplet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::time;
use crate::refusals::refused;
use crate::reply::Answer;
use crate::tool::{Call, Tool};

pub(crate) struct Ingest;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The facts. Either all of them are stored or none.
    #[schemars(length(min = 1, max = TRIPLETS_PER_CALL_MAX))]
    triplets: Vec<Stated>,
}

/// A fact.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Stated {
    /// The subject of the fact.
    source: Named,
    /// How the two are related, such as `depends_on`, `owned_by`, `replaced_by` or `fixes`.
    #[schemars(length(min = 1, max = RELATIONSHIP_WRITTEN_CHARS_MAX))]
    relationship: String,
    /// The object of the fact.
    target: Named,
    /// The fact as a sentence, in words that a question might use.
    #[schemars(length(max = TRIPLET_DESCRIPTION_CHARS_MAX))]
    description: Option<String>,
    /// The source has only one such target at a time, so this fact supersedes an older one.
    #[serde(default)]
    functional: bool,
    /// When it became true, in RFC 3339.
    valid_from: Option<String>,
    /// When it stopped being true, in RFC 3339.
    valid_to: Option<String>,
}

/// An entity.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    /// The name. Case, spaces, dashes and camel case make no difference.
    #[schemars(length(min = 1, max = ENTITY_NAME_CHARS_MAX))]
    name: String,
    /// The kind of entity, such as `service`, `file`, `person` or `ticket`.
    #[schemars(length(max = ENTITY_NAME_CHARS_MAX))]
    r#type: Option<String>,
    /// Other names. An existing entity with one of these names is merged with this one.
    #[serde(default)]
    #[schemars(length(max = ENTITY_ALIASES_MAX), inner(length(min = 1, max = ENTITY_NAME_CHARS_MAX)))]
    aliases: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    entities_created: u32,
    triplets_created: u32,
    /// Facts that were already known.
    triplets_existing: u32,
    /// Older facts that were superseded.
    superseded: u32,
    /// The id of the fact for each triplet, in the order given.
    #[schemars(with = "Vec<String>")]
    triplet_ids: Vec<TripletId>,
}

impl Tool for Ingest {
    const SPEC: Spec = Spec {
        name: Cow::Borrowed("graph_ingest"),
        aliases: Vec::new(),
        title: Cow::Borrowed("State facts"),
        description: Cow::Borrowed(
            "Adds facts about this project to the knowledge graph, as triplets of source, relationship and target: what \
                      depends on what, who owns it, what replaced it. A known fact is not stored twice, and nothing is deleted.",
        ),
        scope: Scope::GraphWrite,
        needs: Capability::Graph,
        effect: Effect::Additive,
        idempotent: true,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: Call<'_>, input: Input) -> Result<Answer<Output>> {
        let (graph, author) = call.graph()?;
        let stated: Result<Vec<NewTriplet>> =
            input.triplets.into_iter().enumerate().map(|(place, stated)| stated.read(&format!("triplets[{place}]"))).collect();
        let ingested = graph.ingest(&author, stated?).await.map_err(refused)?;
        call.services.indexes.pending.tell(call.permit.principal().org, call.project()?);
        let text = format!(
            "{} new fact(s), {} known already, {} superseded; {} new entities.",
            ingested.triplets_created, ingested.triplets_existing, ingested.superseded, ingested.entities_created
        );
        let output = Output {
            entities_created: ingested.entities_created,
            triplets_created: ingested.triplets_created,
            triplets_existing: ingested.triplets_existing,
            superseded: ingested.superseded,
            triplet_ids: ingested.ids,
        };
        let ids: Vec<&str> = output.triplet_ids.iter().map(TripletId::as_str).collect();
        let rows = format!("tripletIds: {}", ids.join(", "));
        Ok(Answer::new(text, output).with_rows(rows))
    }
}

impl Stated {
    fn read(self, place: &str) -> Result<NewTriplet> {
        let entity = |named: Named| NewEntity { name: named.name, kind: named.r#type, aliases: named.aliases };
        Ok(NewTriplet {
            source: entity(self.source),
            relationship: self.relationship,
            target: entity(self.target),
            description: self.description,
            functional: self.functional,
            valid_from: time(&format!("{place}.validFrom"), self.valid_from.as_deref())?,
            valid_to: time(&format!("{place}.validTo"), self.valid_to.as_deref())?,
        })
    }
}
