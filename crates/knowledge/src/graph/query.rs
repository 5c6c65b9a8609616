//! Facts that answer a question: words and meaning find where it enters the graph, and what lies around is walked.

use std::sync::Arc;

use base::{Result, Timestamp};
use search::fusion::Fused;

use super::KnowledgeGraph;
use super::model::Triplet;
use super::rank::{GraphRanking, Ordered, Question};
use crate::embedding::{Coverage, TextKind};
use crate::index::{Indexes, Wanted};
use crate::memory::Mode;

/// What is asked.
#[derive(Clone, Debug)]
pub struct GraphQuery {
    /// In plain words.
    pub query: String,
    /// How many triplets at most.
    pub top_k: usize,
    /// How many hops are walked from where the question enters.
    pub depth: u32,
    /// As it was known at this time.
    pub as_of: Option<Timestamp>,
    /// What counts.
    pub ranking: GraphRanking,
}

/// A triplet that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphHit {
    /// The triplet.
    pub triplet: Triplet,
    /// How well it answers, from 0 to 1.
    pub score: f32,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct GraphHits {
    /// Best first.
    pub hits: Vec<GraphHit>,
    /// Whether a hub was not walked in all directions.
    pub truncated: bool,
    /// How much of the graph is known by meaning.
    pub coverage: Coverage,
}

impl KnowledgeGraph {
    /// Finds the triplets that answer a question.
    pub async fn query(&self, indexes: &Indexes, asked: GraphQuery) -> Result<GraphHits> {
        let (facts, at) = self.as_of(indexes, asked.as_of).await?;
        if Arc::clone(&facts).ask(|facts| facts.graph.edge_count()).await? == 0 {
            return Ok(GraphHits { hits: Vec::new(), truncated: false, coverage: Coverage::default() });
        }
        let texts = indexes.graph_texts(&self.rows, &self.project).await?;
        let vectors = texts.texts.vectors();
        let vector = indexes.query_vector(&asked.query, Mode::Fused).await?;
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
            let hits: Vec<Fused> = texts.texts.find(&wanted)?;
            let cosine_of = |number: i64| vector.as_ref().and_then(|vector| texts.texts.cosine(number.cast_unsigned(), vector));
            let question = Question { facts: &facts, ranking: &asked.ranking, depth: asked.depth, at, cosine_of: &cosine_of };
            let mut ordered = question.order(&hits);
            ordered.triplets.truncate(asked.top_k);
            Ok((ordered, vector.is_none()))
        };
        let (ordered, words_only) = store::compute(work).await??;
        let coverage = indexes.coverage(&self.rows, &self.project, TextKind::Graph, vectors, words_only).await?;
        let numbers: Vec<i64> = ordered.triplets.iter().map(|(number, _)| *number).collect();
        let triplets = self.triplets(&facts, &numbers, at).await?;
        let hits = triplets.into_iter().zip(ordered.triplets).map(|(triplet, (_, score))| GraphHit { triplet, score });
        Ok(GraphHits { hits: hits.collect(), truncated: ordered.truncated, coverage })
    }
}
