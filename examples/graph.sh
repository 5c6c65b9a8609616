#!/usr/bin/env bash
# Two agents share a knowledge graph: one stores facts, the other finds a path between two entities and rates a fact. Uses a temporary
# server.
# Usage: examples/graph.sh [path of the toolcrib binary]
set -euo pipefail

toolcrib=$(realpath "$(command -v "${1:-toolcrib}")")
folder=$(mktemp -d)
export TOOLCRIB_DATA="$folder/data"
mkdir "$folder/code" && cd "$folder/code"

"$toolcrib" serve --listen 127.0.0.1:0 > "$folder/ready" 2> "$folder/log" &
server=$!
trap 'kill "$server" 2> /dev/null && wait "$server"; rm -rf "$folder"' EXIT
for _ in $(seq 100); do grep -q ready "$folder/ready" && break; sleep 0.1; done

builder() { "$toolcrib" call --agent-label builder "$@"; }
reviewer() { "$toolcrib" call --agent-label reviewer "$@"; }

echo "== One agent states what it has learned"
builder graph_ingest '{"triplets": [
  {"source": {"name": "checkout-service", "type": "service"}, "relationship": "stores carts in", "target": {"name": "Redis"}},
  {"source": {"name": "Redis"}, "relationship": "operated by", "target": {"name": "platform team"}, "functional": true},
  {"source": {"name": "platform team"}, "relationship": "led by", "target": {"name": "Noor"}, "functional": true}
]}'

echo "== Another asks what checkout and Noor have to do with one another, in its own spelling"
reviewer graph_path '{"from": "Checkout Service", "to": "noor"}' | sed 's/ \[.*//'

echo "== That was right: what helped counts for more from now on"
reviewer graph_improve '{"triplets": [{"source": "platform team", "relationship": "led by", "target": "Noor"}], "outcome": "accepted"}'

echo "== A newer fact takes the place of an older one, which stays on the record"
reviewer graph_ingest '{"triplets": [
  {"source": {"name": "Platform Team"}, "relationship": "ledBy", "target": {"name": "Amir"}, "functional": true}
]}'
"$toolcrib" graph list --all
