use proptest::prelude::*;

use super::*;

/// Rows, columns, outputs, weights and floats, with frequent extremes.
fn shapes() -> impl Strategy<Value = (usize, Vec<i8>, Vec<f32>)> {
    (1..20_usize, 1..40_usize, 1..4_usize).prop_flat_map(|(rows, halves, panels)| {
        let weight = prop_oneof![Just(i8::MIN), Just(i8::MAX), any::<i8>()];
        let value = prop_oneof![Just(0.0_f32), Just(5.0), Just(-5.0), -5.0_f32..5.0];
        (
            Just(2 * halves),
            proptest::collection::vec(weight, 2 * halves * panels * PANEL),
            proptest::collection::vec(value, 2 * halves * rows),
        )
    })
}

fn quantised(values: &[f32], columns: usize) -> Activations {
    let mut activations = Activations::default();
    activations.quantise(values, columns);
    activations
}

/// The activations of one row, read back from the kernel's layout.
fn whole(activations: &Activations, row: usize) -> Vec<i64> {
    let (rows, half) = (activations.rows(), activations.columns / 2);
    let tile = (0..rows).map(|tile| tile_of(rows, tile)).find(|tile| tile.contains(&row)).unwrap();
    let pairs = &activations.pairs[tile.start * half..tile.end * half];
    let of_row = pairs.iter().skip(row - tile.start).step_by(tile.len());
    of_row.flat_map(|pair| [i64::from(*pair as i16), i64::from(pair >> 16)]).collect()
}

proptest! {
    #[test]
    fn both_versions_give_the_exact_sums((columns, weights, values) in shapes()) {
        let packed = pack(columns, &weights).unwrap();
        let outputs = weights.len() / columns;
        let (scales, biases) = (vec![0.5; outputs], vec![0.25; outputs]);
        let matrix = Matrix::new(columns, &packed, &scales, &biases).unwrap();
        let activations = quantised(&values, columns);
        let (mut fast, mut slow) = (Vec::new(), vec![0.0; activations.rows() * outputs]);
        matrix.multiply(&activations, &mut fast);
        matrix.steps(&activations, &mut slow, portable::run);
        for (row, scale) in activations.scales.iter().enumerate() {
            let whole = whole(&activations, row);
            for (output, weights) in weights.chunks_exact(columns).enumerate() {
                let exact: i64 = whole.iter().zip(weights).map(|(value, weight)| value * i64::from(*weight)).sum();
                let (fast, slow) = (fast[row * outputs + output], slow[row * outputs + output]);
                prop_assert_eq!(fast.to_bits(), slow.to_bits());
                prop_assert_eq!(fast, exact as f32 * scale * 0.5 + 0.25);
            }
        }
    }
}

#[test]
fn the_widest_matrix_of_extremes_does_not_overflow() {
    let weights = vec![i8::MIN; COLUMNS_MAX * PANEL];
    let (scales, biases) = ([1.0; PANEL], [0.0; PANEL]);
    let packed = pack(COLUMNS_MAX, &weights).unwrap();
    let matrix = Matrix::new(COLUMNS_MAX, &packed, &scales, &biases).unwrap();
    for value in [-ACTIVATION_MAX, ACTIVATION_MAX] {
        let mut out = Vec::new();
        matrix.multiply(&quantised(&vec![value; 7 * COLUMNS_MAX], COLUMNS_MAX), &mut out);
        assert_eq!(out, vec![-128.0 * value * COLUMNS_MAX as f32; 7 * PANEL]);
    }
}

#[test]
fn mismatched_sizes_give_nothing() {
    assert!(Matrix::new(2, &[0; 32], &[1.0; 16], &[0.0; 16]).is_some());
    assert!(Matrix::new(2, &[0; 31], &[1.0; 16], &[0.0; 16]).is_none());
    assert!(Matrix::new(3, &[0; 48], &[1.0; 16], &[0.0; 16]).is_none());
    assert!(Matrix::new(2, &[0; 30], &[1.0; 15], &[0.0; 15]).is_none());
    assert!(Matrix::new(2_050, &[0; 32_800], &[1.0; 16], &[0.0; 16]).is_none());
    assert!(pack(3, &[0; 48]).is_none() && pack(2, &[0; 30]).is_none() && pack(0, &[]).is_none());
    let matrix = Matrix::new(2, &[0; 32], &[1.0; 16], &[0.0; 16]).unwrap();
    for (values, columns) in [(vec![], 2), (vec![1.0; 4], 4), (vec![1.0; 3], 3), (vec![1.0; 4], 0)] {
        let mut out = vec![1.0];
        matrix.multiply(&quantised(&values, columns), &mut out);
        assert!(out.is_empty());
    }
}

#[test]
fn tiles_cover_every_row_once_and_are_even() {
    for rows in 1..300_usize {
        let tiles: Vec<_> = (0..rows.div_ceil(TILE)).map(|tile| tile_of(rows, tile)).collect();
        assert_eq!(tiles.iter().cloned().flatten().collect::<Vec<_>>(), (0..rows).collect::<Vec<_>>());
        assert!(tiles.iter().all(|tile| (1..=TILE).contains(&tile.len())));
    }
}
