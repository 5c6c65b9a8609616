//! Tunes the weights of recall on the tuning halves of all evaluation sets together, and reports the other halves once with the
//! defaults.
//!
//! `cargo run --release -p knowledge --example tune`

#![expect(clippy::unwrap_used, reason = "a tool for us, which fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use knowledge::{Evaluation, EvaluationSet, Figures, Ranking};
use search::embed::{Cached, MiniLm};
use search::fusion::Weights;

#[tokio::main]
async fn main() {
    let tune = prepare("tune").await;
    let defaults = Ranking::default();
    show("defaults", &tune, defaults).await;
    let weights = defaults.weights;
    for keyword in [0.6, 0.9, 1.5, 2.0] {
        show(&format!("keyword {keyword}"), &tune, Ranking { weights: Weights { keyword, ..weights }, ..defaults }).await;
    }
    for neighbours in [[0.0, 0.0], [0.2, 0.1], [0.4, 0.3], [0.5, 0.3]] {
        show(&format!("neighbours {neighbours:?}"), &tune, Ranking { weights: Weights { neighbours, ..weights }, ..defaults })
            .await;
    }
    for alike_max in [0.5, 0.7, 2.0] {
        show(&format!("alike_max {alike_max}"), &tune, Ranking { weights: Weights { alike_max, ..weights }, ..defaults }).await;
    }
    for recency in [0.0, 0.1] {
        show(&format!("recency {recency}"), &tune, Ranking { recency, ..defaults }).await;
    }
    let report = prepare("report").await.report(defaults).await.unwrap();
    println!("report: {}", serde_json::to_string_pretty(&report.sets).unwrap());
}

/// The questions of one half of every set.
async fn prepare(split: &str) -> Evaluation {
    let mut set = EvaluationSet::default();
    set.open(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/eval/recall"))).unwrap();
    set.only(split);
    let embedder = Arc::new(Cached::new(MiniLm::bundled().unwrap(), 10_000));
    Evaluation::prepare(set, tempfile::tempdir().unwrap().path(), embedder, |_, _| ()).await.unwrap()
}

/// Prints recall among five and ten, mean reciprocal rank and recall in the budget of each set, and the mean of all of them.
async fn show(name: &str, evaluation: &Evaluation, ranking: Ranking) {
    let sets = evaluation.figures(ranking).await.unwrap();
    let parts =
        |figures: &Figures| [figures.recall_at_5, figures.recall_at_10, figures.mean_reciprocal_rank, figures.recall_in_budget];
    let mean = sets.values().flat_map(parts).sum::<f64>() / (4 * sets.len()) as f64;
    let line = sets.iter().map(|(set, figures)| format!("{set} {:.3?}", parts(figures)));
    println!("{name:<24} {mean:.4} {}", line.collect::<Vec<_>>().join(" "));
}
