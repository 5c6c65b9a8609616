//! The quality of `graph_query` on the evaluation set: no change lowers it unnoticed, and the documentation shows the current figures.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use knowledge::GraphRanking;

use super::set::{Figures, Set};

const KINDS: [&str; 5] = ["all", "direct", "paraphrase", "two_hop", "three_hop"];
/// Floating-point functions differ a little between machines, and one question more or less moves a figure by up to 0.05.
const TOLERANCE: f64 = 0.055;

#[tokio::test(flavor = "multi_thread")]
async fn questions_find_their_facts_and_walking_helps() {
    let set = Set::load().await;
    let walked = set.figures("tune", 2, GraphRanking::default()).await;
    let found = set.figures("tune", 0, GraphRanking::default()).await;
    assert!(walked["all"].recall_at_10 >= 0.79 && walked["all"].ndcg_at_10 >= 0.63, "{walked:?}");
    assert!(walked["direct"].recall_at_5 >= 0.99, "{walked:?}");
    for kind in ["all", "two_hop"] {
        assert!(walked[kind].recall_at_10 > found[kind].recall_at_10, "{kind}: {walked:?} {found:?}");
    }
    let table =
        table(&set.figures("report", 2, GraphRanking::default()).await, &set.figures("report", 0, GraphRanking::default()).await);
    let docs = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/graph.md")).unwrap();
    let (current, shown) = (numbers(&table), numbers(&docs));
    let differs = |(one, other): (&f64, &f64)| (one - other).abs() > TOLERANCE;
    let is_old = current.len() != shown.len() || current.iter().zip(&shown).any(differs);
    assert!(!is_old, "replace the table in docs/graph.md with this one:\n{table}");
}

/// The figures as a Markdown table.
fn table(walked: &BTreeMap<String, Figures>, found: &BTreeMap<String, Figures>) -> String {
    let mut table = "| questions | search | R@5 | R@10 | NDCG@10 |\n|---|---|---:|---:|---:|\n".to_owned();
    for kind in KINDS {
        for (how, figures) in [("with walk", &walked[kind]), ("without walk", &found[kind])] {
            let Figures { recall_at_5, recall_at_10, ndcg_at_10 } = figures;
            writeln!(table, "| {} | {how} | {recall_at_5:.3} | {recall_at_10:.3} | {ndcg_at_10:.3} |", kind.replace('_', " "))
                .unwrap();
        }
    }
    table
}

/// The numbers of the rows of such a table.
fn numbers(text: &str) -> Vec<f64> {
    let rows = text.lines().filter(|line| line.contains(" walk |"));
    rows.flat_map(|row| row.split('|').filter_map(|cell| cell.trim().parse().ok()).collect::<Vec<f64>>()).collect()
}
