//! The stored form of a vector: 16 bits per component, low byte first.

/// The 16-bit value of 1.0. Vectors have length one, so no component is larger.
const ONE: f32 = 32_767.0;

/// Encodes a vector of length one.
pub fn to_row(embedding: &[f32]) -> Vec<u8> {
    embedding.iter().flat_map(|component| ((component * ONE).round() as i16).to_le_bytes()).collect()
}

/// Decodes a stored vector.
pub fn from_row(bytes: &[u8]) -> Vec<f32> {
    bytes
        .chunks_exact(2)
        .map(|pair| f32::from(i16::from_le_bytes([pair.first().copied().unwrap_or(0), pair.last().copied().unwrap_or(0)])) / ONE)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_read_back() {
        let vector = [0.5, -1.0, 0.0, 1.0, 0.123_456];
        for (back, was) in from_row(&to_row(&vector)).iter().zip(vector) {
            assert!((back - was).abs() < 2e-5);
        }
    }
}
