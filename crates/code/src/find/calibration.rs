//! Turns a cosine into a similarity between 0 and 1 that means the same for every model: 0.7 and more means that a person would call
//! the two related.
//!
//! Cosines of different models are not comparable, and neither are cosines of a whole and a cut vector. For the bundled model the map
//! was fitted to pairs of doc comments and functions. For every other model it follows from the cosines of random pairs of the project.

/// The logit of 0.7, the default threshold of the tools.
const LOGIT_OF_THRESHOLD: f32 = 0.847_297_9;

/// The bundled model and its map: the cosine at the threshold, and how steep the map is. Fitted to 1,000 pairs of doc comments and
/// functions of the Python library and 20,000 random pairs, for one related pair among five.
const BUNDLED: (&str, f32, f32) = ("all-MiniLM-L6-v2/q8-1", 0.384, 22.6);
/// The same for two files, from files of one package of that library.
const BUNDLED_FILES: (&str, f32, f32) = (BUNDLED.0, 0.62, 25.0);
/// The same for other models, in spreads above the mean of random pairs.
const RANDOM_PAIRS: (f32, f32) = (1.33, 2.25);
/// The same for two files.
const RANDOM_PAIRS_FILES: (f32, f32) = (3.7, 2.5);
/// The usual mean and spread of the cosines of random pairs, and the number of pairs that they count as.
const USUAL_PAIRS: (f32, f32, f32) = (0.25, 0.10, 50.0);

/// A strictly increasing map from cosines to similarities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Calibration {
    /// The cosine that means 0.7.
    threshold: f32,
    steepness: f32,
}

/// The cosines of random pairs of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RandomPairs {
    /// The number of pairs.
    pub(crate) count: usize,
    /// Their mean.
    pub(crate) mean: f32,
    /// Their standard deviation.
    pub(crate) spread: f32,
}

impl Calibration {
    /// The map of a model, for vectors of a dimension. `pairs` are those of the project, with vectors of that dimension.
    pub(crate) fn of(model: &str, is_cut: bool, pairs: RandomPairs) -> Self {
        let (bundled, threshold, steepness) = BUNDLED;
        if model == bundled && !is_cut { Self { threshold, steepness } } else { Self::over(pairs, RANDOM_PAIRS) }
    }

    /// The map for two files: the mean cosine of passages of the one and the nearest passages of the other.
    pub(crate) fn of_files(model: &str, pairs: RandomPairs) -> Self {
        let (bundled, threshold, steepness) = BUNDLED_FILES;
        if model == bundled { Self { threshold, steepness } } else { Self::over(pairs, RANDOM_PAIRS_FILES) }
    }

    /// The map that follows from random pairs.
    fn over(pairs: RandomPairs, (threshold, steepness): (f32, f32)) -> Self {
        let pairs = pairs.drawn_to_the_usual();
        Self { threshold: pairs.mean + threshold * pairs.spread, steepness: steepness / pairs.spread }
    }

    /// The similarity of a cosine.
    pub(crate) fn similarity(&self, cosine: f32) -> f32 {
        if cosine.is_nan() {
            return 0.0;
        }
        1.0 / (1.0 + (-(self.steepness * (cosine - self.threshold) + LOGIT_OF_THRESHOLD)).exp())
    }
}

impl RandomPairs {
    /// The mean and the spread of cosines.
    pub(crate) fn of(cosines: impl Iterator<Item = f32>) -> Self {
        let (count, sum, squares) =
            cosines.filter(|cosine| cosine.is_finite()).fold((0_usize, 0.0_f64, 0.0_f64), |all, cosine| {
                let cosine = f64::from(cosine);
                (all.0 + 1, all.1 + cosine, all.2 + cosine * cosine)
            });
        if count == 0 {
            return Self::default();
        }
        let mean = sum / count as f64;
        Self { count, mean: mean as f32, spread: (squares / count as f64 - mean * mean).max(0.0).sqrt() as f32 }
    }

    /// With few pairs, the usual ones count too.
    fn drawn_to_the_usual(self) -> Self {
        let (mean, spread, weight) = USUAL_PAIRS;
        let count = self.count as f32;
        let share = |own: f32, usual: f32| (count * own + weight * usual) / (count + weight);
        let variance = share(self.spread * self.spread, spread * spread);
        Self { count: self.count, mean: share(self.mean, mean), spread: variance.sqrt().max(1e-3) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarities_grow_with_the_cosine_and_stay_between_zero_and_one() {
        let pairs = RandomPairs { count: 1_000, mean: 0.6, spread: 0.05 };
        for calibration in [Calibration::of(BUNDLED.0, false, pairs), Calibration::of("other", false, pairs)] {
            let all: Vec<f32> = (-100..=100).map(|hundredth| calibration.similarity(hundredth as f32 / 100.0)).collect();
            assert!(all.iter().all(|similarity| (0.0..=1.0).contains(similarity)));
            assert!(all.windows(2).all(|pair| pair[0] <= pair[1]));
            assert!(calibration.similarity(calibration.threshold + 0.001) > 0.7);
            assert!(calibration.similarity(calibration.threshold - 0.001) < 0.7);
            assert_eq!(calibration.similarity(f32::NAN), 0.0);
        }
    }

    #[test]
    fn the_bundled_model_is_the_one_that_was_fitted() {
        use search::embed::Embedder;
        assert_eq!(search::embed::MiniLm::bundled().unwrap().model(), BUNDLED.0);
    }

    #[test]
    fn other_models_are_measured_by_their_random_pairs() {
        let over = |pairs: RandomPairs| Calibration::of("other", false, pairs);
        let high = over(RandomPairs { count: 10_000, mean: 0.7, spread: 0.05 });
        let low = over(RandomPairs { count: 10_000, mean: 0.0, spread: 0.05 });
        assert!((high.threshold - low.threshold - 0.7).abs() < 0.01);
        assert!(high.similarity(0.7) < 0.3, "a random pair is not related");
        let none = over(RandomPairs::of(std::iter::empty()));
        let flat = over(RandomPairs::of([0.5; 1_000].into_iter()));
        assert!(none.threshold.is_finite() && flat.steepness.is_finite() && flat.steepness > 0.0);
    }
}
