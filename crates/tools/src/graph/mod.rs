//! The knowledge graph: facts about the project that agents state, query and rate.

mod improve;
mod ingest;
mod neighbors;
mod path;
mod query;

pub(crate) use improve::Improve;
pub(crate) use ingest::Ingest;
pub(crate) use neighbors::Neighbors;
pub(crate) use path::Path;
pub(crate) use query::Query;

use std::fmt::Display;

use base::{Error, ObservationId, Result, Timestamp, TripletId};
use guard::Capability;
use knowledge::{Author, KnowledgeGraph, NUMBER, rounded};
use schemars::JsonSchema;
use serde::Serialize;

use crate::rows::one_line;
use crate::tool::Call;

impl Call<'_> {
    /// The graph of the caller's project, and the author to record for changes.
    pub(crate) fn graph(&self) -> Result<(KnowledgeGraph<guard::Change>, Author)> {
        let graph = KnowledgeGraph::new(self.permit.change().clone(), self.project()?, self.services.clock.clone());
        Ok((graph, Author::of(self.permit.principal())))
    }

    /// Whether the caller's project has a graph.
    pub(crate) fn has_graph(&self) -> bool {
        Capability::Graph.held_by(self.permit.principal())
    }
}

/// A fact.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Triplet {
    #[schemars(with = "String")]
    id: TripletId,
    source_entity: String,
    relationship: String,
    target_entity: String,
    /// How well it answers the query, from 0 to 1. Only in answers to a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    relevance_score: Option<f64>,
    /// How useful it was so far, from 0 to 1.
    weight: f64,
    /// The fact as a sentence.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(default)]
    description: String,
    provenance: Provenance,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    valid_from: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    valid_to: Option<Timestamp>,
    /// When a newer fact superseded it, or will.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    superseded_at: Option<Timestamp>,
    /// Facts with the same source and relationship but another target. None of them was stated as functional.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, with = "Vec<String>")]
    conflicts_with: Vec<TripletId>,
}

/// Where a fact comes from.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Provenance {
    /// The observation that stated it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    observation_id: Option<ObservationId>,
    session_id: String,
    /// Who stated it first: an agent's id, `label:` and the launcher's label, or a session's id.
    agent_id: String,
    /// ISO 8601.
    #[schemars(with = "String")]
    timestamp: Timestamp,
}

impl Triplet {
    /// A fact that a query found, with its score.
    pub(crate) fn scored(hit: knowledge::GraphHit) -> Self {
        Self { relevance_score: Some(rounded(hit.score)), ..Self::from(hit.triplet) }
    }
}

impl From<knowledge::Triplet> for Triplet {
    fn from(found: knowledge::Triplet) -> Self {
        Self {
            id: found.id,
            source_entity: found.source.name,
            relationship: found.relationship,
            target_entity: found.target.name,
            relevance_score: None,
            weight: rounded(found.weight),
            description: found.description,
            provenance: Provenance {
                observation_id: found.provenance.observation,
                session_id: found.provenance.session,
                agent_id: found.provenance.agent,
                timestamp: found.provenance.at,
            },
            valid_from: found.valid_from,
            valid_to: found.valid_to,
            superseded_at: found.superseded_at,
            conflicts_with: found.conflicts_with,
        }
    }
}

/// Parses a time argument.
pub(crate) fn time(parameter: &str, text: Option<&str>) -> Result<Option<Timestamp>> {
    let read = |text| {
        let message = format!("`{parameter}` is not a time; use a form like 2026-11-16T12:00:00Z");
        Timestamp::parse_rfc3339(text).ok_or_else(|| Error::invalid(parameter, message))
    };
    text.map(read).transpose()
}

/// Facts as text for a model, one per line. Each is quoted, because agents wrote it, and its fields follow in brackets.
pub(crate) fn read_aloud(triplets: &[Triplet]) -> String {
    triplets.iter().map(Triplet::read_aloud).collect::<Vec<_>>().join("\n")
}

impl Triplet {
    fn read_aloud(&self) -> String {
        self.line(&self.weight, self.relevance_score.as_ref().map(|score| score as &dyn Display))
    }

    /// The line of a fact that recall found, whatever its numbers were.
    pub(crate) fn template(&self) -> String {
        self.line(&NUMBER, Some(&NUMBER))
    }

    /// The names, ids and times of the fact.
    pub(crate) fn values(&self) -> Vec<String> {
        let Provenance { observation_id, session_id, agent_id, timestamp } = &self.provenance;
        let names = [&self.source_entity, &self.relationship, &self.target_entity, &self.description, session_id, agent_id];
        let times = [self.valid_from, self.valid_to, self.superseded_at, Some(*timestamp)];
        let ids = observation_id.iter().map(ToString::to_string).chain(self.conflicts_with.iter().map(ToString::to_string));
        let times = times.into_iter().flatten().map(|time| time.to_string());
        names.into_iter().cloned().chain([self.id.to_string()]).chain(ids).chain(times).collect()
    }

    /// The observation that stated the fact.
    pub(crate) fn observation(&self) -> Option<ObservationId> {
        self.provenance.observation_id
    }

    fn line(&self, weight: &dyn Display, relevance: Option<&dyn Display>) -> String {
        let spoken = self.relationship.replace('_', " ");
        let mut line = format!("> {} {spoken} {}", one_line(&self.source_entity), one_line(&self.target_entity));
        if !self.description.is_empty() {
            line.push_str(&format!(". {}", one_line(&self.description)));
        }
        let Provenance { observation_id, session_id, agent_id, timestamp } = &self.provenance;
        line.push_str(&format!(" [{}, {}, weight {weight}", self.id, self.relationship));
        let mut also = |words: &str, value: Option<&dyn Display>| {
            if let Some(value) = value {
                line.push_str(&format!(", {words} {value}"));
            }
        };
        also("relevance", relevance);
        also("by", Some(&format_args!("{} on {timestamp}", one_line(agent_id))));
        also("in", Some(session_id).filter(|session| *session != agent_id).map(|session| session as &dyn Display));
        also("from", observation_id.as_ref().map(|id| id as &dyn Display));
        also("valid from", self.valid_from.as_ref().map(|time| time as &dyn Display));
        also("valid to", self.valid_to.as_ref().map(|time| time as &dyn Display));
        also("superseded at", self.superseded_at.as_ref().map(|time| time as &dyn Display));
        let conflicts = self.conflicts_with.iter().map(TripletId::as_str).collect::<Vec<_>>().join(" and ");
        also("conflicts with", (!conflicts.is_empty()).then_some(&conflicts as &dyn Display));
        line.push(']');
        line
    }
}
