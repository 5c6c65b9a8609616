//! `toolcrib eval`: how good recall is on a set of one's own. It needs no server: the same code runs on a store of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use base::Clock;
use clap::{Args, Subcommand};
use knowledge::{Evaluation, EvaluationSet, Figures, Indexes, IndexesConfig, Ranking, Report};
use search::embed::{Cached, MiniLm};

/// Vectors of questions that are asked once in each way.
const QUESTIONS_REMEMBERED: usize = 100_000;

/// Measure recall on memories and questions of your own.
#[derive(Args, Debug)]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Recall of memories by questions
    Recall(RecallArgs),
}

#[derive(Args, Debug)]
struct RecallArgs {
    /// JSON lines: memories {"id", "content", "type"?, "agent"?, "session"?} and questions {"query", "gold": [ids], "kind"?, "split"?};
    /// a file, or a folder of them (repeatable)
    #[arg(long, value_name = "FILE", required = true)]
    set: Vec<PathBuf>,
    /// Only questions of this part of the set
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: EvalArgs) -> Result<()> {
    let What::Recall(args) = args.what;
    let mut set = EvaluationSet::default();
    for path in &args.set {
        for file in files(path)? {
            let lines = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            set.read(&lines).with_context(|| file.display().to_string())?;
        }
    }
    if let Some(split) = &args.split {
        set.only(split);
    }
    if set.memories.is_empty() || set.questions.is_empty() {
        bail!("a set has memories and questions: this one has {} and {}", set.memories.len(), set.questions.len());
    }
    let report = measure(set).await?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print(&report);
    }
    Ok(())
}

/// A file itself, or the JSON lines in a folder, in the order of their names.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    if files.is_empty() {
        bail!("there is no .jsonl file in {}", path.display());
    }
    Ok(files)
}

async fn measure(set: EvaluationSet) -> Result<Report> {
    let (clock, folder) = (Clock::default(), tempfile::tempdir().context("cannot make a temporary folder")?);
    let embedder = Arc::new(Cached::new(MiniLm::bundled()?, QUESTIONS_REMEMBERED));
    let indexes = Indexes::new(IndexesConfig::new(embedder, clock.clone()));
    let progress = |done: usize, all: usize| {
        if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
            eprint!("\rembedding {done} of {all}");
        }
    };
    let evaluation = Evaluation::prepare(set, folder.path(), indexes, clock, progress).await?;
    if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
        eprint!("\r\u{1b}[K");
    }
    Ok(evaluation.report(Ranking::default()).await?)
}

fn print(report: &Report) {
    println!("{:<16} {:>9} {:>6} {:>6} {:>8} {:>6} {:>8}", "", "QUESTIONS", "R@5", "R@10", "NDCG@10", "MRR", "BUDGET");
    let line = |name: &str, figures: &Figures| {
        println!(
            "{name:<16} {:>9} {:>6.3} {:>6.3} {:>8.3} {:>6.3} {:>8.3}",
            figures.questions,
            figures.recall_at_5,
            figures.recall_at_10,
            figures.ndcg_at_10,
            figures.mean_reciprocal_rank,
            figures.recall_in_budget
        );
    };
    report.modes.iter().for_each(|(mode, figures)| line(mode, figures));
    if report.kinds.len() > 1 {
        println!("\nfused, by kind of question");
        report.kinds.iter().for_each(|(kind, figures)| line(kind, figures));
    }
}
