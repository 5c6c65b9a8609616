# What a person needs: `make run` and `make test`. The rest is for those who work on Toolcrib.

CARGO ?= cargo
# Our own crates without optimisation, except for those that do arithmetic over millions of numbers.
OWN = $(filter-out search simd,$(notdir $(wildcard crates/*)))
UNOPTIMISED = $(foreach crate,$(OWN),--config profile.release.package.$(crate).opt-level=0)

.PHONY: run build install test lint generate bench soak

## Builds and starts the server on http://127.0.0.1:7420.
run: build
	target_dir=$${CARGO_TARGET_DIR:-target}; exec $$target_dir/release/toolcrib serve

build:
	$(CARGO) build --release --locked --workspace --bin toolcrib

## Puts `toolcrib` on your PATH.
install:
	$(CARGO) install --locked --path crates/cli

## Everything that CI checks. Installs PostgreSQL (as root), Node packages and Python packages when they are missing.
## Compiles our own crates without optimisation, which is faster, and shares the dependencies with `make run`.
test: lint
	$(CARGO) test --workspace --release --locked $(UNOPTIMISED)

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --release --locked -- -D warnings

## Writes docs/ and openapi.json anew from the code; a test fails when they are out of date.
generate:
	$(CARGO) build --quiet --release --workspace --bin xtask $(UNOPTIMISED)
	target_dir=$${CARGO_TARGET_DIR:-target}; $$target_dir/release/xtask generate

## Ratios to a yardstick in the same run.
bench: build
	target_dir=$${CARGO_TARGET_DIR:-target}; $$target_dir/release/toolcrib bench doors

## Hours, not minutes: a kill -9 marathon, then fuzzing.
soak: build
	$(CARGO) run --release --package xtask -- soak
