//! The help texts shown below a command's flags. A line has at most 79 characters.

pub(crate) const START: &str = "\
Start here:
  toolcrib serve              start the server and print its URL
  toolcrib connect claude     set up Claude Code here (or another client)
  toolcrib connect --print    print an MCP config for any client
  toolcrib tools              list the tools that agents can use here
  toolcrib call kits.list     call a tool
  toolcrib doctor             check the setup and suggest fixes
  toolcrib run -- claude --mcp-config {mcp-config}
                              run an agent in a new session

Without --url, commands use the server that runs on the data folder. That is
TOOLCRIB_DATA, or else $XDG_DATA_HOME/toolcrib or ~/.local/share/toolcrib.";

pub(crate) const SERVE: &str = "\
Examples:
  toolcrib serve
  toolcrib serve --data /var/lib/toolcrib --allow-root /srv/code
  toolcrib serve --listen 0.0.0.0:7420 --public-url https://crib.example
  TOOLCRIB_DATABASE_URL=postgres://crib@db/crib toolcrib serve

Every flag is also an environment variable (--allow-host: TOOLCRIB_ALLOW_HOST)
and a key in toolcrib.toml (allow_host). Flags override the environment, which
overrides the file. toolcrib.example.toml shows every key. `--help` also lists
the limits.

SIGTERM, SIGHUP (a closed terminal) and Ctrl-C wait for running calls. A second
Ctrl-C stops at once. With `nohup`, the server ignores SIGHUP.";

pub(crate) const CONNECT: &str = "\
Examples:
  toolcrib connect claude         writes .mcp.json: an entry that starts
                                  `toolcrib stdio` and holds no secret
  toolcrib connect claude --url https://crib.example
                                  the same for a remote server; the client
                                  needs TOOLCRIB_KEY in its environment
  toolcrib connect codex --project web
                                  writes .codex/config.toml
  toolcrib connect vscode --http --ttl 8h
                                  writes .vscode/mcp.json with a session's URL
                                  and key; only you can read the file
  toolcrib connect --print        prints an MCP config with a session's key

Other entries in the file stay unchanged. A file is not touched if it is not
valid JSON or TOML, or if it is a link to a place outside this directory. The
entry names the data folder unless it is ~/.local/share/toolcrib, because some
clients pass on no environment variables. If the entry expires, the time is
printed on stderr.";

pub(crate) const RUN: &str = "\
Examples:
  toolcrib run -- claude --mcp-config {mcp-config}
  toolcrib run --work-type bug_fix -- ./my-agent --mcp {mcp-url}

The MCP config is written to a file in the current directory that only you can
read. It holds a key for this session only. Pass it to the agent with these
placeholders in its arguments, or let the agent read its environment:
  {mcp-config}  TOOLCRIB_MCP_CONFIG   path of the config file
  {mcp-url}     TOOLCRIB_MCP_URL      URL of the session
                TOOLCRIB_MCP_TOKEN    key of the session
  {session}     TOOLCRIB_SESSION      id of the session
Your own keys (such as TOOLCRIB_KEY) are not passed on.

When the agent exits, the session ends, the file is removed, and this command
exits with the agent's exit code. The exit code also sets the outcome of the
session, which adjusts memory ranking: accepted for 0, rework for any other. No
outcome is set if a signal stopped the agent or this command (exit codes 130
and 143 count as signals). Change this with --outcome-on-success and
--outcome-on-failure; `none` sets no outcome.

SIGINT, SIGTERM and SIGHUP are passed on to the agent. If this command is
killed, a watcher stops the agent, ends the session and removes the file.";

pub(crate) const STDIO: &str = "\
Example of an MCP client entry, as `toolcrib connect` writes it:
  {\"command\": \"toolcrib\", \"args\": [\"stdio\", \"--project\", \"web\"]}

Opens a session on the running server and ends it when stdin closes. If no
server runs on the data folder at the start, it starts an embedded one and says
so on stderr. If the running server goes away, requests wait up to 30 seconds
for it to come back, then fail with a retryable error. Each line is one JSON
message. Logs go to stderr (TOOLCRIB_LOG=info shows more).";

pub(crate) const TOOLS: &str = "\
Examples:
  toolcrib tools
  toolcrib tools --project web --json";

pub(crate) const CALL: &str = "\
Examples:
  toolcrib call bricks.list '{\"limit\": 5}'
  toolcrib call bricks.create_draft @brick.json
  echo '{\"limit\": 5}' | toolcrib call kits.list - --json

Exits with 1 if the call fails or the tool reports an error.";

pub(crate) const COMPLETIONS: &str = "\
Examples:
  source <(toolcrib completions bash)       # in ~/.bashrc
  toolcrib completions fish > ~/.config/fish/completions/toolcrib.fish";

pub(crate) const DOCTOR: &str = "\
Examples:
  toolcrib doctor
  toolcrib doctor --url https://crib.example --key \"$KEY\" --json

Exits with 1 if a check fails. Warnings do not count as failures.";

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

Agents draft bricks (`bricks.create_draft`). An owner or admin publishes them
after `toolcrib login`, or with --email and a password.";

pub(crate) const KIT: &str = "\
Examples:
  toolcrib kit list
  toolcrib kit show Replies --json
  toolcrib kit publish Replies

Agents draft kits (`kits.create_draft`). An owner or admin publishes them
after `toolcrib login`, or with --email and a password. Publishing a kit also
publishes its draft bricks.";

pub(crate) const LOGIN: &str = "\
Examples:
  toolcrib login
  toolcrib login --url https://crib.example --email ada@acme.example
  pass show crib | toolcrib login --email ada@acme.example --password-stdin

Create the user first with `toolcrib user add`. The login lasts twelve hours.
It is stored below $XDG_STATE_HOME or ~/.local/state, in a file that only you
can read.";

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

A call is allowed if a policy permits it and none forbids it. A call that
cannot be decided is refused. A new org starts with the policy `starter`, which
permits the built-in tools. docs/policy.md has the model and recipes.";

pub(crate) const AUDIT: &str = "\
Examples:
  toolcrib audit list --type call.refused --since 1h
  toolcrib audit list --follow
  toolcrib audit export --out audit.jsonl
  toolcrib audit jwks --out keys.json
  toolcrib audit checkpoint --out checkpoint.json
  toolcrib audit verify --log audit.jsonl --jwks keys.json

Every call, refusal and change is an entry. Entries are chained and signed, so
that gaps and edits are detected. docs/audit.md describes the entries,
docs/audit-format.md the file format.";

pub(crate) const WEBHOOK: &str = "\
Examples:
  toolcrib webhook add https://hooks.example/toolcrib --event verb-error
  toolcrib webhook show https://hooks.example/toolcrib
  toolcrib webhook dead-letters https://hooks.example/toolcrib --json

Messages are signed. docs/hooks.md shows how to verify them.";

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

An import states facts in the name of `label:import`. Importing the same file
again changes nothing.";

pub(crate) const CODE: &str = "\
Examples:
  toolcrib code tree src
  toolcrib code search 'where are retries decided'
  toolcrib code history src/main.rs --diff
  toolcrib code blame src/main.rs
  toolcrib code restore src/main.rs --version 3 --reason 'the retry was right'
  toolcrib code rollback --session ses_… --yes
  toolcrib code impact src/config.rs

Restoring and rolling back add versions, so that they can be undone too. What
others wrote since is kept; where it touches the undone writes, the file is
left alone and reported.";

pub(crate) const INDEX: &str = "\
Examples:
  toolcrib index
  toolcrib index --watch
  toolcrib index --json

The server indexes a project on first use and follows changes on disk. This
command compares all files with the disk, and waits until search covers them.";

pub(crate) const DECISION: &str = "\
Examples:
  toolcrib decision list --agent label:builder
  toolcrib decision list --text retries --json
  toolcrib decision show dec_…

Agents record decisions with `record_decision`.";

pub(crate) const BACKUP: &str = "\
Examples:
  toolcrib backup /var/backups/
  toolcrib backup crib.backup --data /var/lib/toolcrib --json
  toolcrib backup verify crib.backup
  toolcrib backup - > crib.backup

If the target is a folder, it must exist; the file name is the current time.

The server can keep running. The backup is a consistent snapshot of all writes
acknowledged before it began. It never includes server.json or the master key.
Store the master key separately: a restore needs it. docs/operating.md covers
schedules and moving to another machine.";

pub(crate) const RESTORE: &str = "\
Examples:
  toolcrib restore crib.backup --data /srv/crib --master-key-file master.key
  toolcrib restore crib.backup --database-url postgres://crib@db/crib
  toolcrib restore crib.backup --replace
  age -d crib.backup.age | toolcrib restore - --data /srv/crib

Stop the server first. The whole backup is checked before anything changes:
checksums, row counts, audit trails, the schema, and whether the master key
decrypts the secrets. A SQLite backup can be restored to PostgreSQL, and the
other way round.

API keys, agents, sessions and passwords are restored as they were when the
backup was taken. Admin keys are not: each server creates its own at startup.";

pub(crate) const EVAL: &str = "\
Examples:
  toolcrib eval recall --set memories.jsonl --set questions.jsonl
  toolcrib eval recall --set crates/knowledge/eval/recall --split report --json
  toolcrib eval code --docs src
  toolcrib eval code --history . --questions 1000 --half report

recall: a path is a file of JSON lines, a folder of such files (one set), or a
folder of such folders (several sets, each measured alone and all together).
Questions are asked in their own `project`, a day after its last memory.

code: nobody has to write questions. With --docs, each doc comment asks for its
function in files without doc comments. With --history, the subject of each commit
asks for the files that it changed. Without --half, all questions are asked.";

pub(crate) const BENCH: &str = "\
Example:
  toolcrib bench doors --rounds 10 --orgs 0";
