//! Finds facts that answer a question: keywords and meaning find entry points, and the search walks on from there.

use std::collections::HashMap;

use base::{Result, Timestamp};
use store::OrgStore;

use super::KnowledgeGraph;
use super::model::Triplet;
use super::rank::{GraphRanking, Question};
use super::read::{Placed, placed};
use crate::embedding::TextKind;
use crate::index::{Indexes, Wanted};
use crate::memory::Mode;

/// A query.
#[derive(Clone, Debug)]
pub struct GraphQuery {
    /// The question in plain words.
    pub query: String,
    /// The maximum number of triplets.
    pub top_k: usize,
    /// How many hops to walk from the entry points.
    pub depth: u32,
    /// As known at this time.
    pub as_of: Option<Timestamp>,
    /// The weights of the ranking.
    pub ranking: GraphRanking,
}

/// A triplet that matches.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphHit {
    /// The triplet.
    pub triplet: Triplet,
    /// How well it answers, from 0 to 1.
    pub score: f32,
}

/// The result of a query.
#[derive(Clone, Debug)]
pub struct GraphHits {
    /// Best first.
    pub hits: Vec<GraphHit>,
    /// Whether the walk skipped some facts of an entity with many.
    pub truncated: bool,
    /// Whether the query got no vector, so that only keywords were searched.
    pub words_only: bool,
    /// If nothing was found, the number of texts that wait for a vector.
    pub waiting: u64,
}

impl<R: AsRef<OrgStore>> KnowledgeGraph<R> {
    /// Finds the triplets that answer a question.
    pub async fn query(&self, indexes: &Indexes, asked: GraphQuery) -> Result<GraphHits> {
        let (facts, at) = self.as_of(indexes, asked.as_of).await?;
        if facts.is_empty() {
            return Ok(GraphHits { hits: Vec::new(), truncated: false, words_only: false, waiting: 0 });
        }
        let texts = indexes.graph_texts(self.rows(), &self.project).await?;
        let vector = indexes.query_vector(self.rows().org(), &asked.query, Mode::Fused).await?;
        let words_only = vector.is_none();
        let work = move || -> Result<(Vec<Placed>, Vec<f32>, bool)> {
            let facts = facts.read();
            let is_there = |number: u64| match facts.edge(number.cast_signed()).and_then(|edge| facts.graph.edge(edge)) {
                Some(edge) => facts.stands(edge.payload, at),
                None => facts.is_entity(number.cast_signed()),
            };
            let wanted = Wanted {
                query: &asked.query,
                vector: vector.as_ref(),
                mode: Mode::Fused,
                weights: &asked.ranking.weights,
                filter: Some(&is_there),
            };
            let found = texts.texts.find(&wanted)?;
            let cosine_of = |number: i64| vector.as_ref().and_then(|vector| texts.texts.cosine(number.cast_unsigned(), vector));
            let (ranking, depth, top_k) = (&asked.ranking, asked.depth, asked.top_k);
            let question = Question { facts: &facts, ranking, depth, top_k, at, cosine_of: &cosine_of };
            let mut ordered = question.order(&found);
            ordered.triplets.truncate(asked.top_k);
            let (numbers, scores): (Vec<i64>, Vec<f32>) = ordered.triplets.into_iter().unzip();
            Ok((placed(&facts, numbers, at), scores, ordered.truncated))
        };
        let (placed, scores, truncated) = store::compute(self.rows().org(), work).await??;
        let scores: HashMap<i64, f32> = placed.iter().map(|placed| placed.number).zip(scores).collect();
        let score = |triplet: &Triplet| scores.get(&triplet.number).copied().unwrap_or_default();
        let triplets = self.loaded(placed).await?;
        let hits: Vec<GraphHit> = triplets.into_iter().map(|triplet| GraphHit { score: score(&triplet), triplet }).collect();
        // Counting takes long while very many texts wait, and nobody needs the number if something was found.
        let waiting = if hits.is_empty() { indexes.waiting_of(self.rows(), &self.project, TextKind::Graph).await? } else { 0 };
        Ok(GraphHits { hits, truncated, words_only, waiting })
    }
}
