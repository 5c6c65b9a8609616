//! Any text as a policy: no panic, within its limits, and what was checked compiles without a complaint.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use policy::{ActionKind, ActionSpec, Document, Mode, Model, STATEMENTS_MAX, statement_text};
use serde_json::json;

static MODEL: LazyLock<Arc<Model>> = LazyLock::new(|| {
    let input = json!({"type": "object", "properties": {"limit": {"type": "integer"}, "tags": {"type": "array",
        "items": {"type": "string"}}, "query": {"type": "string"}}, "required": ["query"], "additionalProperties": false});
    let kind = ActionKind::Tool { read_only: true, destructive: false };
    Arc::new(Model::build([ActionSpec { name: "kits.list", kind, input_schema: &input }]).unwrap())
});

/// Something to change: most bytes are no policy at all.
const KNOWN: &str = r#"@id("few")
forbid (principal, action == Action::"kits.list", resource)
when { context.input has limit && context.input.limit > 10 }
unless { context.input.query like "a*" || context.input.tags.contains("b") };
"#;

fuzz_target!(|data: &[u8]| {
    let Some((how, rest)) = data.split_first() else { return };
    let bytes = match how % 3 {
        0 => rest.to_vec(),
        1 => spliced(KNOWN.as_bytes(), rest),
        _ => spliced(policy::STARTER.as_bytes(), rest),
    };
    let Ok(cedar) = String::from_utf8(bytes) else { return };
    let checked = MODEL.check(&cedar);
    let document = Document { id: "doc".to_owned(), version: 1, cedar, mode: Mode::Enforce };
    let compiled = MODEL.compile(std::slice::from_ref(&document));
    match checked {
        Ok(statements) => {
            assert!(statements.len() <= STATEMENTS_MAX);
            assert!(compiled.flagged().is_empty(), "what was checked is flagged: {:?}", compiled.flagged());
            for statement in statements {
                assert!(statement_text("doc", &document.cedar, &statement.id("doc")).is_some(), "{statement:?}");
            }
        }
        Err(findings) => {
            assert!(!findings.is_empty(), "refused without a word");
            assert!(!compiled.flagged().is_empty(), "what would be refused is in force without a flag");
        }
    }
});

/// `text` with some bytes from a place on replaced by others: two bytes say where, one how many.
fn spliced(text: &[u8], splice: &[u8]) -> Vec<u8> {
    let [high, low, gone, put @ ..] = splice else { return text.to_vec() };
    let from = usize::from(u16::from_be_bytes([*high, *low])) % (text.len() + 1);
    let until = text.len().min(from + usize::from(*gone));
    [&text[..from], put, &text[until..]].concat()
}
