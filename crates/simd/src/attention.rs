//! Attention: scores between the rows of a text, their softmax, and the weighted sums.

use crate::float::softmax;

/// The number of components per head and row.
pub const HEAD: usize = 32;
/// The number of keys processed together: two registers of scores for each of four queries.
const CHUNK: usize = 16;
/// The number of queries that share one pass over the keys.
const GROUP: usize = 4;

/// The scratch memory of attention. Reused between calls.
#[derive(Debug, Default)]
pub struct Attention {
    /// The keys of each chunk of rows, transposed.
    keys: Vec<[[f32; CHUNK]; HEAD]>,
    /// The values of each row.
    values: Vec<[f32; HEAD]>,
    /// For each row of a group: its scores, then its shares.
    scores: Vec<f32>,
}

impl Attention {
    /// Every row of `rows` has queries, keys and values of all heads, `width` numbers each. `out` is resized and gets the
    /// attention output of every row, `width` numbers. If `width` is not a multiple of [`HEAD`], `out` is empty.
    pub fn look(&mut self, rows: &[f32], width: usize, out: &mut Vec<f32>) {
        let width = if width.is_multiple_of(HEAD) { width } else { 0 };
        let count = rows.len().checked_div(3 * width).unwrap_or(0);
        out.resize(count * width, 0.0);
        if out.is_empty() {
            return;
        }
        self.keys.resize(count.div_ceil(CHUNK), [[0.0; CHUNK]; HEAD]);
        self.values.resize(count, [0.0; HEAD]);
        self.scores.resize(GROUP * CHUNK * self.keys.len(), 0.0);
        look(self, rows, width, out);
    }
}

vectorised! {
    fn look(scratch: &mut Attention, rows: &[f32], width: usize, out: &mut [f32]) {
        for head in 0..width / HEAD {
            gather(scratch, rows, width, head);
            let queries = rows.chunks_exact(GROUP * 3 * width).chain([rows.chunks_exact(GROUP * 3 * width).remainder()]);
            for (queries, out) in queries.zip(out.chunks_mut(GROUP * width)) {
                score(scratch, queries, width, head);
                let length = scratch.values.len();
                let scores_each = scratch.scores.len() / GROUP;
                scratch.scores.chunks_exact_mut(scores_each).for_each(|scores| softmax(scores, length));
                weigh(scratch, out, width, head);
            }
        }
    }
}

/// The numbers of `part` (queries 0, keys 1, values 2) of one head of one row.
#[inline(always)]
fn numbers(row: &[f32], width: usize, part: usize, head: usize) -> Option<&[f32; HEAD]> {
    row.as_chunks::<HEAD>().0.get((part * width) / HEAD + head)
}

/// Collects the keys and values of one head.
#[inline(always)]
fn gather(scratch: &mut Attention, rows: &[f32], width: usize, head: usize) {
    for (chunk, keys) in rows.chunks(CHUNK * 3 * width).zip(&mut scratch.keys) {
        for (place, row) in chunk.chunks_exact(3 * width).enumerate() {
            let Some(numbers) = numbers(row, width, 1, head) else { continue };
            for (number, keys) in numbers.iter().zip(keys.iter_mut()) {
                if let Some(key) = keys.get_mut(place) {
                    *key = *number;
                }
            }
        }
    }
    for (row, values) in rows.chunks_exact(3 * width).zip(&mut scratch.values) {
        if let Some(numbers) = numbers(row, width, 2, head) {
            *values = *numbers;
        }
    }
}

/// The scores of a group: its queries times all keys, divided by the root of the size of a head.
#[inline(always)]
fn score(scratch: &mut Attention, queries: &[f32], width: usize, head: usize) {
    let scale = 1.0 / (HEAD as f32).sqrt();
    let mut group = [[0.0; GROUP]; HEAD];
    for (place, row) in queries.chunks_exact(3 * width).enumerate() {
        let Some(numbers) = numbers(row, width, 0, head) else { continue };
        for (number, group) in numbers.iter().zip(&mut group) {
            if let Some(query) = group.get_mut(place) {
                *query = number * scale;
            }
        }
    }
    let each = scratch.scores.len() / GROUP;
    for (chunk, keys) in scratch.keys.iter().enumerate() {
        // Separate variables stay in registers; an array would not.
        let [mut first, mut second, mut third, mut fourth] = [[0.0; CHUNK]; GROUP];
        for (keys, queries) in keys.iter().zip(&group) {
            let [one, two, three, four] = *queries;
            add_times(&mut first, one, keys);
            add_times(&mut second, two, keys);
            add_times(&mut third, three, keys);
            add_times(&mut fourth, four, keys);
        }
        for (scores, sums) in scratch.scores.chunks_exact_mut(each).zip([first, second, third, fourth]) {
            if let Some(place) = scores.as_chunks_mut().0.get_mut(chunk) {
                *place = sums;
            }
        }
    }
}

#[inline(always)]
fn add_times<const COUNT: usize>(sums: &mut [f32; COUNT], factor: f32, values: &[f32; COUNT]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}

/// The output of a group: all values, each times its share. Two rows at a time, whose sums fill eight registers.
#[inline(always)]
fn weigh(scratch: &Attention, out: &mut [f32], width: usize, head: usize) {
    let each = scratch.scores.len() / GROUP;
    for (shares, out) in scratch.scores.chunks_exact(2 * each).zip(out.chunks_mut(2 * width)) {
        let (first_shares, second_shares) = shares.split_at(each);
        let [mut first, mut second] = [[0.0; HEAD]; 2];
        for ((values, first_share), second_share) in scratch.values.iter().zip(first_shares).zip(second_shares) {
            add_times(&mut first, *first_share, values);
            add_times(&mut second, *second_share, values);
        }
        for (row, sums) in out.chunks_exact_mut(width).zip([first, second]) {
            if let Some(place) = row.as_chunks_mut().0.get_mut(head) {
                *place = sums;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, one number at a time.
    fn plain(rows: &[Vec<f32>], width: usize) -> Vec<f32> {
        let mut out = vec![0.0; rows.len() * width];
        for (at, looking) in rows.iter().enumerate() {
            for head in (0..width).step_by(HEAD) {
                let score = |row: &Vec<f32>| -> f32 { (head..head + HEAD).map(|i| looking[i] * row[width + i]).sum() };
                let scores: Vec<f32> = rows.iter().map(|row| (score(row) / (HEAD as f32).sqrt()).exp()).collect();
                let sum: f32 = scores.iter().sum();
                for i in head..head + HEAD {
                    out[at * width + i] = rows.iter().zip(&scores).map(|(row, score)| row[2 * width + i] * score / sum).sum();
                }
            }
        }
        out
    }

    fn texts() -> impl Strategy<Value = (usize, Vec<Vec<f32>>)> {
        (1..3_usize, 1..40_usize).prop_flat_map(|(heads, count)| {
            let row = proptest::collection::vec(-2.0_f32..2.0, 3 * heads * HEAD);
            (Just(heads * HEAD), proptest::collection::vec(row, count))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn it_matches_the_definition((width, rows) in texts()) {
            let mut scratch = Attention::default();
            let (mut out, mut again) = (Vec::new(), Vec::new());
            scratch.look(&rows.concat(), width, &mut out);
            for (seen, plain) in out.iter().zip(plain(&rows, width)) {
                prop_assert!((seen - plain).abs() < 1e-4, "{} {}", seen, plain);
            }
            again.resize(out.len(), 0.0);
            look::portable(&mut scratch, &rows.concat(), width, &mut again);
            prop_assert!(out.iter().zip(&again).all(|(out, again)| out.to_bits() == again.to_bits()));
            prop_assert_eq!(out.len(), rows.len() * width);
        }
    }

    #[test]
    fn invalid_shapes_give_nothing() {
        let mut out = vec![1.0];
        for (rows, width) in [(vec![], 32), (vec![1.0; 96], 31), (vec![1.0; 96], 0), (vec![1.0; 95], 32)] {
            Attention::default().look(&rows, width, &mut out);
            assert!(out.is_empty());
        }
    }
}
