//! `toolcrib eval`: measures recall and code search on the user's own data. It needs no server: it runs the same code on temporary data.

mod code;
mod embedder;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand};
use knowledge::{Evaluation, EvaluationSet, Figures, Ranking, Report};
use server::EmbedEndpoint;

use crate::config::EmbedArgs;
use crate::output;
use embedder::Watched;

/// Measures search on the user's own data.
#[derive(Args, Debug)]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Measure how well questions recall memories
    Recall(RecallArgs),
    /// Measure how well questions find code
    Code(code::CodeArgs),
}

#[derive(Args, Debug)]
struct RecallArgs {
    /// JSONL file, folder of such files, or folder of such folders (repeatable), with memories {"id", "content", "type"?, "agent"?,
    /// "session"?, "project"?, "at"?} and questions {"query", "gold": [ids], "kind"?, "split"?, "project"?}
    #[arg(long, value_name = "PATH", required = true)]
    set: Vec<PathBuf>,
    /// Only questions with this `split`
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    embed: EmbedArgs,
}

pub(crate) async fn run(args: EvalArgs) -> Result<()> {
    match args.what {
        What::Recall(args) => recall(args).await,
        What::Code(args) => code::run(args).await,
    }
}

async fn recall(args: RecallArgs) -> Result<()> {
    let endpoint = args.embed.endpoint()?;
    let mut set = EvaluationSet::default();
    for path in &args.set {
        set.open(path).map_err(plain)?;
    }
    if let Some(split) = &args.split {
        set.only(split);
    }
    if set.memories.is_empty() || set.questions.is_empty() {
        bail!(
            "the set needs memories and questions; it has {} memories and {} questions",
            set.memories.len(),
            set.questions.len()
        );
    }
    let report = measure(set, endpoint.as_ref()).await?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print(&report);
    }
    Ok(())
}

async fn measure(set: EvaluationSet, endpoint: Option<&EmbedEndpoint>) -> Result<Report> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let embedder = Arc::new(Watched::new(endpoint).await?);
    let progress = |done: usize, all: usize| output::progress(&format!("embedding {done} of {all}"));
    let evaluation = Evaluation::prepare(set, folder.path(), Arc::clone(&embedder) as _, progress).await.map_err(plain)?;
    output::progress("");
    let report = evaluation.report(Ranking::default()).await?;
    embedder.check()?;
    Ok(report)
}

/// The error without its kind, which is for programs.
fn plain(error: base::Error) -> anyhow::Error {
    anyhow!("{}", error.message())
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
    for (set, modes) in report.sets.iter().filter(|_| report.sets.len() > 1) {
        println!("\n{set}");
        modes.iter().for_each(|(mode, figures)| line(mode, figures));
    }
    if report.kinds.len() > 1 {
        println!("\nfused, by question kind");
        report.kinds.iter().for_each(|(kind, figures)| line(kind, figures));
    }
}
