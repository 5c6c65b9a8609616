//! The forward pass of all-MiniLM-L6-v2, on one thread.
//!
//! The vectors of a text's word pieces pass through six layers. In each layer every piece attends to all others and is then
//! transformed on its own. The mean of the pieces is the text's vector. Weights are bytes and are read in place. Scratch memory
//! is reused for the next text.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use base::{Error, Result};
use simd::{Activations, Attention};

use super::weights::{self, Layer, Weights};
use super::{Embedder, Embedding, pause, wordpiece};

/// The name of the model with the number of our quantisation, which changes with every change of the vectors.
const MODEL: &str = "all-MiniLM-L6-v2/q8-1";

/// The number of pieces that pass through the wide inner part of a layer at once, so that their data stays in the L2 cache.
const BLOCK: usize = 48;

/// The number of scratch buffers to keep for later texts. Each takes 2 MB after a long text.
const SCRATCH_KEPT: usize = 4;

/// The bundled embedder.
pub struct MiniLm {
    weights: &'static Weights<'static>,
    scratch: Mutex<Vec<Scratch>>,
}

impl MiniLm {
    /// The embedder with the bundled weights. This takes microseconds, because nothing is read before a text needs it.
    pub fn bundled() -> Result<Self> {
        let weights = weights::bundled().ok_or_else(|| Error::internal("the bundled embedding model is not readable"))?;
        Ok(Self { weights, scratch: Mutex::default() })
    }

    /// Whether the bundled weights are intact. This reads all 23 MB of them.
    pub fn is_intact() -> bool {
        weights::is_intact()
    }

    /// The vector of a text. Only its first 256 word pieces count.
    pub fn vector(&self, text: &str) -> Embedding {
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        wordpiece::cut(&self.weights.vocabulary, text, &mut scratch.pieces);
        let embedding = scratch.run(self.weights);
        let mut kept = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < SCRATCH_KEPT {
            kept.push(scratch);
        }
        embedding
    }

    /// The number of word pieces of a text that the model reads, including the two that frame it. The cost of a vector grows
    /// with it.
    pub fn pieces(&self, text: &str) -> usize {
        let mut pieces = Vec::new();
        wordpiece::cut(&self.weights.vocabulary, text, &mut pieces);
        pieces.len()
    }
}

impl Embedder for MiniLm {
    fn model(&self) -> &str {
        MODEL
    }

    fn dimension(&self) -> usize {
        self.weights.width
    }

    // The model was trained without prefixes: a query is embedded like a text.
    fn embed_query(&self, query: &str) -> Result<Embedding> {
        Ok(self.vector(query))
    }

    fn embed_texts(&self, texts: &[&str]) -> Result<Vec<Option<Embedding>>> {
        Ok(texts.iter().map(|text| Some(self.vector(text))).collect())
    }
}

impl fmt::Debug for MiniLm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MiniLm").field("model", &MODEL).finish_non_exhaustive()
    }
}

/// The scratch memory for a text. Each field is filled before it is read, so earlier content does not matter.
#[derive(Default)]
struct Scratch {
    pieces: Vec<u16>,
    /// One row per piece: the state between layers.
    state: Vec<f32>,
    activations: Activations,
    attention: Attention,
    /// Queries, keys and values of each row.
    looks: Vec<f32>,
    seen: Vec<f32>,
    inner: Vec<f32>,
    change: Vec<f32>,
}

impl Scratch {
    fn run(&mut self, weights: &Weights<'_>) -> Embedding {
        self.look_up(weights);
        for layer in &weights.layers {
            pause::between_layers();
            self.look_around(layer, weights.width);
            self.transform(layer, weights.width);
        }
        let mut sum = vec![0.0; weights.width];
        for row in self.state.chunks_exact(weights.width) {
            sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        // The sum has the direction of the mean, and only the direction matters.
        Embedding::new(sum)
    }

    /// The vectors of the pieces plus the vectors of their positions.
    fn look_up(&mut self, weights: &Weights<'_>) {
        let width = weights.width;
        self.state.clear();
        for (piece, position) in self.pieces.iter().zip(weights.positions.chunks_exact(width)) {
            let word = weights.words.chunks_exact(width).nth(usize::from(*piece)).unwrap_or_default();
            let scale = weights.word_scales.get(usize::from(*piece)).copied().unwrap_or_default();
            self.state.extend(word.iter().zip(position).map(|(value, position)| f32::from(*value) * scale + position));
        }
        simd::normalise(&mut self.state, weights.norm.weights, weights.norm.biases);
    }

    /// Every piece attends to all others.
    fn look_around(&mut self, layer: &Layer<'_>, width: usize) {
        self.activations.quantise(&self.state, width);
        layer.looks.multiply(&self.activations, &mut self.looks);
        self.attention.look(&self.looks, width, &mut self.seen);
        self.activations.quantise(&self.seen, width);
        layer.seen.multiply(&self.activations, &mut self.change);
        simd::add_and_normalise(&mut self.state, &self.change, layer.seen_norm.weights, layer.seen_norm.biases);
    }

    /// Every piece is transformed on its own.
    fn transform(&mut self, layer: &Layer<'_>, width: usize) {
        for block in self.state.chunks_mut(BLOCK * width) {
            self.activations.quantise(block, width);
            layer.inner.multiply(&self.activations, &mut self.inner);
            simd::gelu(&mut self.inner);
            self.activations.quantise(&self.inner, layer.inner.outputs());
            layer.outer.multiply(&self.activations, &mut self.change);
            simd::add_and_normalise(block, &self.change, layer.outer_norm.weights, layer.outer_norm.biases);
        }
    }
}

#[cfg(test)]
mod tests;
