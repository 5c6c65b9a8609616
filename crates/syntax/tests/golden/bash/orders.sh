#!/usr/bin/env bash
# Orders of a shop: keeps them as lines in a file.
set -euo pipefail

source "$(dirname "$0")/lib/log.sh"
source ./lib/money.sh
. lib/format.sh
. "lib/with space.sh"
source 'lib/quoted.sh'

readonly DIGITS=2
declare -r LIMIT=100
export SHOP_HOME="/srv/shop"
counter=0
alias ll='ls -l'

# Prints a message and stops.
# The first argument is the message.
die() {
    log_error "$1"
    exit 1
}

# Finds one order.
function find_order {
    local id="$1"
    local line
    line=$(grep --max-count=1 "^$id;" "$SHOP_HOME/orders") || die "missing $id"
    format_line "$line"
}

function add_order() {
    if [[ -z "${1:-}" ]]; then
        die "usage: add_order ID"
    fi
    echo "$1;$(money_round "$2")" >> "$SHOP_HOME/orders"
    counter=$((counter + 1))
}

count_orders() (
    cd "$SHOP_HOME" && wc -l < orders
)

shop::version() {
    printf '%s\n' "1.0"
}

report() {
    nested_line() {
        echo "- $1"
    }
    while read -r line; do
        nested_line "$line"
    done < <(find_all | sort -u)
    "$PAGER" /dev/null
    sudo -u shop find_order 1
    command ls
    `legacy_call`
    trap cleanup EXIT
}

main() {
    case "${1:-}" in
        add) add_order "$2" "$3" ;;
        find) find_order "$2" ;;
        *) report ;;
    esac
}

main "$@"
