//! Quantises floats to 14-bit activations, laid out for the kernel.

use super::{ACTIVATION_MAX, Pair};
use crate::float::{largest, nearest};

vectorised! {
    /// Quantises the rows of one tile. Pair `p` of row `r` goes to position `p * rows + r`.
    pub(super) fn quantise(values: &[f32], columns: usize, scales: &mut [f32], pairs: &mut [Pair]) {
        let rows = scales.len();
        for (row, (values, scale)) in values.chunks_exact(columns).zip(scales).enumerate() {
            let largest = largest(values);
            // A row of zeros has no largest value to scale by and needs none.
            let inverse = if largest > 0.0 { ACTIVATION_MAX / largest } else { 0.0 };
            *scale = largest / ACTIVATION_MAX;
            let places = pairs.iter_mut().skip(row).step_by(rows);
            for (place, [first, second]) in places.zip(values.as_chunks::<2>().0) {
                *place = (nearest(second * inverse) << 16) | (nearest(first * inverse) & 0xFFFF);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn both_versions_give_the_same_pairs(values in proptest::collection::vec(prop_oneof![Just(0.0), -9.0_f32..9.0], 48)) {
            for rows in [1, 2, 3, 4, 6] {
                let (mut fast, mut slow) = ((vec![0.0; rows], vec![0; 24]), (vec![0.0; rows], vec![0; 24]));
                quantise(&values, 48 / rows, &mut fast.0, &mut fast.1);
                quantise::portable(&values, 48 / rows, &mut slow.0, &mut slow.1);
                prop_assert_eq!(fast, slow);
            }
        }
    }

    #[test]
    fn the_largest_value_becomes_the_largest_activation() {
        let (mut scales, mut pairs) = ([0.0; 2], [0; 2]);
        quantise(&[-2.0, 1.0, 0.0, 0.0], 2, &mut scales, &mut pairs);
        assert_eq!(pairs, [(4_096 << 16) | (-8_191 & 0xFFFF), 0]);
        assert_eq!(scales, [2.0 / ACTIVATION_MAX, 0.0]);
    }
}
