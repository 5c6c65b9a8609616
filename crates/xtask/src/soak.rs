//! Long test runs: hours of `kill -9` under load, then hours of fuzzing.

use std::process::Command;

use anyhow::{Result, bail};

use crate::root;

/// The version of cargo-fuzz that runs the targets.
const CARGO_FUZZ: &str = "0.13.2";

/// Every fuzz target, by the name of its file in `fuzz/fuzz_targets`.
pub const FUZZ_TARGETS: [&str; 4] = ["audit_line", "message", "policy", "request"];

/// Runs the `kill -9` test for `rounds`, then each fuzz target for `fuzz_minutes`.
pub fn run(rounds: u32, fuzz_minutes: u64) -> Result<()> {
    let kill_nine = Command::new("cargo")
        .args(["test", "--release", "--package", "cli", "--test", "it", "kill_nine", "--", "--nocapture"])
        .env("TOOLCRIB_SOAK_ROUNDS", rounds.to_string())
        .current_dir(root())
        .status()?;
    if !kill_nine.success() {
        bail!("the kill -9 test failed");
    }
    ensure_cargo_fuzz()?;
    for target in FUZZ_TARGETS {
        let seconds = fuzz_minutes * 60;
        let fuzzed = Command::new("cargo")
            .args(["fuzz", "run", target, "--", &format!("-max_total_time={seconds}"), "-max_len=65536"])
            // The pinned toolchain is stable, but the sanitizers of cargo-fuzz need unstable options.
            .env("RUSTC_BOOTSTRAP", "1")
            .current_dir(root().join("fuzz"))
            .status()?;
        if !fuzzed.success() {
            bail!("fuzzing `{target}` found a failure; see fuzz/artifacts/{target}");
        }
    }
    Ok(())
}

/// Installs cargo-fuzz if it is missing, so that the run works on a new machine.
fn ensure_cargo_fuzz() -> Result<()> {
    let present = Command::new("cargo").args(["fuzz", "--version"]).output()?.status.success();
    if !present && !Command::new("cargo").args(["install", "cargo-fuzz", "--locked", "--version", CARGO_FUZZ]).status()?.success()
    {
        bail!("could not install cargo-fuzz; run `cargo install cargo-fuzz`");
    }
    Ok(())
}
