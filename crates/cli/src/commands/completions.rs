//! `toolcrib completions`: what a shell needs to complete our commands.

use anyhow::Result;
use clap::Args;
use clap_complete::Shell;

use crate::output;

/// Completions for a shell.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, mut command: clap::Command) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "toolcrib", &mut script);
    output::print(String::from_utf8_lossy(&script).trim_end())
}
