//! `docs/errors.md`, from the one table in `mcp::codes`.

use std::fmt::Write;

use base::{Door, Kind};
use mcp::codes::{Row, row};
use mcp::era::Era;

const HEAD: &str = "# Errors

<!-- Generated from the code by `make generate`; edit crates/xtask/src/generate/errors.rs instead. -->

Every JSON-RPC error carries `data.kind`, one of the words below, `data.retryable` (whether the same call may succeed
later, unchanged) and `data.request_id` (the answer's `x-request-id`, which the server's log also names). Bad arguments
add `parameter`, `details` and `tool`. *Redacted* rows say the kind and nothing else.

On legacy requests (2024-11-05 to 2025-11-25) every JSON-RPC answer is HTTP 200. On modern ones (2026-07-28) the status
is in the table, and rows marked *result* are answered by `tools/call` as a result with `isError: true`, so that a model
can read and act on them; the code then stands in `structuredContent.error`.

| kind | session and stdio door | agent door | modern requests | retryable |
|---|---|---|---|---|
";

const TAIL: &str = "
The protocol itself adds, on modern requests only: -32020 (a header is missing or differs from the body), -32021 (the client
lacks a capability that the call needs) and -32022 (a protocol version that is not spoken here), all with HTTP 400.

## Outside JSON-RPC

The doors answer `{\"error\": \"…\"}` before a request has become a call:

| status | error | when |
|---|---|---|
| 401 | `Unauthorized` | no credential, or one that is malformed, unknown, revoked or expired; `WWW-Authenticate` says which kind is wanted |
| 404 | `Session not found` | there is no such session |
| 403 | `Forbidden` | the key belongs to another org or does not cover the project; or a `Host` or `Origin` that is not ours |
| 410 | `Session ended` | the session was ended or has expired: open another. The session's own key is answered so too, for seven days |
| 413 | `Body over the limit …` | see [limits](limits.md) |
| 408 | `The body took too long to arrive` | the client stopped sending |
| 429 | `Too many requests` | `Retry-After` says how many seconds to wait |
| 405 | `Method not allowed` | the doors take POST only |

The management API answers `{\"error\": \"…\", \"code\": \"…\"}`; its statuses are in [openapi.json](openapi.json).
";

pub(super) fn reference() -> String {
    let mut text = HEAD.to_owned();
    for kind in Kind::ALL {
        let session = legacy(row(kind, Door::Session, Era::Legacy));
        let agent = legacy(row(kind, Door::Agent, Era::Legacy));
        let modern = match (row(kind, Door::Session, Era::Modern), row(kind, Door::Agent, Era::Modern)) {
            (session, agent) if session == agent => modern(session),
            (session, agent) => format!("{} / {}", modern(session), modern(agent)),
        };
        let retryable = if kind.retryable() { "yes" } else { "no" };
        // Writing into a string cannot fail.
        let _ = writeln!(text, "| `{}` | {session} | {agent} | {modern} | {retryable} |", kind.word());
    }
    text + TAIL
}

fn legacy(row: Row) -> String {
    if row.redacted { format!("{}, redacted", row.code) } else { row.code.to_string() }
}

fn modern(row: Row) -> String {
    let mut text = row.code.to_string();
    if row.status != 200 {
        let _ = write!(text, " + {}", row.status.as_u16());
    }
    if row.redacted {
        text.push_str(", redacted");
    }
    if row.is_result { format!("result ({text})") } else { text }
}
