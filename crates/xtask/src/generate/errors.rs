//! Generates `docs/errors.md` from the table in `mcp::codes`.

use std::fmt::Write;

use base::{Door, Kind};
use mcp::codes::{Cause, Entry, Row, row};
use mcp::era::Revision;

const HEAD: &str = "# Errors

<!-- Generated from the code by `make generate`; edit crates/xtask/src/generate/errors.rs instead. -->

Every JSON-RPC error has these fields in `data`:

| field | content |
|---|---|
| `kind` | one of the words below |
| `retryable` | whether the same call can succeed later |
| `request_id` | the answer's `x-request-id`, which is also in the server's log |

A *redacted* error contains its kind and a general message, without details.

Legacy requests (2024-11-05 to 2025-11-25) always get HTTP 200 for a JSON-RPC answer. For modern requests (2026-07-28) the table shows the
status where it is not 200. For rows marked *result*, `tools/call` returns a result with `isError: true`, so that the model can read the
error and correct its call. `structuredContent.error` then has the same fields, plus `code` and `message`.

Errors about a tool's arguments also have:

| field | content |
|---|---|
| `details` | one sentence that names all violations |
| `parameter` | the first invalid parameter, such as `path` or `operations[0].position` |
| `violations` | all invalid parameters, up to 16: `[{\"parameter\": \"…\", \"message\": \"…\"}]` |
| `tool` | the tool that was called |

From revision 2025-11-25 on, these errors are results. The header `MCP-Protocol-Version` sets the revision of a request. A request without
the header is treated as 2025-06-18. On stdio, `initialize` negotiates the revision. A header that is not a date, such as `1.0`, gets
HTTP 400 and -32022.

| kind | session and stdio door | agent door | modern requests | retryable |
|---|---|---|---|---|
";

const MEANINGS: &str = "
The meaning of each kind:

| kind | meaning | what to do |
|---|---|---|
";

const DOORS: &str = "
For modern requests, the protocol adds three errors, all with HTTP 400: -32020 (a header is missing or differs from the body), -32021
(the client lacks a capability that the call needs) and -32022 (unsupported protocol version).

## Outside JSON-RPC

A door that refuses a request before it reaches JSON-RPC answers `{\"error\": \"…\"}`:

| status | error | meaning | what to do |
|---|---|---|---|
";

const API: &str = "
## Management API

The management API answers `{\"error\": \"…\", \"code\": \"…\"}`: a message for a person, and one of these codes for programs.
When something does not exist, `missing` can say what (`project`). [openapi.json](openapi.json) lists the statuses of each route.

| code | status | meaning | what to do | retryable |
|---|---|---|---|---|
";

pub(super) fn reference() -> String {
    let mut text = HEAD.to_owned();
    for kind in Kind::ALL {
        let (session, agent) = (legacy(kind, Door::Session), legacy(kind, Door::Agent));
        let modern = match (row(kind, Door::Session, Revision::Modern), row(kind, Door::Agent, Revision::Modern)) {
            (session, agent) if session == agent => modern(session),
            (session, agent) => format!("{} / {}", modern(session), modern(agent)),
        };
        let Entry { word, retryable, .. } = Cause::Kind(kind).entry();
        line(&mut text, format_args!("`{word}` | {session} | {agent} | {modern} | {}", yes_or_no(retryable)));
    }
    text += MEANINGS;
    for kind in Kind::ALL {
        let Entry { word, meaning, advice, .. } = Cause::Kind(kind).entry();
        line(&mut text, format_args!("`{word}` | {meaning} | {advice}"));
    }
    text += DOORS;
    for Entry { status, door, meaning, advice, .. } in Cause::all().map(Cause::entry) {
        if let Some(words) = door {
            line(&mut text, format_args!("{} | `{words}` | {meaning} | {advice}", status.as_u16()));
        }
    }
    text += API;
    for Entry { word, status, meaning, advice, retryable, .. } in Cause::all().map(Cause::entry) {
        line(&mut text, format_args!("`{word}` | {} | {meaning} | {advice} | {}", status.as_u16(), yes_or_no(retryable)));
    }
    text
}

fn line(text: &mut String, cells: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "| {cells} |");
}

fn yes_or_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
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
