//! `toolcrib eval code`: measures code search on a folder's doc comments or on a repository's history.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use code::evaluation::{Evaluation, EvaluationSet, Half, Report};

use super::embedder::Watched;
use super::plain;
use crate::config::EmbedArgs;
use crate::output;

#[derive(Args, Debug)]
#[group(id = "source", required = true, multiple = false, args = ["docs", "history"])]
pub(super) struct CodeArgs {
    /// Folder of source files: each doc comment asks for its function. The comments are removed from what is searched
    #[arg(long, value_name = "DIR")]
    docs: Option<PathBuf>,
    /// Git repository: the subject of each commit asks for the files that it changed, in the files of HEAD. Merges, commits of more than
    /// 20 files and files that are gone are left out
    #[arg(long, value_name = "DIR")]
    history: Option<PathBuf>,
    /// Ask at most this many questions, chosen by chance but always the same
    #[arg(long, value_name = "N", default_value_t = 500)]
    questions: usize,
    /// Ask only one half of these questions: choose settings on `tune`, report results on `report`
    #[arg(long, value_name = "HALF")]
    half: Option<HalfName>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    embed: EmbedArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum HalfName {
    Tune,
    Report,
}

pub(super) async fn run(args: CodeArgs) -> Result<()> {
    let endpoint = args.embed.endpoint()?;
    let json = args.json;
    let embedder = Arc::new(Watched::new(endpoint.as_ref()).await?);
    let report = tokio::task::spawn_blocking(move || measure(&args, &embedder)).await.context("the measurement stopped")??;
    if json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print(&report);
    }
    Ok(())
}

fn measure(args: &CodeArgs, embedder: &Arc<Watched>) -> Result<Report> {
    output::progress("reading files");
    let mut set = match (&args.docs, &args.history) {
        (Some(folder), _) => EvaluationSet::documented(folder),
        (None, Some(folder)) => EvaluationSet::changed(folder),
        (None, None) => bail!("pass --docs DIR or --history DIR"),
    }
    .map_err(plain)?;
    set.choose(args.questions);
    if let Some(half) = args.half {
        set.only(match half {
            HalfName::Tune => Half::Tune,
            HalfName::Report => Half::Report,
        });
    }
    if set.questions() == 0 {
        output::progress("");
        bail!(
            "nothing there can be asked: it needs functions with doc comments (--docs) or commits of existing files (--history)"
        );
    }
    let progress = |done: usize, all: usize| output::progress(&format!("embedding {done} of {all}"));
    let evaluation = Evaluation::prepare(set, Arc::clone(embedder) as _, progress).map_err(plain)?;
    output::progress("asking questions");
    let report = evaluation.report().map_err(plain)?;
    output::progress("");
    embedder.check()?;
    Ok(report)
}

fn print(report: &Report) {
    println!("{} files, {} passages\n", report.files, report.passages);
    println!("{:<16} {:>9} {:>6} {:>6} {:>6}", "", "QUESTIONS", "MRR", "R@1", "R@10");
    for (mode, figures) in &report.modes {
        println!(
            "{mode:<16} {:>9} {:>6.3} {:>6.3} {:>6.3}",
            figures.questions, figures.mean_reciprocal_rank, figures.recall_at_1, figures.recall_at_10
        );
    }
}
