//! Counts differing bits.

/// Signs, or anything else that is compared bit by bit.
type Word = u64;

vectorised! {
    /// Adds to each count the number of bits in which the element at the same place differs from `word`. If elements or counts
    /// are missing, only the common ones are used.
    pub fn add_differing_bits(word: Word, elements: &[Word], counts: &mut [u32]) {
        for (count, element) in counts.iter_mut().zip(elements) {
            *count = count.wrapping_add((element ^ word).count_ones());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn both_versions_count_every_bit(word: u64, elements in prop::collection::vec(any::<u64>(), 0..70), before in 0_u32..9) {
            let expected: Vec<u32> = elements.iter().map(|element| before + (element ^ word).count_ones()).collect();
            let mut counts = vec![before; elements.len()];
            add_differing_bits(word, &elements, &mut counts);
            prop_assert_eq!(&counts, &expected);
            counts.fill(before);
            add_differing_bits::portable(word, &elements, &mut counts);
            prop_assert_eq!(counts, expected);
        }
    }
}
