#!/usr/bin/env bash
# A tour of the command line on a temporary server, in a temporary folder.
# Usage: examples/tour.sh [path of the toolcrib binary]
set -euo pipefail

toolcrib=$(realpath "$(command -v "${1:-toolcrib}")")
folder=$(mktemp -d)
export TOOLCRIB_DATA="$folder/data"
mkdir "$folder/code" && cd "$folder/code"

"$toolcrib" serve --listen 127.0.0.1:0 > "$folder/ready" 2> "$folder/log" &
server=$!
trap 'kill "$server" && wait "$server"; rm -rf "$folder"' EXIT
for _ in $(seq 100); do grep -q ready "$folder/ready" && break; sleep 0.1; done
cat "$folder/ready"

echo; echo "== What an agent can use here"
"$toolcrib" tools

echo; echo "== A draft brick, through the same door that agents use"
"$toolcrib" call bricks.create_draft '{
  "name": "Tests come along",
  "type": "boolean",
  "evaluation_prompt": "Does every change of behaviour come with a test?"
}'
"$toolcrib" brick list

echo; echo "== A tenant with a project and a key of its own, which its launcher uses"
key=$("$toolcrib" org add "Acme Inc" --json 2> /dev/null | sed -n 's/.*"fullKey": "\(.*\)".*/\1/p')
TOOLCRIB_KEY="$key" "$toolcrib" project add default --root "$PWD"
TOOLCRIB_KEY="$key" "$toolcrib" brick list

echo; echo "== An agent in a session of its own: the file is there while it runs, and gone afterwards"
"$toolcrib" run --work-type chore -- sh -c 'ls -A; test -f {mcp-config}'
ls -A
"$toolcrib" session list --limit 1

echo; echo "== Everything in order?"
"$toolcrib" doctor
