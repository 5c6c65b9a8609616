//! The command line as clap reads it.

use clap::{Parser, Subcommand};

use crate::commands::{
    agent, audit, backup, bench, brick, completions, connect, costs, doctor, eval, graph, key, login, memory, org, policy,
    project, run, serve, session, stdio, tools, user, webhook,
};
use crate::help;

/// One server with one governed MCP endpoint per session, for coding agents
#[derive(Parser, Debug)]
#[command(name = "toolcrib", version, after_help = help::START, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Every command. `toolcrib bench` joins here as one more variant, with the arguments of the crate `bench`.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Start the server
    #[command(after_help = help::SERVE)]
    Serve(Box<serve::ServeArgs>),

    /// Set an MCP client up for this directory
    #[command(after_help = help::CONNECT)]
    Connect(Box<connect::ConnectArgs>),

    /// Run an agent in a session of its own, and clean up after it
    #[command(after_help = help::RUN)]
    Run(Box<run::RunArgs>),

    /// Speak MCP on stdin and stdout
    #[command(after_help = help::STDIO)]
    Stdio(Box<stdio::StdioArgs>),

    /// List the tools that a session has
    #[command(after_help = help::TOOLS)]
    Tools(Box<tools::ToolsArgs>),

    /// Call a tool
    #[command(after_help = help::CALL)]
    Call(Box<tools::CallArgs>),

    /// Log in as a person, for what a person decides
    #[command(after_help = help::LOGIN)]
    Login(login::LoginArgs),
    /// End the login that `toolcrib login` stored
    #[command(after_help = help::LOGOUT)]
    Logout(login::LogoutArgs),

    /// Check the setup and say what to do
    #[command(after_help = help::DOCTOR)]
    Doctor(doctor::DoctorArgs),

    /// Orgs: tenants
    #[command(after_help = help::ORG)]
    Org(org::OrgArgs),
    /// Projects: what agents work in
    #[command(after_help = help::PROJECT)]
    Project(project::ProjectArgs),
    /// API keys of an org
    #[command(after_help = help::KEY)]
    Key(key::KeyArgs),
    /// Sessions: agents' runs
    #[command(after_help = help::SESSION)]
    Session(Box<session::SessionArgs>),
    /// Agents: machine identities
    #[command(after_help = help::AGENT)]
    Agent(agent::AgentArgs),
    /// People who log in to the console
    #[command(after_help = help::USER)]
    User(user::UserArgs),
    /// Bricks: building blocks that agents draft and people publish
    #[command(after_help = help::BRICK)]
    Brick(brick::BrickArgs),
    /// Kits: sets of bricks
    #[command(after_help = help::KIT)]
    Kit(brick::KitArgs),

    /// Memory: what a project's agents noted
    #[command(after_help = help::MEMORY)]
    Memory(Box<memory::MemoryArgs>),
    /// The knowledge graph: facts that a project's agents stated
    #[command(after_help = help::GRAPH)]
    Graph(Box<graph::GraphArgs>),

    /// Policies: who may call what
    #[command(after_help = help::POLICY)]
    Policy(policy::PolicyArgs),
    /// The audit trail: list, export and verify it, and its keys
    #[command(after_help = help::AUDIT)]
    Audit(audit::AuditArgs),

    /// Webhooks: where events are sent
    #[command(after_help = help::WEBHOOK)]
    Webhook(webhook::WebhookArgs),
    /// What calls came to
    #[command(after_help = help::COSTS)]
    Costs(costs::CostsArgs),

    /// Back up everything to one file, beside a running server
    #[command(after_help = help::BACKUP)]
    Backup(Box<backup::BackupArgs>),
    /// Restore a backup, on SQLite or PostgreSQL
    #[command(after_help = help::RESTORE)]
    Restore(Box<backup::RestoreArgs>),

    /// Measure recall on memories and questions of your own
    #[command(after_help = help::EVAL)]
    Eval(eval::EvalArgs),
    /// Measure what the server costs on this machine
    #[command(after_help = help::BENCH)]
    Bench(bench::BenchArgs),
    /// Print completions for a shell
    #[command(after_help = help::COMPLETIONS)]
    Completions(completions::CompletionsArgs),

    /// The watcher of a `toolcrib run`.
    #[command(name = run::WATCH_COMMAND, hide = true)]
    Watch,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    /// Longer lines are broken at a usual terminal's edge: no harm to a sentence, but to columns and commands.
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

    /// Two arguments with one id would overwrite each other, silently: a flag that holds everywhere below its command, and a
    /// positional argument of a verb.
    #[test]
    fn no_verb_has_an_argument_named_like_a_flag_of_its_group() {
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
    fn flags_of_a_group_are_taken_after_its_verb() {
        let parsed = |words: &[&str]| Cli::try_parse_from(words).is_ok();
        assert!(parsed(&["toolcrib", "org", "list", "--json", "--url", "http://x", "--key", "k"]));
        assert!(parsed(&["toolcrib", "user", "add", "--email", "a@b", "--org", "o", "--role", "owner", "--password-stdin"]));
        assert!(parsed(&["toolcrib", "run", "--work-type", "chore", "--", "agent", "--flag"]));
        assert!(!parsed(&["toolcrib", "run"]));
        assert!(!parsed(&["toolcrib", "connect"]));
        assert!(parsed(&["toolcrib", "connect", "--print"]));
    }
}
