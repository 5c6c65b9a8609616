//! The command line: every command and its arguments, parsed by clap.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::{
    agent, audit, backup, bench, brick, code, completions, connect, costs, decision, doctor, eval, graph, index, key, login, memory,
    org, policy, project, run, serve, session, stdio, tools, user, webhook,
};
use crate::help;

/// Self-hosted MCP server for coding agents, with access control and an audit trail
#[derive(Parser, Debug)]
#[command(name = "toolcrib", version, after_help = help::START, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Parses the command line.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let words = with_help(words);
    let mut command = Cli::command();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        command = without_keys(command);
    }
    let mut read = command.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches_mut(&mut read).map_err(|error| error.format(&mut command))
}

/// Hides `--key` in the help of commands that need a login instead of a key.
fn without_keys(mut command: clap::Command) -> clap::Command {
    for group in ["brick", "kit"] {
        let flags = command.find_subcommand(group).into_iter().flat_map(clap::Command::get_arguments);
        let Some(key) = flags.into_iter().find(|flag| flag.get_id() == "key").cloned() else { continue };
        // The subcommand's own flag overrides the group's flag of the same name.
        let hide = |verb: clap::Command| verb.arg(key.clone().hide(true));
        for verb in ["version", "publish", "deprecate"] {
            command = command.mut_subcommand(group, |group| group.mut_subcommand(verb, hide));
        }
    }
    command
}

/// Turns the word `help` into `--help`: `toolcrib help kit publish` becomes `toolcrib kit publish --help`.
pub(crate) fn with_help(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let mut command = Cli::command();
    for place in 1..words.len() {
        let Some(word) = words.get(place).and_then(|word| word.to_str()).map(str::to_owned) else { break };
        if word == "help" && command.has_subcommands() {
            words.remove(place);
            words.push("--help".into());
            break;
        }
        // The words after the last command are its arguments, which may include `help`.
        match command.find_subcommand(&word).cloned() {
            Some(found) => command = found,
            None => break,
        }
    }
    words
}

/// Every command.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Start the server
    #[command(after_help = help::SERVE)]
    Serve(Box<serve::ServeArgs>),

    /// Set up an MCP client for this directory
    #[command(after_help = help::CONNECT)]
    Connect(Box<connect::ConnectArgs>),

    /// Run an agent in a new session, and clean up afterwards
    #[command(after_help = help::RUN)]
    Run(Box<run::RunArgs>),

    /// Speak MCP on stdin and stdout
    #[command(after_help = help::STDIO)]
    Stdio(Box<stdio::StdioArgs>),

    /// List the tools available in a session
    #[command(after_help = help::TOOLS)]
    Tools(Box<tools::ToolsArgs>),

    /// Call a tool
    #[command(after_help = help::CALL)]
    Call(Box<tools::CallArgs>),

    /// Log in with an email and password
    #[command(after_help = help::LOGIN, mut_arg("key", |key| key.hide(true)))]
    Login(login::LoginArgs),
    /// Log out and remove the stored login
    #[command(after_help = help::LOGOUT, mut_arg("key", |key| key.hide(true)))]
    Logout(login::LogoutArgs),

    /// Check the setup and suggest fixes
    #[command(after_help = help::DOCTOR)]
    Doctor(doctor::DoctorArgs),

    /// Manage orgs (tenants)
    #[command(after_help = help::ORG)]
    Org(org::OrgArgs),
    /// Manage projects
    #[command(after_help = help::PROJECT)]
    Project(project::ProjectArgs),
    /// Manage the API keys of an org
    #[command(after_help = help::KEY)]
    Key(key::KeyArgs),
    /// Open, list and end agent sessions
    #[command(after_help = help::SESSION)]
    Session(Box<session::SessionArgs>),
    /// Manage registered agents and their secrets
    #[command(after_help = help::AGENT)]
    Agent(agent::AgentArgs),
    /// Manage the people who can log in
    #[command(after_help = help::USER)]
    User(user::UserArgs),
    /// Review and publish bricks, the building blocks that agents draft
    #[command(after_help = help::BRICK)]
    Brick(brick::BrickArgs),
    /// Review and publish kits, which are sets of bricks
    #[command(after_help = help::KIT)]
    Kit(brick::KitArgs),

    /// Search and manage the memory of a project's agents
    #[command(after_help = help::MEMORY)]
    Memory(Box<memory::MemoryArgs>),
    /// Search and manage a project's knowledge graph
    #[command(after_help = help::GRAPH)]
    Graph(Box<graph::GraphArgs>),

    /// Browse, search and restore a project's code
    #[command(after_help = help::CODE)]
    Code(Box<code::CodeArgs>),
    /// Bring a project's code index up to date, and show the progress
    #[command(after_help = help::INDEX)]
    Index(index::IndexArgs),
    /// Show the decisions that agents recorded
    #[command(after_help = help::DECISION)]
    Decision(Box<decision::DecisionArgs>),

    /// Manage the policies that decide each call
    #[command(after_help = help::POLICY)]
    Policy(policy::PolicyArgs),
    /// List, export and verify the audit trail
    #[command(after_help = help::AUDIT)]
    Audit(audit::AuditArgs),

    /// Manage the webhooks that receive events
    #[command(after_help = help::WEBHOOK)]
    Webhook(webhook::WebhookArgs),
    /// Show call counts and durations
    #[command(after_help = help::COSTS)]
    Costs(costs::CostsArgs),

    /// Back up everything to one file, while the server runs
    #[command(after_help = help::BACKUP)]
    Backup(Box<backup::BackupArgs>),
    /// Restore a backup to SQLite or PostgreSQL
    #[command(after_help = help::RESTORE)]
    Restore(Box<backup::RestoreArgs>),

    /// Measure recall on your own memories and questions
    #[command(after_help = help::EVAL)]
    Eval(eval::EvalArgs),
    /// Measure the server's speed and memory use on this machine
    #[command(after_help = help::BENCH)]
    Bench(bench::BenchArgs),
    /// Print a shell completion script
    #[command(after_help = help::COMPLETIONS)]
    Completions(completions::CompletionsArgs),

    /// Watches a `toolcrib run` and cleans up if it is killed.
    #[command(name = run::WATCH_COMMAND, hide = true)]
    Watch,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_definitions_are_valid() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_works_as_a_subcommand() {
        let read = |line: &str| {
            let words = with_help(line.split(' ').map(OsString::from));
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        for (line, meant) in [
            ("toolcrib help", "toolcrib --help"),
            ("toolcrib help kit publish", "toolcrib kit publish --help"),
            ("toolcrib kit help", "toolcrib kit --help"),
            ("toolcrib kit help publish", "toolcrib kit publish --help"),
            ("toolcrib kit show help", "toolcrib kit show help"),
            ("toolcrib run -- agent help", "toolcrib run -- agent help"),
            ("toolcrib call help", "toolcrib call help"),
        ] {
            assert_eq!(read(line), meant);
            let parsed = Cli::try_parse_from(meant.split(' '));
            let is_help = parsed.is_err_and(|error| error.kind() == clap::error::ErrorKind::DisplayHelp);
            assert_eq!(is_help, meant.ends_with("--help"), "{meant}");
        }
    }

    #[test]
    fn commands_that_need_a_login_hide_the_key_flag() {
        let help = |line: &str| parse(line.split(' ').map(OsString::from)).unwrap_err().to_string();
        for line in ["toolcrib login --help", "toolcrib kit version --help", "toolcrib brick publish --help"] {
            assert!(!help(line).contains("--key") && help(line).contains("--url"), "{}", help(line));
        }
        assert!(help("toolcrib kit list --help").contains("--key"));
    }

    /// A terminal wraps longer lines. That does not hurt sentences, but it breaks columns and commands.
    #[test]
    fn help_texts_fit_a_terminal() {
        let mut open = vec![Cli::command()];
        while let Some(command) = open.pop() {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in text.lines().filter(|line| line.starts_with("  ")) {
                assert!(line.chars().count() <= 79, "{}: {line}", command.get_name());
            }
            open.extend(command.get_subcommands().cloned());
        }
    }

    /// A global flag and a positional argument with the same id would silently overwrite each other.
    #[test]
    fn subcommand_arguments_do_not_clash_with_global_flags() {
        for group in Cli::command().get_subcommands() {
            let shared = group.get_arguments().filter(|flag| flag.is_global_set()).map(clap::Arg::get_id).collect::<Vec<_>>();
            for verb in group.get_subcommands() {
                for argument in verb.get_arguments() {
                    assert!(!shared.contains(&argument.get_id()), "{} {}: {argument}", group.get_name(), verb.get_name());
                }
            }
        }
    }

    #[test]
    fn global_flags_work_after_the_subcommand() {
        let parsed = |words: &[&str]| Cli::try_parse_from(words).is_ok();
        assert!(parsed(&["toolcrib", "org", "list", "--json", "--url", "http://x", "--key", "k"]));
        assert!(parsed(&["toolcrib", "user", "add", "--email", "a@b", "--org", "o", "--role", "owner", "--password-stdin"]));
        assert!(parsed(&["toolcrib", "run", "--work-type", "chore", "--", "agent", "--flag"]));
        assert!(!parsed(&["toolcrib", "run"]));
        assert!(!parsed(&["toolcrib", "connect"]));
        assert!(parsed(&["toolcrib", "connect", "--print"]));
    }
}
