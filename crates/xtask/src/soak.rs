//! The long runs: hours of `kill -9` under load, then hours of fuzzing.

use std::process::Command;

use anyhow::{Result, bail};

use crate::root;

/// The release of cargo-fuzz that the targets are run with.
const CARGO_FUZZ: &str = "0.13.2";

/// Every fuzz target, as its file in `fuzz/fuzz_targets` is called.
pub const FUZZ_TARGETS: [&str; 4] = ["audit_line", "message", "policy", "request"];

/// Runs the marathon, then each fuzz target for `fuzz_minutes`.
pub fn run(rounds: u32, fuzz_minutes: u64) -> Result<()> {
    let marathon = Command::new("cargo")
        .args(["test", "--release", "--package", "cli", "--test", "it", "kill_nine", "--", "--nocapture"])
        .env("TOOLCRIB_SOAK_ROUNDS", rounds.to_string())
        .current_dir(root())
        .status()?;
    if !marathon.success() {
        bail!("the marathon failed");
    }
    ensure_cargo_fuzz()?;
    for target in FUZZ_TARGETS {
        let seconds = fuzz_minutes * 60;
        let fuzzed = Command::new("cargo")
            .args(["fuzz", "run", target, "--", &format!("-max_total_time={seconds}"), "-max_len=65536"])
            // The pinned toolchain is a stable one; the sanitizers behind cargo-fuzz ask for more.
            .env("RUSTC_BOOTSTRAP", "1")
            .current_dir(root().join("fuzz"))
            .status()?;
        if !fuzzed.success() {
            bail!("fuzzing `{target}` found something: see fuzz/artifacts/{target}");
        }
    }
    Ok(())
}

/// What was installed by hand is not on the next machine.
fn ensure_cargo_fuzz() -> Result<()> {
    let present = Command::new("cargo").args(["fuzz", "--version"]).output()?.status.success();
    if !present && !Command::new("cargo").args(["install", "cargo-fuzz", "--locked", "--version", CARGO_FUZZ]).status()?.success()
    {
        bail!("cargo-fuzz cannot be installed: run `cargo install cargo-fuzz`");
    }
    Ok(())
}
