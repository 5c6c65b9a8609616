//! `docs/errors.md`, from the one table in `mcp::codes`.

use std::fmt::Write;

use base::{Door, Kind};
use mcp::codes::{Row, row};
use mcp::era::Revision;

const HEAD: &str = "# Errors

<!-- Generated from the code by `make generate`; edit crates/xtask/src/generate/errors.rs instead. -->

Every JSON-RPC error carries `data.kind`, one of the words below, `data.retryable` (whether the same call may succeed
later, unchanged) and `data.request_id` (the answer's `x-request-id`, which the server's log also names). *Redacted* rows say
the kind and nothing else.

On legacy requests (2024-11-05 to 2025-11-25) every JSON-RPC answer is HTTP 200. On modern ones (2026-07-28) the status
is in the table. Rows marked *result* are answered by `tools/call` as a result with `isError: true`, so that a model
can read and act on them: `structuredContent.error` holds the same fields, and `code` and `message`.

Bad arguments of a tool add:

| field | what it holds |
|---|---|
| `details` | one sentence that names everything that is wrong |
| `parameter` | the first parameter that is wrong, like `path` or `operations[0].position` |
| `violations` | every parameter that is wrong, up to 16: `[{\"parameter\": \"…\", \"message\": \"…\"}]` |
| `tool` | the tool that was called |

From revision 2025-11-25 on they are a result. The header `MCP-Protocol-Version` names the revision of a request; a request without
the header is answered like 2025-06-18. On stdio it is the revision that `initialize` has agreed on. A header that is no
date, such as `1.0`, is answered with HTTP 400 and -32022.

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
        let (session, agent) = (legacy(kind, Door::Session), legacy(kind, Door::Agent));
        let modern = match (row(kind, Door::Session, Revision::Modern), row(kind, Door::Agent, Revision::Modern)) {
            (session, agent) if session == agent => modern(session),
            (session, agent) => format!("{} / {}", modern(session), modern(agent)),
        };
        let retryable = if kind.retryable() { "yes" } else { "no" };
        // Writing into a string cannot fail.
        let _ = writeln!(text, "| `{}` | {session} | {agent} | {modern} | {retryable} |", kind.word());
    }
    text + TAIL
}

fn legacy(kind: Kind, door: Door) -> String {
    let (early, late) = (row(kind, door, Revision::Early), row(kind, door, Revision::Late));
    let text = if early.redacted { format!("{}, redacted", early.code) } else { early.code.to_string() };
    if early == late { text } else { format!("{text}; from 2025-11-25 on: {}", modern(late)) }
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
