//! Writes the weights file section by section, in the order in which `embed::weights` reads it.

use sha2::{Digest, Sha256};

use super::safetensors::Tensors;
use crate::embed::{Dimensions, PAGE, PIECE_CHARACTERS_MAX, slots};

const LAYERS: usize = 6;
const WIDTH: usize = 384;
const INNER: usize = 1_536;
/// The number of positions in the original model.
const POSITIONS_THERE: usize = 512;
/// The number of positions that are kept, because the model reads no more pieces.
const POSITIONS: usize = 256;
/// The number of text types in the original. Our texts are all of the first type.
const TYPES: usize = 2;

/// The weights file for a model in safetensors and its vocabulary with one piece per line.
pub fn quantised(model: &[u8], vocabulary: &str) -> Result<Vec<u8>, String> {
    let model = Tensors::read(model).ok_or("the model is not a file of safetensors")?;
    let pieces: Vec<&str> = vocabulary.lines().collect();
    let mut sections = Sections::default();
    sections.vocabulary(&pieces)?;
    sections.embeddings(&model, pieces.len())?;
    for layer in 0..LAYERS {
        sections.layer(&model, &format!("encoder.layer.{layer}"))?;
    }
    let text = pieces.iter().map(|piece| piece.len()).sum();
    let sizes = Dimensions { layers: LAYERS, width: WIDTH, inner: INNER, pieces: pieces.len(), positions: POSITIONS, text };
    let header = sizes.header(&Sha256::digest(&sections.0)).ok_or("the model is too large")?;
    Ok([header, sections.0].concat())
}

#[derive(Default)]
struct Sections(Vec<u8>);

impl Sections {
    /// Writes one section, padded with zeros up to the next one.
    fn put(&mut self, bytes: impl IntoIterator<Item = u8>) {
        self.0.extend(bytes);
        self.0.resize(self.0.len().next_multiple_of(PAGE), 0);
    }

    fn floats(&mut self, floats: &[f32]) {
        self.put(floats.iter().flat_map(|float| float.to_le_bytes()));
    }

    fn vocabulary(&mut self, pieces: &[&str]) -> Result<(), String> {
        if let Some(piece) = pieces.iter().find(|piece| piece.chars().count() > PIECE_CHARACTERS_MAX) {
            return Err(format!("the vocabulary's piece `{piece}` is too long to be looked up"));
        }
        let slots = slots(pieces).ok_or("the vocabulary is too large")?;
        let mut starts = vec![0];
        let mut end = 0;
        for piece in pieces {
            end += u32::try_from(piece.len()).map_err(|_| "the vocabulary is too large")?;
            starts.push(end);
        }
        self.put(starts.iter().flat_map(|start| start.to_le_bytes()));
        self.put(slots.iter().flat_map(|slot| slot.to_le_bytes()));
        self.put(pieces.iter().flat_map(|piece| piece.bytes()));
        Ok(())
    }

    fn embeddings(&mut self, model: &Tensors<'_>, pieces: usize) -> Result<(), String> {
        let words = Rows::quantised(&model.floats("embeddings.word_embeddings.weight", &[pieces, WIDTH])?, WIDTH);
        self.put(words.weights.iter().map(|weight| weight.cast_unsigned()));
        self.floats(&words.scales);
        let mut positions = model.floats("embeddings.position_embeddings.weight", &[POSITIONS_THERE, WIDTH])?;
        positions.truncate(POSITIONS * WIDTH);
        let types = model.floats("embeddings.token_type_embeddings.weight", &[TYPES, WIDTH])?;
        for row in positions.chunks_exact_mut(WIDTH) {
            row.iter_mut().zip(&types).for_each(|(value, of_type)| *value += of_type);
        }
        self.floats(&positions);
        self.norm(model, "embeddings.LayerNorm")
    }

    fn layer(&mut self, model: &Tensors<'_>, layer: &str) -> Result<(), String> {
        let looks = ["query", "key", "value"].map(|part| format!("{layer}.attention.self.{part}"));
        self.matrix(model, &looks, WIDTH, WIDTH)?;
        self.matrix(model, &[format!("{layer}.attention.output.dense")], WIDTH, WIDTH)?;
        self.norm(model, &format!("{layer}.attention.output.LayerNorm"))?;
        self.matrix(model, &[format!("{layer}.intermediate.dense")], INNER, WIDTH)?;
        self.matrix(model, &[format!("{layer}.output.dense")], WIDTH, INNER)?;
        self.norm(model, &format!("{layer}.output.LayerNorm"))
    }

    /// Matrices of the same shape, stacked.
    fn matrix(&mut self, model: &Tensors<'_>, names: &[String], outputs: usize, columns: usize) -> Result<(), String> {
        let (mut weights, mut biases) = (Vec::new(), Vec::new());
        for name in names {
            weights.extend(model.floats(&format!("{name}.weight"), &[outputs, columns])?);
            biases.extend(model.floats(&format!("{name}.bias"), &[outputs])?);
        }
        let rows = Rows::quantised(&weights, columns);
        let packed = simd::pack(columns, &rows.weights).ok_or("a matrix has a size that cannot be packed")?;
        self.put(packed.iter().map(|weight| weight.cast_unsigned()));
        self.floats(&rows.scales);
        self.floats(&biases);
        Ok(())
    }

    fn norm(&mut self, model: &Tensors<'_>, name: &str) -> Result<(), String> {
        self.floats(&model.floats(&format!("{name}.weight"), &[WIDTH])?);
        self.floats(&model.floats(&format!("{name}.bias"), &[WIDTH])?);
        Ok(())
    }
}

/// Rows of bytes, each with a scale from its largest value.
struct Rows {
    weights: Vec<i8>,
    scales: Vec<f32>,
}

impl Rows {
    fn quantised(floats: &[f32], columns: usize) -> Self {
        let mut rows = Self { weights: Vec::with_capacity(floats.len()), scales: Vec::new() };
        for row in floats.chunks_exact(columns) {
            let largest = row.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
            let scale = largest / f32::from(i8::MAX);
            // The cast saturates, and a row of zeros gives zeros.
            rows.weights.extend(row.iter().map(|value| (value / scale).round() as i8));
            rows.scales.push(scale);
        }
        rows
    }
}
