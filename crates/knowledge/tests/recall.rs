//! The quality of recall on the reporting halves of all evaluation sets: no change lowers it unnoticed, and the documentation
//! shows the current figures.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use knowledge::{Evaluation, EvaluationSet, Figures, Ranking};
use search::embed::{Cached, MiniLm};

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");
/// Floating-point functions differ a little between machines, and one question more or less moves a figure by up to 0.009.
const TOLERANCE: f64 = 0.015;

type Sets = BTreeMap<String, BTreeMap<&'static str, Figures>>;

#[tokio::test(flavor = "multi_thread")]
async fn recall_is_as_good_as_documented() {
    let mut set = EvaluationSet::default();
    set.open(&Path::new(FOLDER).join("eval/recall")).unwrap();
    for half in ["tune", "report"] {
        for kind in ["chains", "dialogues", "identifiers", "languages", "notes", "paraphrases"] {
            let is_counted = |question: &&knowledge::SetQuestion| question.set == kind && question.split.as_deref() == Some(half);
            let count = set.questions.iter().filter(is_counted).count();
            assert!(count >= 100, "{kind} has {count} questions to {half}");
        }
    }
    set.only("report");
    let embedder = Arc::new(Cached::new(MiniLm::bundled().unwrap(), 10_000));
    let evaluation = Evaluation::prepare(set, tempfile::tempdir().unwrap().path(), embedder, |_, _| ()).await.unwrap();
    let sets = evaluation.report(Ranking::default()).await.unwrap().sets;
    for (name, modes) in &sets {
        // Cosines of an English model say little about other languages, so keywords alone are about as good there.
        let margin = if name == "languages" { 0.03 } else { 0.0 };
        let of = |mode: &str| modes.get(mode).map(|figures| figures.recall_at_10).unwrap();
        assert!(of("fused") >= of("keyword").max(of("vector")) - margin, "{name}: {modes:?}");
    }
    let docs = std::fs::read_to_string(Path::new(FOLDER).join("../../docs/memory.md")).unwrap();
    let (table, shown) = (table(&sets), numbers(&docs));
    let differs = |(one, other): (&f64, &f64)| (one - other).abs() > TOLERANCE;
    let is_old = numbers(&table).len() != shown.len() || numbers(&table).iter().zip(&shown).any(differs);
    assert!(!is_old, "replace the table in docs/memory.md with this one:\n{table}");
}

/// The figures as a Markdown table.
fn table(sets: &Sets) -> String {
    let mut table =
        "| set | search | questions | R@5 | R@10 | MRR | within 500 tokens |\n|---|---|---:|---:|---:|---:|---:|\n".to_owned();
    for (set, modes) in sets {
        for (mode, figures) in modes {
            let Figures { questions, recall_at_5, recall_at_10, mean_reciprocal_rank, recall_in_budget, .. } = figures;
            let parts = format!("{recall_at_5:.3} | {recall_at_10:.3} | {mean_reciprocal_rank:.3} | {recall_in_budget:.3}");
            writeln!(table, "| {set} | {mode} | {questions} | {parts} |").unwrap();
        }
    }
    table
}

/// The numbers of the table rows of a text that begins with the first set.
fn numbers(text: &str) -> Vec<f64> {
    let rows = text.lines().filter(|line| ["| fused |", "| keyword |", "| vector |"].iter().any(|mode| line.contains(mode)));
    rows.flat_map(|row| row.split('|').filter_map(|cell| cell.trim().parse().ok()).collect::<Vec<f64>>()).collect()
}
