//! Tunes the weights of graph queries on the tuning half of the evaluation set, and reports the other half once with the
//! defaults.
//!
//! `cargo run --release -p knowledge --example tune_graph`

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a tool for us, which fails by panicking")]

#[path = "../tests/graph/set.rs"]
mod set;

use knowledge::GraphRanking;
use search::fusion::Weights;

#[tokio::main]
async fn main() {
    let set = set::Set::load().await;
    let show = async |half: &str, depth: u32, ranking: GraphRanking| {
        let figures = set.figures(half, depth, ranking).await;
        let kinds = ["all", "direct", "paraphrase", "two_hop", "three_hop"].map(|kind| {
            format!("{kind} {:.3} {:.3} {:.3}", figures[kind].recall_at_5, figures[kind].recall_at_10, figures[kind].ndcg_at_10)
        });
        kinds.join(" | ")
    };
    for keyword in [0.6, 0.9, 1.2, 1.6, 2.0] {
        let weights = Weights { keyword, ..Weights::default() };
        let ranking = GraphRanking { weights, ..GraphRanking::default() };
        println!("keyword {keyword}, no walk: {}", show("tune", 0, ranking).await);
        for (hop, near) in [(0.5, 0.5), (0.7, 0.5), (0.7, 1.0), (0.8, 1.0), (0.9, 1.0), (0.9, 2.0)] {
            let ranking = GraphRanking { hop, near, ..ranking };
            println!("keyword {keyword} hop {hop} near {near}: {}", show("tune", 2, ranking).await);
        }
    }
    for depth in [0, 1, 2, 3] {
        println!("report, depth {depth}: {}", show("report", depth, GraphRanking::default()).await);
    }
}
