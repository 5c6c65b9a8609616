#!/usr/bin/env bash
# Backs up a running server, verifies the backup, restores it in another folder, and starts a second server there. The memory is restored,
# and the audit trail verifies and continues. Everything is in a temporary folder.
# Usage: examples/backup.sh [path of the toolcrib binary]
set -euo pipefail

toolcrib=$(realpath "$(command -v "${1:-toolcrib}")")
folder=$(mktemp -d)
mkdir "$folder/code" "$folder/backups" && cd "$folder/code"

start() { # start DATA [FLAG…]
  "$toolcrib" serve --listen 127.0.0.1:0 --data "$@" > "$folder/ready" 2> "$folder/log" &
  server=$!
  for _ in $(seq 100); do grep -q ready "$folder/ready" && break; sleep 0.1; done
}
stop() { kill "$server" 2> /dev/null && wait "$server" || true; }
trap 'stop; rm -rf "$folder"' EXIT

echo "== A server on which an agent has remembered something"
start "$folder/first"
export TOOLCRIB_DATA="$folder/first"
"$toolcrib" call af_memory_remember '{"content": "The staging database is wiped every night at three", "type": "fact"}' > /dev/null

echo "== A backup while it runs, and a copy of the master key that is kept apart from it"
backup=$("$toolcrib" backup "$folder/backups" --json | sed -n 's/^ *"file": "\(.*\.backup\)",*$/\1/p')
install -m 600 "$folder/first/master.key" "$folder/kept-apart.key"
stat -c '%a %n' "$backup" | sed "s|$folder/||; s|toolcrib-.*Z|toolcrib-TIME|"

echo "== Is it whole?"
"$toolcrib" backup verify "$backup" | sed -n 's/^complete: .*/complete/p; s/, [0-9]* entries.*//p'

echo "== The first server is lost; the backup is restored elsewhere"
stop
rm -rf "$folder/first"
export TOOLCRIB_DATA="$folder/second"
"$toolcrib" restore "$backup" 2>&1 | cut -d ';' -f 1 || true
"$toolcrib" restore "$backup" --master-key-file "$folder/kept-apart.key" | sed -n 's/^start the server with: /start the server with: /p' | sed "s|$folder/||g"

echo "== A server there knows what was remembered, and its audit trail verifies"
start "$folder/second" --master-key-file "$folder/kept-apart.key"
"$toolcrib" call af_memory_recall '{"query": "when is staging cleared", "workType": "chore"}' | sed -n '4p'
"$toolcrib" audit verify | sed 's/: [0-9]* entries.*//'
