//! `cargo run -p xtask -- generate | soak`

use clap::{Parser, Subcommand};

/// The project's own chores.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Writes the generated documents anew.
    Generate,
    /// Runs the kill -9 marathon, then each fuzz target.
    Soak {
        /// Rounds of the marathon.
        #[arg(long, default_value_t = 1_000)]
        rounds: u32,
        /// Minutes for each fuzz target.
        #[arg(long, default_value_t = 30)]
        fuzz_minutes: u64,
    },
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().chore {
        Chore::Generate => xtask::generate::write(),
        Chore::Soak { rounds, fuzz_minutes } => xtask::soak::run(rounds, fuzz_minutes),
    }
}
