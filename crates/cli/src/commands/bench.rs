//! `toolcrib bench`: measures the server, mostly as ratios to a baseline measured in the same run.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, Result};
use bench::{
    AuditOptions, CodeOptions, DoorsOptions, GovernanceOptions, GraphOptions, LoadOptions, MemoryOptions, Report, SearchOptions,
};
use clap::{Args, Subcommand};

use crate::output;

/// Runs benchmarks on a temporary server with a temporary data folder.
#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Compare the MCP endpoints with a bare HTTP echo server
    #[command(
        after_help = "Exits with 1 if a result misses its target. Use a release build; debug builds give meaningless results."
    )]
    Doors {
        /// Rounds; in each, the server and the baselines take turns
        #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
        rounds: u32,
        /// Orgs to create for the last measurement; 0 skips it
        #[arg(long, default_value_t = 10_000)]
        orgs: u32,
        /// Print the results as JSON
        #[arg(long)]
        json: bool,
    },
    /// Run many clients; measure calls per second, P50, P99, failed calls and peak memory
    #[command(
        after_help = "Exits with 1 if a result misses its target. Use a release build; debug builds give meaningless results."
    )]
    Load {
        /// Clients, each with one call in flight
        #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u16).range(1..=1_000))]
        clients: u16,
        /// Seconds per phase; in the first phase clients call as fast as they can, in the second at a fixed rate
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
        seconds: u64,
        /// Calls per second in the second phase [default: half of what the first phase reached]
        #[arg(long, value_name = "N")]
        rate: Option<f64>,
        /// Print the results as JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure how much access checks, policies and the audit trail add to a call
    #[command(
        after_help = "Exits with 1 if a result misses its target. Use a release build; debug builds give meaningless results."
    )]
    Governance {
        /// Rounds; in each, the variants take turns, and the median counts
        #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
        rounds: u32,
        /// Entries in the audit trail to verify
        #[arg(long, default_value_t = 50_000)]
        entries: u64,
        /// Print the results as JSON
        #[arg(long)]
        json: bool,
    },
    /// List a long audit trail with every filter, and export it
    #[command(
        after_help = "Exits with 1 if a result misses its target. Use a release build; debug builds give meaningless results."
    )]
    Audit {
        /// Entries in the audit trail
        #[arg(long, default_value_t = 1_000_000)]
        entries: u64,
        /// Requests per result
        #[arg(long, default_value_t = 200)]
        requests: usize,
        /// Print the results as JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure writing and searching memory, and compare with another server
    #[command(
        after_help = "Exits with 1 if a result misses its target. Use a release build; debug builds give meaningless results.\n\
                            Try --peer 'npx --yes @modelcontextprotocol/server-memory'."
    )]
    Memory {
        /// Observations to search
        #[arg(long, default_value_t = 10_000)]
        observations: usize,
        /// Queries per result
        #[arg(long, default_value_t = 300)]
        questions: usize,
        /// Additional idle projects
        #[arg(long, default_value_t = 1_000)]
        projects: usize,
        /// Command that starts another MCP memory server on stdio, to compare with
        #[arg(long, value_name = "COMMAND")]
        peer: Option<String>,
        /// Print the results as JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure the parts of the search engine: embedding, vector search and word search
    #[command(
        after_help = "Exits with 1 if a result misses its target. Use a release build; debug builds give meaningless results."
    )]
    Search {
        /// Queries per result
        #[arg(long, default_value_t = 300)]
        questions: usize,
        /// Items in the large indexes
        #[arg(long, default_value_t = 100_000)]
        items: usize,
        /// Print the results as JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure walks over a large knowledge graph, and the graph tools over HTTP
    #[command(
        after_help = "Exits with 1 if a result misses its target. Use a release build; debug builds give meaningless results.\n\
                            A million triplets take some minutes and gigabytes; try --triplets 100000 first."
    )]
    Graph {
        /// Triplets in the largest graph; the medium one has a tenth, the small one a two-hundredth
        #[arg(long, default_value_t = 1_000_000)]
        triplets: usize,
        /// Queries per result
        #[arg(long, default_value_t = 300)]
        questions: usize,
        /// Print the results as JSON
        #[arg(long)]
        json: bool,
    },
    /// Index a generated repository; measure the index and the code tools over HTTP
    #[command(
        after_help = "Exits with 1 if a result misses its target. Use a release build; debug builds give meaningless results.\n\
                            The repository has Python, TypeScript, Rust and Go files, the same in every run. An index is compared with\n\
                            a bare parse of its files, a call with a no-op tool, a write with bare syncs. Try --files 500 first."
    )]
    Code {
        /// Source files of the repository
        #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(20..=100_000))]
        files: u32,
        /// Calls per result
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=3_000))]
        rounds: u32,
        /// Print the results as JSON
        #[arg(long)]
        json: bool,
    },
    /// The baseline: answers every POST with the contents of a file
    #[command(hide = true)]
    Echo {
        #[arg(long)]
        listen: SocketAddr,
        #[arg(long)]
        answer: PathBuf,
    },
}

/// Runs a benchmark. Returns whether every result meets its target.
pub(crate) async fn run(args: BenchArgs) -> Result<bool> {
    match args.what {
        What::Echo { listen, answer } => bench::echo(listen, &answer).await.map(|()| true),
        What::Doors { rounds, orgs, json } => {
            show(&bench::doors(&DoorsOptions { binary: this_binary()?, rounds, orgs }).await?, json)
        }
        What::Load { clients, seconds, rate, json } => {
            show(&bench::load(&LoadOptions { binary: this_binary()?, clients: clients.into(), seconds, rate }).await?, json)
        }
        What::Audit { entries, requests, json } => {
            show(&bench::audit(&AuditOptions { binary: this_binary()?, entries, requests }).await?, json)
        }
        What::Memory { observations, questions, projects, peer, json } => {
            let options = MemoryOptions { binary: this_binary()?, observations, questions, projects, peer };
            show(&bench::memory(&options).await?, json)
        }
        What::Search { questions, items, json } => show(&bench::search(&SearchOptions { questions, items })?, json),
        What::Graph { triplets, questions, json } => {
            show(&bench::graph(&GraphOptions { binary: this_binary()?, triplets, rounds: questions }).await?, json)
        }
        What::Code { files, rounds, json } => {
            show(&bench::code(&CodeOptions { binary: this_binary()?, files: files as usize, rounds }).await?, json)
        }
        What::Governance { rounds, entries, json } => {
            show(&bench::governance(&GovernanceOptions { binary: this_binary()?, rounds, entries }).await?, json)
        }
    }
}

fn this_binary() -> Result<PathBuf> {
    std::env::current_exe().context("cannot find the path of this binary")
}

fn show(report: &Report, json: bool) -> Result<bool> {
    let text = if json { serde_json::to_string_pretty(report)? } else { report.to_string() };
    output::print(text.trim_end())?;
    Ok(report.figures.iter().all(|figure| figure.met))
}
