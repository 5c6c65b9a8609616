#!/usr/bin/env bash
# An agent works on a small repository: it asks what depends on a file, changes the file, sees the impact and the history, and records
# why. Another agent finds that decision. Uses a temporary server.
# Usage: examples/code.sh [path of the toolcrib binary]
# Needs git and Python 3.
set -euo pipefail

toolcrib=$(realpath "$(command -v "${1:-toolcrib}")")
folder=$(mktemp -d)
export TOOLCRIB_DATA="$folder/data"
mkdir "$folder/start" "$folder/repository"

cd "$folder/start"
"$toolcrib" serve --listen 127.0.0.1:0 > "$folder/ready" 2> "$folder/log" &
server=$!
trap 'kill "$server" 2> /dev/null && wait "$server"; rm -rf "$folder"' EXIT
for _ in $(seq 100); do grep -q ready "$folder/ready" && break; sleep 0.1; done

builder() { "$toolcrib" call --agent-label builder "$@"; }
reviewer() { "$toolcrib" call --agent-label reviewer "$@"; }
# Prints a line for each item of a list in an answer: each LIST FORMAT
each() {
  python3 -c '
import collections, json, sys
items = json.load(sys.stdin)
for member in sys.argv[1].split("."):
    items = items[member]
for item in items:
    fields = item if isinstance(item, dict) else {"name": item}
    print(sys.argv[2].format_map(collections.defaultdict(lambda: "-", fields)))
' "$1" "$2"
}

# A package of three modules, with one commit.
cd "$folder/repository"
mkdir shop
printf '' > shop/__init__.py
printf 'def rounded(cents):\n    return int(cents + 0.5)\n' > shop/money.py
printf 'from shop.money import rounded\n\n\ndef total(prices):\n    return sum(rounded(price) for price in prices)\n' > shop/cart.py
printf 'from shop.cart import total\n\n\ndef pay(prices):\n    return f"{total(prices)} cents"\n' > shop/checkout.py
git init --quiet
git add shop
git -c user.name=Ada -c user.email=ada@shop.example commit --quiet --message "Sell things"

"$toolcrib" project add shop --root . > /dev/null
# The first call starts the index. Wait until it is complete.
until builder get_context '{"context_types": ["project"]}' | grep -q '"complete":true'; do sleep 0.1; done

echo "== What depends on money.py?"
builder analyze_dependencies '{"path": "shop/money.py", "analysis_type": "impact"}' | each impact '{distance} {path}'

echo "== A write with a syntax error is refused"
builder write_code '{"path": "shop/money.py", "content": "def rounded(:\n    pass\n", "reason": "Round up"}' 2>&1 |
  grep -o 'adds a syntax error at line [0-9]*' || true

echo "== A good one says what it changed and what it may affect"
builder write_code '{"path": "shop/money.py", "content": "def rounded(cents):\n    return -int(-cents // 1)\n", "reason": "Round up"}' \
  > "$folder/written"
each changed_symbols.changed 'changed {name}' < "$folder/written"
each affected_files 'affects {path}' < "$folder/written"

echo "== Who changed the file, and why?"
builder query_history '{"entity_id": "shop/money.py", "include_diff": false}' |
  each changes '{source}: {change_type} by {agent_id}, {reason}'

echo "== The decision is recorded, and another agent finds it"
builder record_decision '{"decision": "We round every price up to a whole cent", "reasoning": "Rounding down lost money"}' > /dev/null
reviewer af_memory_recall '{"query": "why do we round prices up", "workType": "feature"}' | grep '^> '
