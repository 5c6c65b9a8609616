//! The command line as clap reads it.

use clap::{Parser, Subcommand};

use crate::commands::{
    agent, brick, completions, connect, doctor, key, org, project, run, serve, session, stdio, tools, user,
};

const EXAMPLES: &str = "Start here:
  toolcrib serve                      start the server; the first start prints where everything is
  toolcrib connect claude             set Claude Code up for this directory (or codex, cursor, vscode)
  toolcrib connect --print            print an MCP config that any client takes
  toolcrib tools                      what an agent can use here
  toolcrib call kits.list             call a tool
  toolcrib run -- claude --mcp-config {mcp-config}
                                      run an agent in a session of its own
  toolcrib doctor                     check everything and say what to do

Without --url, commands find the server that runs on the data folder (TOOLCRIB_DATA, else ~/.local/share/toolcrib).";

/// One server with one governed MCP endpoint per session, for coding agents
#[derive(Parser, Debug)]
#[command(name = "toolcrib", version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Every command. `toolcrib bench` joins here as one more variant, with the arguments of the crate `bench`.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Start the server
    #[command(after_help = "Examples:
  toolcrib serve
  toolcrib serve --data /var/lib/toolcrib --listen 0.0.0.0:7420 --public-url https://crib.example --allow-root /srv/code
  TOOLCRIB_DATABASE_URL=postgres://crib@db/crib toolcrib serve

Every flag is an environment variable (--allow-host: TOOLCRIB_ALLOW_HOST) and a key in toolcrib.toml (allow_host); the flag
wins, then the environment, then the file. toolcrib.example.toml shows every key. `--help` also lists the limits.
SIGTERM and Ctrl-C wait for calls under way; a second Ctrl-C does not.")]
    Serve(Box<serve::ServeArgs>),

    /// Set an MCP client up for this directory
    #[command(after_help = "Examples:
  toolcrib connect claude              writes .mcp.json; the entry starts `toolcrib stdio`, no secret in it
  toolcrib connect codex --project web writes .codex/config.toml
  toolcrib connect vscode --http --ttl 8h
                                       writes .vscode/mcp.json with a session's url and key, readable by you only
  toolcrib connect --print             prints an MCP config over HTTP, with a session's key

Other entries in the file stay as they are; a file that cannot be read as JSON or TOML is not touched.")]
    Connect(Box<connect::ConnectArgs>),

    /// Run an agent in a session of its own, and clean up after it
    #[command(after_help = "Examples:
  toolcrib run -- claude --mcp-config {mcp-config}
  toolcrib run --work-type bug_fix --outcome-on-success accepted -- ./my-agent --mcp {mcp-url}

The agent finds the session's MCP config, with a key for this session only, in a file in the current directory that only
you can read: {mcp-config} in its arguments, TOOLCRIB_MCP_CONFIG in its environment, beside TOOLCRIB_MCP_URL,
TOOLCRIB_MCP_TOKEN and TOOLCRIB_SESSION. Your own keys (TOOLCRIB_KEY and the like) are not passed on.

When the agent ends, the session ends and the file is removed, and its exit code is ours. A session ends without an outcome
unless you name one: an exit code alone does not tell whether the work was any good. SIGINT, SIGTERM and SIGHUP are passed
on. If this command itself is killed, a watcher ends the agent and the session and removes the file.")]
    Run(Box<run::RunArgs>),

    /// Speak MCP on stdin and stdout
    #[command(after_help = "Example, as an entry of an MCP client (what `toolcrib connect` writes):
  {\"command\": \"toolcrib\", \"args\": [\"stdio\", \"--project\", \"web\"]}

Opens a session on the running server, or on one of its own if none runs on the data folder, and ends it with stdin.
One JSON message a line; logs go to stderr (TOOLCRIB_LOG=info).")]
    Stdio(Box<stdio::StdioArgs>),

    /// List the tools that a session has
    #[command(after_help = "Examples:\n  toolcrib tools\n  toolcrib tools --project web --json")]
    Tools(Box<tools::ToolsArgs>),

    /// Call a tool
    #[command(after_help = "Examples:
  toolcrib call bricks.list '{\"limit\": 5}'
  toolcrib call bricks.create_draft @brick.json
  echo '{\"limit\": 5}' | toolcrib call kits.list - --json")]
    Call(Box<tools::CallArgs>),

    /// Check the setup and say what to do
    Doctor(doctor::DoctorArgs),

    /// Orgs: tenants
    Org(org::OrgArgs),
    /// Projects: what agents work in
    Project(project::ProjectArgs),
    /// API keys of an org
    Key(key::KeyArgs),
    /// Sessions: agents' runs
    Session(Box<session::SessionArgs>),
    /// Agents: machine identities
    Agent(agent::AgentArgs),
    /// People who log in to the console
    User(user::UserArgs),
    /// Bricks: reviewed building blocks
    Brick(brick::BrickArgs),
    /// Kits: sets of bricks
    Kit(brick::BrickArgs),

    /// Print completions for a shell
    #[command(after_help = "Example:\n  toolcrib completions bash > ~/.local/share/bash-completion/completions/toolcrib")]
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
