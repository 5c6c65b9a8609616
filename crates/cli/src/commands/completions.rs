//! `toolcrib completions`: prints shell completion scripts.

use anyhow::Result;
use clap::{Args, Command};
use clap_complete::Shell;

use crate::output;

/// Prints a shell completion script.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// Shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, command: &Command) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut shown(command), "toolcrib", &mut script);
    output::print(String::from_utf8_lossy(&script).trim_end())
}

/// Copies a command without its hidden subcommands, which the scripts would offer.
fn shown(command: &Command) -> Command {
    // Clap needs static names. Leaking them is fine, because the process exits right after.
    let leaked = |text: &str| -> &'static str { text.to_owned().leak() };
    let copy = Command::new(leaked(command.get_name()))
        .disable_help_subcommand(true)
        .about(command.get_about().cloned().unwrap_or_default())
        .args(command.get_arguments())
        .subcommands(command.get_subcommands().filter(|below| !below.is_hide_set()).map(shown));
    match command.get_version() {
        Some(version) => copy.version(leaked(version)),
        None => copy,
    }
}
