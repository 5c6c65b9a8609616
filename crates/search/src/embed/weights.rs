//! The weights file, read in place: nothing is copied, so only the pages that a text needs are in memory.
//!
//! A header of 128 bytes, then sections in a fixed order, each at a multiple of 64 bytes. The dimensions determine their
//! lengths. Numbers are little-endian.
//!
//! | bytes | header |
//! |---|---|
//! | 0–7 | `TCMINILM` |
//! | 8–11 | version of this format |
//! | 12–35 | dimensions: layers, width, inner width, pieces, positions, bytes of the vocabulary's text |
//! | 36–63 | zeros |
//! | 64–95 | SHA-256 of everything after the header |
//! | 96–127 | zeros |
//!
//! | sections | numbers |
//! |---|---|
//! | vocabulary: starts, slots, text | u32, u16, bytes |
//! | word vectors; their scales | i8, one row per piece; f32 |
//! | position vectors, with the one of the first text type added | f32 |
//! | norm after them: weights, biases | f32 |
//! | each layer: queries, keys and values in one; output; norm; inner; outer; norm | |
//! | each matrix: packed weights; scales; biases | i8 as [`simd::pack`] has them; f32; f32 |

use std::sync::LazyLock;

use sha2::{Digest, Sha256};
use simd::{HEAD, Matrix, view};

use super::vocabulary::Vocabulary;
use super::wordpiece::PIECES_MAX;

/// The size of the header in bytes.
const HEADER: usize = 128;
/// The alignment of sections.
pub(crate) const PAGE: usize = 64;

const MAGIC: &[u8] = b"TCMINILM";
const VERSION: u32 = 1;

#[cfg(target_endian = "big")]
compile_error!("the weights file is read in place and needs a little-endian machine");

#[repr(C, align(64))]
struct Aligned<Bytes: ?Sized>(Bytes);

static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!("../../model/all-MiniLM-L6-v2.q8"));

/// The bundled weights. `None` means that the binary was built with a wrong file.
pub(super) fn bundled() -> Option<&'static Weights<'static>> {
    static WEIGHTS: LazyLock<Option<Weights<'static>>> = LazyLock::new(|| Weights::read(&FILE.0));
    WEIGHTS.as_ref()
}

/// Whether the sections of the bundled file match the checksum in its header.
pub(super) fn is_intact() -> bool {
    let parts = FILE.0.split_at_checked(HEADER);
    parts.is_some_and(|(header, sections)| header.get(64..96) == Some(Sha256::digest(sections).as_slice()))
}

/// The sizes of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dimensions {
    pub(crate) layers: usize,
    pub(crate) width: usize,
    pub(crate) inner: usize,
    pub(crate) pieces: usize,
    pub(crate) positions: usize,
    pub(crate) text: usize,
}

impl Dimensions {
    /// The header of a file with this checksum. `None` if a size exceeds 32 bits.
    #[cfg(any(test, feature = "rebuild"))]
    pub(crate) fn header(self, checksum: &[u8]) -> Option<Vec<u8>> {
        let sizes = [self.layers, self.width, self.inner, self.pieces, self.positions, self.text];
        let mut header = [MAGIC, &VERSION.to_le_bytes()].concat();
        for size in sizes {
            header.extend(u32::try_from(size).ok()?.to_le_bytes());
        }
        header.resize(64, 0);
        header.extend(checksum);
        header.resize(HEADER, 0);
        Some(header)
    }

    fn read(header: &[u8]) -> Option<Self> {
        let numbers = header.strip_prefix(MAGIC)?.as_chunks().0;
        let mut numbers = numbers.iter().map(|bytes| u32::from_le_bytes(*bytes));
        numbers.next().filter(|version| *version == VERSION)?;
        let mut size = || numbers.next().and_then(|size| usize::try_from(size).ok());
        Some(Self { layers: size()?, width: size()?, inner: size()?, pieces: size()?, positions: size()?, text: size()? })
    }
}

/// Weights and biases of a normalisation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Norm<'a> {
    pub(super) weights: &'a [f32],
    pub(super) biases: &'a [f32],
}

/// One layer of the encoder.
#[derive(Debug)]
pub(super) struct Layer<'a> {
    pub(super) looks: Matrix<'a>,
    pub(super) seen: Matrix<'a>,
    pub(super) seen_norm: Norm<'a>,
    pub(super) inner: Matrix<'a>,
    pub(super) outer: Matrix<'a>,
    pub(super) outer_norm: Norm<'a>,
}

/// A model's weights, borrowed from its file.
#[derive(Debug)]
pub(super) struct Weights<'a> {
    pub(super) width: usize,
    pub(super) vocabulary: Vocabulary<'a>,
    pub(super) words: &'a [i8],
    pub(super) word_scales: &'a [f32],
    pub(super) positions: &'a [f32],
    pub(super) norm: Norm<'a>,
    pub(super) layers: Vec<Layer<'a>>,
}

impl<'a> Weights<'a> {
    /// Reads a file. `None` if it is not one of ours or not complete. It does not check the checksum, because that would load every
    /// page into memory: see [`is_intact`].
    pub(super) fn read(file: &'a [u8]) -> Option<Self> {
        let (header, sections) = file.split_at_checked(HEADER)?;
        let sizes = Dimensions::read(header)?;
        let width = sizes.width;
        if width == 0 || !width.is_multiple_of(HEAD) || sizes.positions < PIECES_MAX {
            return None;
        }
        let mut sections = Sections(sections);
        let starts = sections.take(sizes.pieces.checked_add(1)?)?;
        let slots = sections.take(sizes.pieces.checked_mul(2)?.checked_add(1)?.checked_next_power_of_two()?)?;
        let text = sections.bytes(sizes.text)?;
        let words = sections.take(sizes.pieces.checked_mul(width)?)?;
        let word_scales = sections.take(sizes.pieces)?;
        let positions = sections.take(sizes.positions.checked_mul(width)?)?;
        let norm = sections.norm(width)?;
        let layers = (0..sizes.layers).map(|_| {
            Some(Layer {
                looks: sections.matrix(width.checked_mul(3)?, width)?,
                seen: sections.matrix(width, width)?,
                seen_norm: sections.norm(width)?,
                inner: sections.matrix(sizes.inner, width)?,
                outer: sections.matrix(width, sizes.inner)?,
                outer_norm: sections.norm(width)?,
            })
        });
        let layers = layers.collect::<Option<_>>()?;
        let whole = sections.0.is_empty();
        let vocabulary = Vocabulary { starts, text, slots };
        whole.then_some(Self { width, vocabulary, words, word_scales, positions, norm, layers })
    }
}

/// The unread rest of the file.
struct Sections<'a>(&'a [u8]);

impl<'a> Sections<'a> {
    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (section, rest) = self.0.split_at_checked(length.checked_next_multiple_of(PAGE)?)?;
        self.0 = rest;
        section.get(..length)
    }

    fn take<T: simd::Number>(&mut self, count: usize) -> Option<&'a [T]> {
        view(self.bytes(count.checked_mul(size_of::<T>())?)?)
    }

    fn norm(&mut self, width: usize) -> Option<Norm<'a>> {
        Some(Norm { weights: self.take(width)?, biases: self.take(width)? })
    }

    fn matrix(&mut self, outputs: usize, columns: usize) -> Option<Matrix<'a>> {
        let packed = self.take(outputs.checked_mul(columns)?)?;
        Matrix::new(columns, packed, self.take(outputs)?, self.take(outputs)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_file_is_complete() {
        assert!(is_intact());
        let weights = bundled().unwrap();
        assert_eq!((weights.width, weights.layers.len(), weights.word_scales.len()), (384, 6, 30_522));
    }

    #[test]
    fn another_file_is_refused() {
        let file = &FILE.0;
        assert!(Weights::read(&file[..file.len() - 1]).is_none());
        assert!(Weights::read(&file[..HEADER]).is_none());
        assert!(Weights::read(&[]).is_none());
        // Each byte of the dimensions, of the version and of the name.
        for place in 0..36 {
            let mut changed = Vec::with_capacity(file.len() + PAGE);
            let start = changed.spare_capacity_mut().as_ptr().align_offset(PAGE);
            changed.resize(start, 0);
            changed.extend_from_slice(file);
            changed[start + place] ^= 0x81;
            assert!(Weights::read(&changed[start..]).is_none(), "{place}");
        }
    }
}
