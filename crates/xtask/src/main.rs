//! `cargo run -p xtask -- generate | soak`

use clap::{Parser, Subcommand};

/// Development tasks of the project
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Generate the documents
    Generate,
    /// Run the kill -9 test, then each fuzz target
    Soak {
        /// Rounds of the kill -9 test
        #[arg(long, default_value_t = 1_000)]
        rounds: u32,
        /// Minutes for each fuzz target
        #[arg(long, default_value_t = 30)]
        fuzz_minutes: u64,
    },
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().task {
        Task::Generate => xtask::generate::write(),
        Task::Soak { rounds, fuzz_minutes } => xtask::soak::run(rounds, fuzz_minutes),
    }
}
