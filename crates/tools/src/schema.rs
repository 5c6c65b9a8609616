//! Schemas from types, and arguments checked against them, so that what is listed is what is enforced.

use base::{Error, Kind, Result};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The arguments of one call, which its tool's schema has not seen yet: `params.arguments` as it came. Absent means none;
/// anything but an object is refused.
pub(crate) fn arguments(raw: Option<&RawValue>) -> Result<Map<String, Value>> {
    let Some(raw) = raw else {
        return Ok(Map::default());
    };
    match serde_json::from_str(raw.get()) {
        Ok(Value::Object(mut members)) => {
            members.values_mut().for_each(whole_numbers);
            Ok(members)
        }
        Ok(_) => Err(Error::invalid("arguments", "`arguments` must be an object")),
        Err(error) => Err(Error::invalid("arguments", "`arguments` cannot be read").logged(error)),
    }
}

/// `10.0` and `1e1` are the integer 10, to JSON Schema and so to everything that comes after it.
fn whole_numbers(value: &mut Value) {
    /// Up to here every whole number is one that a float can tell from its neighbours.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= EXACT_MAX);
            if let Some(float) = whole {
                *value = Value::from(float as i64);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Object(members) => members.values_mut().for_each(whole_numbers),
        _ => {}
    }
}

/// The JSON Schema of a tool's input: closed, without references, without formats that only Rust knows.
pub(crate) fn input_schema<T: JsonSchema>() -> Value {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12().for_deserialize());
    without_null(&mut schema);
    schema
}

/// The JSON Schema of a tool's output.
pub(crate) fn output_schema<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// The schema of what a tool answers that may be switched off.
pub(crate) fn or_switched_off(schema: Value) -> Value {
    let off = json!({"type": "object", "properties": {"disabled": {"const": true}}, "required": ["disabled"]});
    json!({"type": "object", "anyOf": [schema, off]})
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let generator = settings.with(|settings| settings.inline_subschemas = true).into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    if let Some(members) = schema.as_object_mut() {
        members.remove("$schema");
        members.remove("title");
    }
    without_rust_formats(&mut schema);
    schema
}

/// `"format": "uint32"` means nothing to a client; the range beside it does.
fn without_rust_formats(schema: &mut Value) {
    if let Some(members) = schema.as_object_mut() {
        if members
            .get("format")
            .and_then(Value::as_str)
            .is_some_and(|format| format.starts_with("uint") || format.starts_with("int"))
        {
            members.remove("format");
        }
        members.values_mut().for_each(without_rust_formats);
    } else if let Some(items) = schema.as_array_mut() {
        items.iter_mut().for_each(without_rust_formats);
    }
}

/// An optional argument is left out, not sent as null.
fn without_null(schema: &mut Value) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for property in properties.values_mut() {
        if let Some(Value::Array(types)) = property.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                property["type"] = only;
            }
        }
        if let Some(Value::Array(variants)) = property.get_mut("enum") {
            variants.retain(|variant| !variant.is_null());
        }
        without_null(property);
    }
}

/// Compiles a schema. Ours are tested, so a broken one is a fault of ours.
pub(crate) fn compile(schema: &Value) -> Result<Validator> {
    jsonschema::draft202012::new(schema).map_err(Error::internal)
}

/// Checks arguments; the first complaint names the parameter, all of them stand in `details`.
pub(crate) fn check(validator: &Validator, arguments: &Value) -> Result<()> {
    if let Some(parameter) = find_nul(arguments, String::new()) {
        let message = format!("`{parameter}` contains a NUL character");
        return Err(Error::invalid(&parameter, message));
    }
    if validator.is_valid(arguments) {
        return Ok(());
    }
    let complaints: Vec<(String, String)> =
        validator.iter_errors(arguments).take(COMPLAINTS_MAX).map(|error| complaint(&error)).collect();
    let Some((parameter, message)) = complaints.first() else {
        return Err(Error::internal("the arguments are invalid without a reason"));
    };
    let details: Vec<Value> =
        complaints.iter().map(|(parameter, message)| serde_json::json!({"parameter": parameter, "message": message})).collect();
    Err(Error::new(Kind::InvalidParams, message.clone()).with("parameter", parameter.as_str()).with("details", details))
}

/// Most complaints that one answer lists.
const COMPLAINTS_MAX: usize = 16;

/// The parameter that an error is about, and the error in words that quote no more than the parameter's name.
fn complaint(error: &ValidationError<'_>) -> (String, String) {
    let place = parameter_path(error.instance_path().as_str());
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let parameter = joined(&place, property.as_str().unwrap_or_default());
            let message = format!("`{parameter}` is required");
            (parameter, message)
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let parameter = joined(&place, unexpected.first().map_or("", String::as_str));
            let message = format!("`{parameter}` is not a parameter of this tool");
            (parameter, message)
        }
        _ => {
            let place = if place.is_empty() { "arguments".to_owned() } else { place };
            let message = format!("`{place}`: {}", error.masked_with("the value"));
            (place, message)
        }
    }
}

fn joined(place: &str, member: &str) -> String {
    if place.is_empty() { member.to_owned() } else { format!("{place}.{member}") }
}

/// `/operations/0/position` as people write it: `operations[0].position`.
fn parameter_path(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        if !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
            path.push_str(&format!("[{part}]"));
        } else {
            path = joined(&path, &part);
        }
    }
    path
}

/// The first string that contains NUL, which no text column can hold.
fn find_nul(value: &Value, path: String) -> Option<String> {
    match value {
        Value::String(text) => text.contains('\0').then_some(path),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| find_nul(item, format!("{path}[{index}]"))),
        Value::Object(members) => {
            members.iter().find_map(
                |(name, member)| {
                    if name.contains('\0') { Some(path.clone()) } else { find_nul(member, joined(&path, name)) }
                },
            )
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_as_people_write_them() {
        for (pointer, path) in
            [("", ""), ("/path", "path"), ("/operations/0/position", "operations[0].position"), ("/a~1b", "a/b")]
        {
            assert_eq!(parameter_path(pointer), path);
        }
    }

    #[test]
    fn whole_numbers_are_integers_however_they_are_written() {
        let read = |text: &str| arguments(Some(&RawValue::from_string(text.to_owned()).unwrap())).map(Value::Object).unwrap();
        assert_eq!(read(r#"{"a": 10.0, "b": [1e1, {"c": -0.0}]}"#), json!({"a": 10, "b": [10, {"c": 0}]}));
        for kept in [r#"{"a":0.5}"#, r#"{"a":1e300}"#, r#"{"a":18446744073709551615}"#, r#"{"a":"1.0"}"#] {
            assert_eq!(read(kept), serde_json::from_str::<Value>(kept).unwrap());
        }
    }

    #[test]
    fn complaints_name_the_parameter_and_never_quote_the_value() {
        let schema = json!({"type": "object", "additionalProperties": false, "required": ["name"],
            "properties": {"name": {"type": "string", "maxLength": 3}, "n": {"type": "integer", "minimum": 1}}});
        let validator = compile(&schema).unwrap();
        for (arguments, parameter) in [
            (json!({}), "name"),
            (json!({"name": "abc", "status": "x"}), "status"),
            (json!({"name": "secret"}), "name"),
            (json!({"name": 5}), "name"),
            (json!({"name": "abc", "n": 0}), "n"),
            (json!({"name": "a\0"}), "name"),
        ] {
            let error = check(&validator, &arguments).unwrap_err();
            assert_eq!(error.data()["parameter"], parameter, "{arguments}");
            assert!(!error.message().contains("secret"), "{}", error.message());
        }
        assert!(check(&validator, &json!({"name": "äöü"})).is_ok(), "lengths count characters");
    }
}
