//! Canonical JSON (RFC 8785): every program writes the same bytes for the same value, so the hash is the same.
//!
//! RFC 8785 treats numbers as doubles. An integer that a double cannot represent exactly would silently change, so it is
//! refused. Write such an integer as a string.

mod number;
mod read;

use serde_json::{Map, Value};

pub(crate) use read::{is_object, read};

/// 2^53 - 1. A double represents every integer up to here exactly.
pub const INTEGER_MAX: u64 = 9_007_199_254_740_991;
/// The maximum nesting depth of arrays and objects.
pub const DEPTH_MAX: usize = 64;

/// Why a value has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is or would be written as an integer beyond [`INTEGER_MAX`].
    IntegerTooLarge(String),
    /// Nested deeper than [`DEPTH_MAX`].
    TooDeep,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::IntegerTooLarge(number) => write!(f, "the integer {number} is beyond 2^53 - 1; write it as a string"),
            Fault::TooDeep => write!(f, "values are nested deeper than {DEPTH_MAX}"),
        }
    }
}

/// The canonical text of a value.
///
/// # Errors
/// If the value has an integer that a double cannot represent exactly, or is nested too deep.
pub fn text_of(value: &Value) -> Result<String, Fault> {
    let mut text = String::with_capacity(256);
    write(&mut text, value, 0)?;
    Ok(text)
}

fn write(out: &mut String, value: &Value, depth: usize) -> Result<(), Fault> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(value) => number::write(out, value)?,
        Value::String(text) => write_string(out, text),
        Value::Array(_) | Value::Object(_) if depth == DEPTH_MAX => return Err(Fault::TooDeep),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(out, item, depth + 1)?;
            }
            out.push(']');
        }
        Value::Object(members) => write_object(out, members, depth)?,
    }
    Ok(())
}

fn write_object(out: &mut String, members: &Map<String, Value>, depth: usize) -> Result<(), Fault> {
    let mut members: Vec<(&String, &Value)> = members.iter().collect();
    // RFC 8785 sorts by UTF-16 units, which puts U+1F600 before U+FB33. UTF-8 order differs.
    if !members.is_sorted_by(|(left, _), (right, _)| left.encode_utf16().lt(right.encode_utf16())) {
        members.sort_by(|(left, _), (right, _)| left.encode_utf16().cmp(right.encode_utf16()));
    }
    out.push('{');
    for (index, (name, value)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(out, name);
        out.push(':');
        write(out, value, depth + 1)?;
    }
    out.push('}');
    Ok(())
}

/// A string in quotes. It escapes only what must be escaped, in the shortest form.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    // Most strings need no escapes and are copied in one piece.
    while let Some(place) = rest.find(|c: char| c < ' ' || c == '"' || c == '\\') {
        let (plain, special) = rest.split_at(place);
        out.push_str(plain);
        let mut characters = special.chars();
        if let Some(character) = characters.next() {
            write_escape(out, character);
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

fn write_escape(out: &mut String, character: char) {
    let short = match character {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{8}' => "\\b",
        '\t' => "\\t",
        '\n' => "\\n",
        '\u{c}' => "\\f",
        '\r' => "\\r",
        other => return out.push_str(&format!("\\u{:04x}", u32::from(other))),
    };
    out.push_str(short);
}

/// A string, or null.
pub(crate) fn write_optional(out: &mut String, text: Option<&str>) {
    match text {
        Some(text) => write_string(out, text),
        None => out.push_str("null"),
    }
}

#[cfg(test)]
mod tests;
