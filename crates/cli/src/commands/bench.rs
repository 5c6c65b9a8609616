//! `toolcrib bench`: what the server costs, as ratios to a yardstick measured in the same run.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, Result};
use bench::{AuditOptions, DoorsOptions, GovernanceOptions, GraphOptions, LoadOptions, MemoryOptions, Report, SearchOptions};
use clap::{Args, Subcommand};

use crate::output;

/// Measures a server of its own, in a folder of its own.
#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// The doors beside a bare HTTP echo, writers that share commits, memory and start-up
    #[command(after_help = "Exit code 1 when a figure misses its aim. Build with --release, or the figures mean nothing.")]
    Doors {
        /// Rounds in which the server and its yardsticks take turns
        #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
        rounds: u32,
        /// Orgs to make before the last measurement; 0 leaves it out
        #[arg(long, default_value_t = 10_000)]
        orgs: u32,
        /// Print the figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// A fleet of clients: calls in a second, P50, P99, failed calls and peak memory
    #[command(after_help = "Exit code 1 when a figure misses its aim. Build with --release, or the figures mean nothing.")]
    Load {
        /// Clients, each with one call under way
        #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u16).range(1..=1_000))]
        clients: u16,
        /// How long each of the two loads lasts: each client as fast as it is answered, then all at a fixed rate
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
        seconds: u64,
        /// Calls in a second of the load at a fixed rate [default: half of what the first load reached]
        #[arg(long, value_name = "N")]
        rate: Option<f64>,
        /// Print the figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// What the gate, policies and the audit trail add to a call
    #[command(after_help = "Exit code 1 when a figure misses its aim. Build with --release, or the figures mean nothing.")]
    Governance {
        /// Rounds in which what is compared takes turns, and of which the median counts
        #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
        rounds: u32,
        /// Entries of the trail that is verified
        #[arg(long, default_value_t = 50_000)]
        entries: u64,
        /// Print the figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// A long audit trail: its pages through every filter, and its export
    #[command(after_help = "Exit code 1 when a figure misses its aim. Build with --release, or the figures mean nothing.")]
    Audit {
        /// Entries of the trail
        #[arg(long, default_value_t = 1_000_000)]
        entries: u64,
        /// Requests for each figure
        #[arg(long, default_value_t = 200)]
        requests: usize,
        /// Print the figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// Memory: callers that remember, one that asks, beside another server
    #[command(after_help = "Exit code 1 when a figure misses its aim. Build with --release, or the figures mean nothing.\n\
                            Try --peer 'npx --yes @modelcontextprotocol/server-memory'.")]
    Memory {
        /// Observations to ask among
        #[arg(long, default_value_t = 10_000)]
        observations: usize,
        /// Questions for each figure
        #[arg(long, default_value_t = 300)]
        questions: usize,
        /// Projects that nobody asks
        #[arg(long, default_value_t = 1_000)]
        projects: usize,
        /// Command that starts another MCP memory server on its standard input and output, to be asked the same
        #[arg(long, value_name = "COMMAND")]
        peer: Option<String>,
        /// Print the figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// The parts of the search engine: vectors of questions, nearest vectors, words
    #[command(after_help = "Exit code 1 when a figure misses its aim. Build with --release, or the figures mean nothing.")]
    Search {
        /// Questions for each figure
        #[arg(long, default_value_t = 300)]
        questions: usize,
        /// Items of the large indexes
        #[arg(long, default_value_t = 100_000)]
        items: usize,
        /// Print the figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// Walks over a knowledge graph of a million triplets, beside plain lists
    #[command(after_help = "Exit code 1 when a figure misses its aim. Build with --release, or the figures mean nothing.")]
    Graph {
        /// Triplets
        #[arg(long, default_value_t = 1_000_000)]
        triplets: usize,
        /// Questions for each figure
        #[arg(long, default_value_t = 300)]
        questions: usize,
        /// Print the figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// The yardstick: answers every POST with the bytes of a file
    #[command(hide = true)]
    Echo {
        #[arg(long)]
        listen: SocketAddr,
        #[arg(long)]
        answer: PathBuf,
    },
}

/// Says whether every figure meets its aim.
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
        What::Graph { triplets, questions, json } => show(&bench::graph(&GraphOptions { triplets, rounds: questions })?, json),
        What::Governance { rounds, entries, json } => {
            show(&bench::governance(&GovernanceOptions { binary: this_binary()?, rounds, entries }).await?, json)
        }
    }
}

fn this_binary() -> Result<PathBuf> {
    std::env::current_exe().context("cannot find this binary")
}

fn show(report: &Report, json: bool) -> Result<bool> {
    let text = if json { serde_json::to_string_pretty(report)? } else { report.to_string() };
    output::print(text.trim_end())?;
    Ok(report.figures.iter().all(|figure| figure.met))
}
