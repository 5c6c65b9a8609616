//! `toolcrib completions`: what a shell needs to complete our commands.

use anyhow::Result;
use clap::{Args, Command};
use clap_complete::Shell;

use crate::output;

/// Completions for a shell.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, command: &Command) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut shown(command), "toolcrib", &mut script);
    output::print(String::from_utf8_lossy(&script).trim_end())
}

/// The command without those below it that help does not show either: the scripts would offer them.
fn shown(command: &Command) -> Command {
    // Clap keeps names for ever; this process ends right after.
    let for_ever = |text: &str| -> &'static str { text.to_owned().leak() };
    let copy = Command::new(for_ever(command.get_name()))
        .disable_help_subcommand(true)
        .about(command.get_about().cloned().unwrap_or_default())
        .args(command.get_arguments())
        .subcommands(command.get_subcommands().filter(|below| !below.is_hide_set()).map(shown));
    match command.get_version() {
        Some(version) => copy.version(for_ever(version)),
        None => copy,
    }
}
