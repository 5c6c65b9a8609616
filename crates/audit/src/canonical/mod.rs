//! JSON in its one canonical form (RFC 8785), so that two programs that mean the same value hash the same bytes.
//!
//! Numbers are doubles there. An integer that a double cannot hold would silently become another one, so it is refused; who
//! needs one writes it as a string.

mod number;
mod read;

use serde_json::{Map, Value};

pub(crate) use read::{is_object, read};

/// The greatest integer below which every integer is a double of its own: 2^53 - 1.
pub const INTEGER_MAX: u64 = 9_007_199_254_740_991;
/// How deep arrays and objects may lie in one another.
pub const DEPTH_MAX: usize = 64;

/// Why a value has no canonical form here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Written out it would be an integer beyond [`INTEGER_MAX`].
    IntegerTooLarge(String),
    /// Nested deeper than [`DEPTH_MAX`].
    TooDeep,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::IntegerTooLarge(number) => write!(f, "the integer {number} is beyond 2^53 - 1: write it as a string"),
            Fault::TooDeep => write!(f, "values are nested deeper than {DEPTH_MAX}"),
        }
    }
}

/// The canonical text of a value.
///
/// # Errors
/// When it holds an integer that a double cannot, or is nested too deep.
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
    // By UTF-16 units, which puts U+1F600 before U+FB33; UTF-8 bytes would not.
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

/// A string in quotes: escaped is only what must be, in the shortest way there is.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    // Most strings have nothing to escape and are copied whole.
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
