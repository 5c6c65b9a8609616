//! Finds facts that answer a question: keywords and meaning find entry points, and the search walks on from there.

use std::sync::Arc;

use base::{Result, Timestamp};
use store::OrgStore;

use super::KnowledgeGraph;
use super::model::Triplet;
use super::rank::{GraphRanking, Ordered, Question};
use crate::embedding::{Coverage, TextKind};
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
    /// How much of the graph is embedded.
    pub coverage: Coverage,
}

impl<R: AsRef<OrgStore>> KnowledgeGraph<R> {
    /// Finds the triplets that answer a question.
    pub async fn query(&self, indexes: &Indexes, asked: GraphQuery) -> Result<GraphHits> {
        let (facts, at) = self.as_of(indexes, asked.as_of).await?;
        if Arc::clone(&facts).ask(self.rows().org(), |facts| facts.graph.edge_count()).await? == 0 {
            return Ok(GraphHits { hits: Vec::new(), truncated: false, coverage: Coverage::default() });
        }
        let texts = indexes.graph_texts(self.rows(), &self.project).await?;
        let vectors = texts.texts.vectors();
        let vector = indexes.query_vector(self.rows().org(), &asked.query, Mode::Fused).await?;
        let walked = Arc::clone(&facts);
        let work = move || -> Result<(Ordered, bool)> {
            let facts = walked.read();
            let is_there = |number: u64| match facts.edge(number.cast_signed()).and_then(|edge| facts.graph.edge(edge)) {
                Some(edge) => edge.payload.stands_at(at),
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
            let question = Question { facts: &facts, ranking: &asked.ranking, depth: asked.depth, at, cosine_of: &cosine_of };
            let mut ordered = question.order(&found);
            ordered.triplets.truncate(asked.top_k);
            Ok((ordered, vector.is_none()))
        };
        let (ordered, words_only) = store::compute(self.rows().org(), work).await??;
        let coverage = indexes.coverage(self.rows(), &self.project, TextKind::Graph, vectors, words_only).await?;
        let numbers: Vec<i64> = ordered.triplets.iter().map(|(number, _)| *number).collect();
        let triplets = self.triplets(&facts, &numbers, at).await?;
        let hits = triplets.into_iter().zip(ordered.triplets).map(|(triplet, (_, score))| GraphHit { triplet, score });
        Ok(GraphHits { hits: hits.collect(), truncated: ordered.truncated, coverage })
    }
}
