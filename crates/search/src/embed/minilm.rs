//! The forward pass of all-MiniLM-L6-v2, on one thread.
//!
//! Vectors of its word pieces go through six layers, in each of which every piece looks at all others and is then transformed by
//! itself; their mean is the text's vector. Weights are bytes and are read in place; what a text needs of memory is kept for
//! the next one.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use base::{Error, Result};
use simd::{Activations, Attention};

use super::weights::{self, Layer, Weights};
use super::{Embedder, Embedding, wordpiece};

/// The name of the model, and the number of our quantisation of it: it changes with every change of the vectors.
const MODEL: &str = "all-MiniLM-L6-v2/q8-1";

/// Pieces that go through the wide inner part of a layer at once, so that their numbers stay in the second-level cache.
const BLOCK: usize = 48;

/// How many texts' worth of scratch space waits for the next text; 2 MB each after a long one.
const SCRATCH_KEPT: usize = 2;

/// The bundled embedder.
pub struct MiniLm {
    weights: &'static Weights<'static>,
    scratch: Mutex<Vec<Scratch>>,
}

impl MiniLm {
    /// The embedder with the bundled weights. Costs microseconds: nothing is read before a text needs it.
    pub fn bundled() -> Result<Self> {
        let weights = weights::bundled().ok_or_else(|| Error::internal("the bundled embedding model is not readable"))?;
        Ok(Self { weights, scratch: Mutex::default() })
    }

    /// Whether the bundled weights are those that were bundled. Reads all 23 MB of them.
    pub fn is_intact() -> bool {
        weights::is_intact()
    }

    /// The vector of a text, of which the first 256 word pieces count.
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

    /// How many word pieces of a text the model reads, with the two that frame it: what its vector costs grows with them.
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

    fn embed(&self, text: &str) -> Result<Embedding> {
        Ok(self.vector(text))
    }
}

impl fmt::Debug for MiniLm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MiniLm").field("model", &MODEL).finish_non_exhaustive()
    }
}

/// What a text needs of memory. Each field is filled before it is read, whatever the text before left there.
#[derive(Default)]
struct Scratch {
    pieces: Vec<u16>,
    /// One row per piece: the state that goes from layer to layer.
    state: Vec<f32>,
    activations: Activations,
    attention: Attention,
    /// What each row looks for, is found by, and tells.
    looks: Vec<f32>,
    seen: Vec<f32>,
    inner: Vec<f32>,
    change: Vec<f32>,
}

impl Scratch {
    fn run(&mut self, weights: &Weights<'_>) -> Embedding {
        self.look_up(weights);
        for layer in &weights.layers {
            self.look_around(layer, weights.width);
            self.transform(layer, weights.width);
        }
        let mut sum = vec![0.0; weights.width];
        for row in self.state.chunks_exact(weights.width) {
            sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        // The mean has the direction of the sum, and the direction is all that is wanted.
        Embedding::new(sum)
    }

    /// The vectors of the pieces, plus those of their positions.
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

    /// Every piece looks at all others.
    fn look_around(&mut self, layer: &Layer<'_>, width: usize) {
        self.activations.quantise(&self.state, width);
        layer.looks.multiply(&self.activations, &mut self.looks);
        self.attention.look(&self.looks, width, &mut self.seen);
        self.activations.quantise(&self.seen, width);
        layer.seen.multiply(&self.activations, &mut self.change);
        simd::add_and_normalise(&mut self.state, &self.change, layer.seen_norm.weights, layer.seen_norm.biases);
    }

    /// Every piece is transformed by itself.
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
