#!/usr/bin/env bash
# Forbids one tool for one agent, finds the refusal in the audit trail, and verifies the trail offline. Uses a temporary server.
# Usage: examples/policy_and_audit.sh [path of the toolcrib binary]
# Needs curl, Python 3 and the Python package `cryptography`.
set -euo pipefail

toolcrib=$(realpath "$(command -v "${1:-toolcrib}")")
examples=$(dirname "$(realpath "$0")")
folder=$(mktemp -d)
export TOOLCRIB_DATA="$folder/data"
mkdir "$folder/code" && cd "$folder/code"

"$toolcrib" serve --listen 127.0.0.1:0 > "$folder/ready" 2> "$folder/log" &
server=$!
trap 'kill "$server" 2> /dev/null && wait "$server"; rm -rf "$folder"' EXIT
for _ in $(seq 100); do grep -q ready "$folder/ready" && break; sleep 0.1; done
url=$(sed -n 's/^ *url *//p' "$folder/ready")

member() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
# Sends a request to the agent door and prints the answer.
ask() {
  curl -sS --noproxy '*' "$url/api/mcp" -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
    -H 'Accept: application/json, text/event-stream' -d "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"$1\", \"params\": $2}"
}
tools() { ask tools/list '{}' | python3 -c 'import json, sys; print(*(tool["name"] for tool in json.load(sys.stdin)["result"]["tools"]))'; }

echo "== An agent with two tools"
"$toolcrib" agent add ci-bot --scope bricks:read,bricks:create_draft --tool bricks.list,bricks.create_draft --json > "$folder/agent" 2> /dev/null
token=$(python3 -c 'import json, sys; agent = json.load(sys.stdin); print(json.dumps({name: agent[name] for name in ("agent_key", "agent_secret")}))' < "$folder/agent" |
  curl -sS --noproxy '*' "$url/api/agents/authenticate" -H 'Content-Type: application/json' -d @- | member access_token)
tools

echo; echo "== Forbid one of them: the next request no longer lists it"
"$toolcrib" policy forbid --tool bricks.create_draft --agent ci-bot
tools

echo; echo "== It calls it anyway"
ask tools/call '{"name": "bricks.create_draft", "arguments": {"name": "x", "type": "boolean", "evaluation_prompt": "y?"}}'; echo

echo; echo "== Why was it refused?"
"$toolcrib" policy explain --agent ci-bot --tool bricks.create_draft

echo; echo "== The audit trail has the refusal"
"$toolcrib" audit list --type call.refused

echo; echo "== Export the trail, the keys and a checkpoint"
"$toolcrib" audit export --out "$folder/audit.jsonl"
"$toolcrib" audit jwks --out "$folder/keys.json"
"$toolcrib" audit checkpoint --out "$folder/checkpoint.json"

echo; echo "== Verify without the server, twice"
kill "$server" && wait "$server" || true
cd "$folder" && unset TOOLCRIB_DATA
"$toolcrib" audit verify --log audit.jsonl --jwks keys.json --checkpoint checkpoint.json
python3 "$examples/verify_audit.py" audit.jsonl keys.json checkpoint.json

echo; echo "== A changed word is detected"
sed 's/call\.refused/call.completed/' audit.jsonl > forged.jsonl
"$toolcrib" audit verify --log forged.jsonl --jwks keys.json || echo "exit code $?"
