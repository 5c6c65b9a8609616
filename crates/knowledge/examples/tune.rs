//! Tunes the weights of recall on the tuning half of the evaluation set, and reports the other half once with the defaults.
//!
//! `cargo run --release -p knowledge --example tune`

#![expect(clippy::unwrap_used, reason = "a tool for us, which fails by panicking")]

use std::sync::Arc;

use base::Clock;
use knowledge::{Evaluation, EvaluationSet, Indexes, IndexesConfig, Ranking};
use search::embed::{Cached, MiniLm};
use search::fusion::Weights;

#[tokio::main]
async fn main() {
    let clock = Clock::default();
    for split in ["tune", "report"] {
        let folder = tempfile::tempdir().unwrap();
        let mut set = EvaluationSet::default();
        for file in ["observations", "questions"] {
            let path = format!("{}/eval/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
            set.read(&std::fs::read_to_string(path).unwrap()).unwrap();
        }
        set.only(split);
        let indexes = Indexes::new(IndexesConfig::new(Arc::new(Cached::new(MiniLm::bundled().unwrap(), 10_000)), clock.clone()));
        let evaluation = Evaluation::prepare(set, folder.path(), indexes, clock.clone(), |_, _| ()).await.unwrap();
        println!("{split}: {}", serde_json::to_string_pretty(&evaluation.report(Ranking::default()).await.unwrap()).unwrap());
        if split == "report" {
            break;
        }
        for vector in [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0] {
            for neighbour in [0.0, 0.1, 0.2] {
                let weights = Weights { keyword: 1.0, vector, neighbour };
                let figures = evaluation.figures(Ranking { weights, ..Ranking::default() }).await.unwrap();
                println!(
                    "vector {vector:.1} neighbour {neighbour:.2}: R@5 {:.4} R@10 {:.4} NDCG {:.4} MRR {:.4} budget {:.4}",
                    figures.recall_at_5,
                    figures.recall_at_10,
                    figures.ndcg_at_10,
                    figures.mean_reciprocal_rank,
                    figures.recall_in_budget
                );
            }
        }
    }
}
