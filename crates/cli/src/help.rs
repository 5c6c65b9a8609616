//! The longer help texts: what stands below the flags of a command. A line has at most 79 characters.

pub(crate) const START: &str = "\
Start here:
  toolcrib serve              start the server; it prints where everything is
  toolcrib connect claude     set Claude Code up here (or another client)
  toolcrib connect --print    print an MCP config that any client takes
  toolcrib tools              what an agent can use here
  toolcrib call kits.list     call a tool
  toolcrib doctor             check everything and say what to do
  toolcrib run -- claude --mcp-config {mcp-config}
                              run an agent in a session of its own

Without --url, commands find the server that runs on the data folder:
TOOLCRIB_DATA, else ~/.local/share/toolcrib.";

pub(crate) const SERVE: &str = "\
Examples:
  toolcrib serve
  toolcrib serve --data /var/lib/toolcrib --allow-root /srv/code
  toolcrib serve --listen 0.0.0.0:7420 --public-url https://crib.example
  TOOLCRIB_DATABASE_URL=postgres://crib@db/crib toolcrib serve

Every flag is an environment variable (--allow-host: TOOLCRIB_ALLOW_HOST) and
a key in toolcrib.toml (allow_host). The flag wins, then the environment, then
the file. toolcrib.example.toml shows every key; `--help` lists the limits too.

SIGTERM and Ctrl-C wait for calls under way; a second Ctrl-C does not.";

pub(crate) const CONNECT: &str = "\
Examples:
  toolcrib connect claude         writes .mcp.json: an entry that starts
                                  `toolcrib stdio`, without any secret in it
  toolcrib connect claude --url https://crib.example
                                  the same for a server elsewhere; the client
                                  then needs TOOLCRIB_KEY in its environment
  toolcrib connect codex --project web
                                  writes .codex/config.toml
  toolcrib connect vscode --http --ttl 8h
                                  writes .vscode/mcp.json with a session's url
                                  and key, readable by you only
  toolcrib connect --print        prints an MCP config with a session's key

Other entries in the file stay as they are. A file that cannot be read as JSON
or TOML, or is a link that leads out of this directory, is not touched. The
entry names the data folder when it is not ~/.local/share/toolcrib, because a
client may pass on no environment. An entry that expires says when, on stderr.";

pub(crate) const RUN: &str = "\
Examples:
  toolcrib run -- claude --mcp-config {mcp-config}
  toolcrib run --work-type bug_fix -- ./my-agent --mcp {mcp-url}

The agent's MCP config, with a key for this session only, is a file in the
current directory that only you can read. The agent finds it through
{mcp-config} in its arguments, or through its environment:
  TOOLCRIB_MCP_CONFIG   the file
  TOOLCRIB_MCP_URL      the session's door ({mcp-url})
  TOOLCRIB_MCP_TOKEN    the session's key
  TOOLCRIB_SESSION      the session's id ({session})
Your own keys (TOOLCRIB_KEY and the like) are not passed on.

When the agent ends, the session ends, the file is removed, and the agent's
exit code is ours. Its exit code is the session's outcome, which memory learns
from: accepted for 0, rework for any other. None when a signal stopped the
agent or this command, also when a shell tells so by 130 or 143. Say otherwise
with --outcome-on-success and --outcome-on-failure (`none` for none).

SIGINT, SIGTERM and SIGHUP are passed on. If this command itself is killed, a
watcher ends the agent and the session and removes the file.";

pub(crate) const STDIO: &str = "\
Example, as an entry of an MCP client (what `toolcrib connect` writes):
  {\"command\": \"toolcrib\", \"args\": [\"stdio\", \"--project\", \"web\"]}

Opens a session on the running server, or on one of its own if none runs on
the data folder (it then says so on stderr), and ends it when stdin ends. One JSON message a line; logs go
to stderr (TOOLCRIB_LOG=info shows more).";

pub(crate) const TOOLS: &str = "\
Examples:
  toolcrib tools
  toolcrib tools --project web --json";

pub(crate) const CALL: &str = "\
Examples:
  toolcrib call bricks.list '{\"limit\": 5}'
  toolcrib call bricks.create_draft @brick.json
  echo '{\"limit\": 5}' | toolcrib call kits.list - --json

Exits with 1 when the call fails or the tool says that it failed.";

pub(crate) const COMPLETIONS: &str = "\
Examples:
  source <(toolcrib completions bash)       in ~/.bashrc
  toolcrib completions fish > ~/.config/fish/completions/toolcrib.fish";

pub(crate) const DOCTOR: &str = "\
Examples:
  toolcrib doctor
  toolcrib doctor --url https://crib.example --key \"$KEY\" --json

Exits with 1 when something fails; a warning alone is no failure.";

pub(crate) const ORG: &str = "\
Examples:
  toolcrib org list
  toolcrib org add \"Acme Inc\"
  toolcrib org set acme-inc --graph on";

pub(crate) const PROJECT: &str = "\
Examples:
  toolcrib project list --org acme-inc
  toolcrib project add web --root .
  toolcrib project set web --graph on";

pub(crate) const KEY: &str = "\
Examples:
  toolcrib key add ci --scope sessions:write --expires 90d
  toolcrib key list --json
  toolcrib key revoke ci";

pub(crate) const SESSION: &str = "\
Examples:
  toolcrib session open --work-type bug_fix --ttl 8h --json
  toolcrib session list --state open
  toolcrib session end \"$SESSION\" --outcome accepted";

pub(crate) const AGENT: &str = "\
Examples:
  toolcrib agent add reviewer --scope bricks:read --tool bricks.list
  toolcrib agent set reviewer --disable
  toolcrib agent rotate reviewer --json
  cat agent.json | toolcrib agent token";

pub(crate) const USER: &str = "\
Examples:
  toolcrib user list --org acme-inc
  toolcrib user set ada@acme.example --role admin
  toolcrib user remove ada@acme.example";

pub(crate) const BRICK: &str = "\
Examples:
  toolcrib brick list --limit 20
  toolcrib brick show tone --json
  toolcrib brick publish tone

Agents draft bricks (`bricks.create_draft`). An owner or admin publishes them:
with the login that `toolcrib login` stored, or with --email and a password.";

pub(crate) const KIT: &str = "\
Examples:
  toolcrib kit list
  toolcrib kit show Replies --json
  toolcrib kit publish Replies

Agents draft kits (`kits.create_draft`). An owner or admin publishes them:
with the login that `toolcrib login` stored, or with --email and a password.";

pub(crate) const LOGIN: &str = "\
Examples:
  toolcrib login
  toolcrib login --url https://crib.example --email ada@acme.example
  pass show crib | toolcrib login --email ada@acme.example --password-stdin

`toolcrib user add` makes the person. The login is kept in a file that only
you can read, below $XDG_STATE_HOME or ~/.local/state, for twelve hours.";

pub(crate) const LOGOUT: &str = "\
Examples:
  toolcrib logout
  toolcrib logout --url https://crib.example";

pub(crate) const POLICY: &str = "\
Examples:
  toolcrib policy forbid --tool bricks.create_draft --agent ci-bot
  toolcrib policy explain --agent ci-bot --tool bricks.create_draft
  toolcrib policy list
  toolcrib policy show starter
  toolcrib policy put starter --file starter.cedar --log-only

A call needs a permit and no forbid; what cannot be decided is refused. A new
org starts with the policy `starter`, which permits its own tools. docs/policy.md
has the model and recipes.";

pub(crate) const AUDIT: &str = "\
Examples:
  toolcrib audit list --type call.refused --since 1h
  toolcrib audit list --follow
  toolcrib audit export --out audit.jsonl
  toolcrib audit jwks --out keys.json
  toolcrib audit checkpoint --out checkpoint.json
  toolcrib audit verify --log audit.jsonl --jwks keys.json

Every call, refusal and change is an entry: chained, signed, without gaps.
docs/audit.md says what is recorded, docs/audit-format.md how.";

pub(crate) const WEBHOOK: &str = "\
Examples:
  toolcrib webhook add https://hooks.example/toolcrib --event verb-error
  toolcrib webhook show https://hooks.example/toolcrib
  toolcrib webhook dead-letters https://hooks.example/toolcrib --json

Messages are signed; docs/hooks.md says how to verify them.";

pub(crate) const COSTS: &str = "\
Examples:
  toolcrib costs --since 24h
  toolcrib costs --by agent --since 7d --json";

pub(crate) const MEMORY: &str = "\
Examples:
  toolcrib memory search 'how do we store money'
  toolcrib memory list --agent label:builder --json
  toolcrib memory rollback --session ses_… --yes
  toolcrib memory export --format markdown > memory.md
  toolcrib memory export > memory.jsonl
  toolcrib memory import memory.jsonl --project other
  toolcrib memory report";

pub(crate) const GRAPH: &str = "\
Examples:
  toolcrib graph search 'who owns checkout'
  toolcrib graph list --agent label:builder --as-of 2026-11-01T00:00:00Z
  toolcrib graph suggest
  toolcrib graph merge ent_… ent_… --dry-run
  toolcrib graph rollback --session ses_… --yes
  toolcrib graph export > facts.jsonl
  toolcrib graph import facts.jsonl --project other

Importing states facts as agents do, for `label:import`; again changes nothing.";

pub(crate) const BACKUP: &str = "\
Examples:
  toolcrib backup /var/backups
  toolcrib backup crib.backup --data /var/lib/toolcrib --json
  toolcrib backup verify crib.backup

The server may run meanwhile: the backup holds everything that was
acknowledged before it began, at one point in time. It never holds server.json
or the master key. Keep the master key apart from the backups: a restore needs
it. docs/operating.md has schedules and moves.";

pub(crate) const RESTORE: &str = "\
Examples:
  toolcrib restore crib.backup --data /srv/crib --master-key-file master.key
  toolcrib restore crib.backup --database-url postgres://crib@db/crib
  toolcrib restore crib.backup --replace

Stop the server first. The whole backup is checked before anything changes:
checksums, row counts, audit trails, the schema, and that the master key opens
the secrets in it. A backup of one engine restores to the other.

API keys, agents, sessions and passwords work as they did when the backup was
taken, and so do admin keys of the servers that used the data.";

pub(crate) const EVAL: &str = "\
Examples:
  toolcrib eval recall --set memories.jsonl --set questions.jsonl
  toolcrib eval recall --set crates/knowledge/eval --split report --json";

pub(crate) const BENCH: &str = "\
Example:
  toolcrib bench doors --rounds 10 --orgs 0";
