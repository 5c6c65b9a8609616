# What a person needs: `make run` and `make test`. The rest is for those who work on Toolcrib.

CARGO ?= cargo

.PHONY: run build install test lint generate bench soak

## Builds and starts the server on http://127.0.0.1:7420.
run: build
	target_dir=$${CARGO_TARGET_DIR:-target}; exec $$target_dir/release/toolcrib serve

build:
	$(CARGO) build --release --locked --package cli

## Puts `toolcrib` on your PATH.
install:
	$(CARGO) install --locked --path crates/cli

## Everything that CI checks. Installs PostgreSQL (as root), Node packages and Python packages when they are missing.
test: lint
	$(CARGO) test --workspace --locked

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

## Writes docs/ and openapi.json anew from the code; a test fails when they are out of date.
generate:
	$(CARGO) run --quiet --package xtask -- generate

## Ratios to a yardstick in the same run.
bench: build
	target_dir=$${CARGO_TARGET_DIR:-target}; $$target_dir/release/toolcrib bench doors

## Hours, not minutes: a kill -9 marathon, then fuzzing.
soak: build
	$(CARGO) run --release --package xtask -- soak
