#!/usr/bin/env bash
# Two agents in two sessions: one saves five notes, the other finds them in other words. Then another project imports them. Uses a
# temporary server.
# Usage: examples/memory.sh [path of the toolcrib binary]
set -euo pipefail

toolcrib=$(realpath "$(command -v "${1:-toolcrib}")")
folder=$(mktemp -d)
export TOOLCRIB_DATA="$folder/data"
mkdir "$folder/code" && cd "$folder/code"

"$toolcrib" serve --listen 127.0.0.1:0 > "$folder/ready" 2> "$folder/log" &
server=$!
trap 'kill "$server" 2> /dev/null && wait "$server"; rm -rf "$folder"' EXIT
for _ in $(seq 100); do grep -q ready "$folder/ready" && break; sleep 0.1; done

remember() { "$toolcrib" call af_memory_remember "{\"content\": \"$1\", \"type\": \"$2\"}" > /dev/null; }
recall() { "$toolcrib" call af_memory_recall "{\"query\": \"$1\", \"workType\": \"chore\"}"; }

echo "== One agent remembers five things"
remember "We store money as integer cents: floats lost a cent in invoice totals" decision
remember "The staging database is wiped every night at three" fact
remember "Use pnpm: the lock file of npm breaks the build machine" convention
remember "Login tokens expire after fifteen minutes and there is no refresh" fact
remember "The checkout test fails when the clock passes midnight" error
# The server computes vectors in the background. Wait for them.
until "$toolcrib" memory report --json | grep -q '"waiting": 0'; do sleep 0.1; done

echo "== Another asks in other words"
recall "how are prices represented" | sed -n '4p'
recall "for how long does a user stay signed in" | sed -n '4p'

echo "== Another project takes it in, under other names"
"$toolcrib" project add shop > /dev/null
"$toolcrib" memory export > "$folder/memory.jsonl"
"$toolcrib" memory import "$folder/memory.jsonl" --project shop
"$toolcrib" memory import "$folder/memory.jsonl" --project shop
"$toolcrib" memory report --project shop | sed -n '/^agents/,+2p'
