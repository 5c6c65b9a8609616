//! The tools, prompts and resources that the official MCP conformance suite expects, with fixed names and fixed answers. They
//! are in the catalogue only when the operator sets `TOOLCRIB_CONFORMANCE=1`. They use the same doors and the same gate as any
//! tool, so the suite tests those too.
//!
//! Fixtures read and write no rows.

mod fixtures;
mod questions;
mod shelf;

use std::borrow::Cow;

use base::{Result, Scope};
use guard::{Capability, Effect, Spec};
use mcp::Fault;
use mcp::model::CallResult;
use serde_json::{Value, json};

use crate::reply::Reply;
use crate::tool::{Call, Registered, Run, Running};

pub(crate) use shelf::Fixtures;

/// An image of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// What a fixture does. None of them waits for anything, so the function is synchronous.
type Act = fn(Call<'_>) -> Result<Reply, Fault>;

/// A tool that the suite expects.
struct Fixture {
    name: &'static str,
    description: &'static str,
    act: Act,
    input_schema: fn() -> Value,
}

/// Every fixture tool.
pub(crate) fn tools() -> Result<Vec<Registered>> {
    let all = [fixtures::CONTENT, fixtures::NOTICES, questions::FIXTURES, fixtures::SCHEMAS];
    all.into_iter().flatten().map(Fixture::register).collect()
}

fn no_arguments() -> Value {
    json!({"type": "object", "additionalProperties": false})
}

impl Fixture {
    const fn new(name: &'static str, description: &'static str, act: Act) -> Self {
        Self { name, description, act, input_schema: no_arguments }
    }

    const fn taking(self, input_schema: fn() -> Value) -> Self {
        Self { input_schema, ..self }
    }

    fn register(&self) -> Result<Registered> {
        let spec = Spec {
            name: Cow::Borrowed(self.name),
            aliases: Vec::new(),
            title: Cow::Borrowed("Conformance fixture"),
            description: Cow::Borrowed(self.description),
            scope: Scope::ConformanceRun,
            needs: Capability::Always,
            effect: Effect::ReadOnly,
            idempotent: true,
        };
        Registered::raw(spec, (self.input_schema)(), None, Acting(self.act))
    }
}

struct Acting(Act);

impl Run for Acting {
    fn run<'a>(&'a self, call: Call<'a>, _: Value) -> Running<'a> {
        Box::pin(async move { (self.0)(call) })
    }
}

/// A completed call with this text.
fn said(text: impl Into<mcp::model::Text>) -> Result<Reply, Fault> {
    Ok(Reply::Complete(CallResult::text(text)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Catalogue;

    #[test]
    fn fixtures_are_listed_only_when_enabled_and_need_their_own_scope() {
        let names = |catalogue: &Catalogue| -> Vec<String> {
            catalogue.tools().iter().map(|tool| tool.spec().name.to_string()).collect()
        };
        let (builtin, with_fixtures) = (Catalogue::builtin().unwrap(), Catalogue::with_conformance().unwrap());
        let (menu, all) = (names(&builtin), names(&with_fixtures));
        assert_eq!(all[..menu.len()], menu, "built-in tools come first");
        assert!(menu.iter().all(|name| !name.starts_with("test_")));
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        for tool in &with_fixtures.tools()[menu.len()..] {
            assert_eq!(tool.spec().scope, Scope::ConformanceRun, "{tool:?}");
        }
        assert_eq!(builtin.shelf().scope(), None);
        assert_eq!(with_fixtures.shelf().scope(), Some(Scope::ConformanceRun));
    }
}
