//! Random vectors for tests, the same in every run.

/// A small xorshift generator.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    /// Between -1 and 1, more often near zero.
    fn component(&mut self) -> f32 {
        let sum: f32 = (0..4).map(|_| (self.next() % 2_001) as f32 / 1_000.0 - 1.0).sum();
        sum / 4.0
    }

    pub(super) fn vector(&mut self, dimension: usize) -> Vec<f32> {
        (0..dimension).map(|_| self.component()).collect()
    }

    /// Vectors around common centres: many close neighbours, which is the hard case.
    pub(super) fn clusters(&mut self, count: usize, dimension: usize, centres: usize) -> Vec<Vec<f32>> {
        let centres: Vec<_> = (0..centres).map(|_| self.vector(dimension)).collect();
        (0..count)
            .map(|_| {
                let centre = self.next() as usize % centres.len();
                let noise = self.vector(dimension);
                centres[centre].iter().zip(noise).map(|(centre, noise)| centre + 0.7 * noise).collect()
            })
            .collect()
    }
}

/// The cosine by its definition.
pub(super) fn exact_cosine(left: &[f32], right: &[f32]) -> f32 {
    let dot = |left: &[f32], right: &[f32]| left.iter().zip(right).map(|(l, r)| f64::from(*l) * f64::from(*r)).sum::<f64>();
    (dot(left, right) / (dot(left, left) * dot(right, right)).sqrt()) as f32
}
