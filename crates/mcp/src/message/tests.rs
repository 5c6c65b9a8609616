//! Transcripts of the parser: input and result.

use base::limits::Limits;
use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn limits() -> Limits {
    Limits { batch_messages_max: 4, json_depth_max: 8, ..Limits::default() }
}

fn show_message(message: &Message<'_>) -> String {
    let shown = |params: &Option<&RawValue>| params.map_or("-", RawValue::get).to_owned();
    match message {
        Message::Request(request) => format!("request {} {} {}", request.id, request.method, shown(&request.params)),
        Message::Notification(told) => format!("notification {} {}", told.method, shown(&told.params)),
        Message::Response => "response".to_owned(),
    }
}

fn show_refusal(refusal: &Refusal<'_>) -> String {
    format!("{} id {}: {}", refusal.error.kind().word(), refusal.id, refusal.error.message())
}

fn show(body: &[u8]) -> String {
    let one = |element: &Result<Message<'_>, Refusal<'_>>| match element {
        Ok(message) => format!("  {}", show_message(message)),
        Err(refusal) => format!("  {}", show_refusal(refusal)),
    };
    match parse(body, &limits()) {
        Ok(Incoming::One(message)) => show_message(&message),
        Ok(Incoming::Batch(elements)) => {
            ["batch".to_owned()].into_iter().chain(elements.iter().map(one)).collect::<Vec<_>>().join("\n")
        }
        Err(refusal) => show_refusal(&refusal),
    }
}

fn check(bodies: &[&str], expected: Expect) {
    let shown: Vec<String> = bodies.iter().map(|body| show(body.as_bytes())).collect();
    expected.assert_eq(&shown.join("\n"));
}

#[test]
fn single_messages() {
    check(
        &[
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            " \r\n\t{\"params\" : {\"a\" : [1]} , \"method\":\"tools\\/call\",\"id\":\"x\\u00e9\",\"jsonrpc\":\"2.0\", \"extra\":[{}]}\n",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":9007199254740993000001,"method":"ping","params":null}"#,
            r#"{"jsonrpc":"2.0","id":-0.50E+2,"method":"ping","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"initialize","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":3,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}"#,
        ],
        expect![[r#"
            request 1 ping -
            request "x\u00e9" tools/call {"a" : [1]}
            notification notifications/initialized -
            request 9007199254740993000001 ping -
            request -0.50E+2 ping {}
            request null initialize {}
            response
            response"#]],
    );
}

#[test]
fn bad_envelopes_echo_a_legal_id() {
    check(
        &[
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            r#"{"id":"a","method":"ping"}"#,
            r#"{"jsonrpc":2.0,"id":"a","method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":2}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":7}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"initialize"}"#,
            r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"ping","params":"text"}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"ping","params":false}"#,
            r#"{"jsonrpc":"2.0","method":"ping","params":1}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":[1,2]}"#,
            r#"{"jsonrpc":"2.0","method":"ping","params":[1,2]}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#,
            "{}",
            "42",
            "\"ping\"",
            "null",
        ],
        expect![[r#"
            invalid_request id 1: `jsonrpc` must be "2.0"
            invalid_request id "a": `jsonrpc` must be "2.0"
            invalid_request id "a": `jsonrpc` must be "2.0"
            invalid_request id 2: `method` is missing
            invalid_request id 2: `method` must be a string
            invalid_request id null: `id` must be a string or a number
            invalid_request id null: `id` must be a string or a number
            invalid_request id null: `id` must be a string or a number
            invalid_request id null: `id` must be a string or a number
            invalid_request id 4: `params` must be an object
            invalid_request id 4: `params` must be an object
            invalid_request id null: `params` must be an object
            invalid_params id 5: `params` must be an object
            notification ping -
            invalid_request id null: the message has a duplicate member
            invalid_request id 1: `method` must be a string
            invalid_request id null: `method` is missing
            invalid_request id null: a message must be a JSON object
            invalid_request id null: a message must be a JSON object
            invalid_request id null: a message must be a JSON object"#]],
    );
}

#[test]
fn invalid_json_has_no_id() {
    check(
        &[
            "",
            "   ",
            "hello",
            r#"{"jsonrpc":"2.0","id":1,"method":"ping""#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}{}"#,
            r#"{"jsonrpc":"2.0","id":01,"method":"ping"}"#,
            r#"{'jsonrpc':'2.0'}"#,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\nb\"}",
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[[[[[[[[]]]]]]]]}}"#,
        ],
        expect![[r#"
            parse_error id null: the JSON ends too early
            parse_error id null: the JSON ends too early
            parse_error id null: the message is not JSON
            parse_error id null: the JSON ends too early
            parse_error id null: the message is not JSON
            parse_error id null: the message is not JSON
            parse_error id null: the message is not JSON
            parse_error id null: the message is not JSON
            parse_error id null: the JSON is nested too deeply"#]],
    );
    assert_eq!(show(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}"), "parse_error id null: the message is not UTF-8");
}

/// The cases of the JSON-RPC 2.0 specification about batches, with our own data.
#[test]
fn batches() {
    check(
        &[
            "[]",
            " [ ] ",
            "[1]",
            "[1, \"two\", null]",
            r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id""#,
            r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"notifications/progress"},
                {"tool":"hammer"},{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"kits.list"}}]"#,
            r#"[{"jsonrpc":"2.0","method":"notifications/a"},{"jsonrpc":"2.0","method":"notifications/b"}]"#,
            r#"[{"jsonrpc":"2.0","id":1,"method":"initialize"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
            "[1,2,3,4,5]",
            "[1,2,3,4,5",
            r#"[[{"jsonrpc":"2.0","id":1,"method":"ping"}]]"#,
        ],
        expect![[r#"
            invalid_request id null: a batch must have at least one message
            invalid_request id null: a batch must have at least one message
            batch
              invalid_request id null: a message must be a JSON object
            batch
              invalid_request id null: a message must be a JSON object
              invalid_request id null: a message must be a JSON object
              invalid_request id null: a message must be a JSON object
            parse_error id null: the JSON ends too early
            batch
              request "a" ping -
              notification notifications/progress -
              invalid_request id null: `method` is missing
              request "b" tools/call {"name":"kits.list"}
            batch
              notification notifications/a -
              notification notifications/b -
            batch
              invalid_request id 1: `initialize` cannot be part of a batch
              request 2 ping -
            invalid_request id null: a batch can have at most 4 messages
            parse_error id null: the JSON ends too early
            batch
              invalid_request id null: a message must be a JSON object"#]],
    );
}

/// Random JSON-like text, which gets further into the parser than plain noise.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just(":"),
        Just(","),
        Just("\""),
        Just("\\"),
        Just("\\u00"),
        Just("\\ud800"),
        Just("\"jsonrpc\""),
        Just("\"2.0\""),
        Just("\"id\""),
        Just("\"method\""),
        Just("\"params\""),
        Just("\"result\""),
        Just("\"ping\""),
        Just("\"initialize\""),
        Just("null"),
        Just("true"),
        Just("-"),
        Just("1e999"),
        Just("0"),
        Just(" "),
        Just("é"),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn legal_id() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        "\\PC{0,20}".prop_map(|text| serde_json::Value::from(text).to_string()),
        "(\\\\u[0-9a-f]{4}|\\\\/|[a-z ]){0,10}".prop_map(|text| format!("\"{text}\"")),
    ]
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&body, &limits());
    }

    #[test]
    fn no_soup_makes_it_panic(body in soup()) {
        let _ = parse(body.as_bytes(), &limits());
    }

    #[test]
    fn no_broken_message_makes_it_panic(cut in 0_usize..120, byte in any::<u8>()) {
        let mut body = br#"[{"jsonrpc":"2.0","id":"\u00e9","method":"tools/call","params":{"name":"a","arguments":{"b":[1,2]}}}]"#.to_vec();
        if let Some(place) = body.get_mut(cut) {
            *place = byte;
        }
        let _ = parse(&body, &limits());
        body.truncate(cut);
        let _ = parse(&body, &limits());
    }

    #[test]
    fn legal_ids_survive_verbatim(id in legal_id(), space in "[ \t\r\n]{0,3}") {
        let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":{space}{id}{space},\"method\":\"ping\"}}");
        match parse(body.as_bytes(), &limits()) {
            Ok(Incoming::One(Message::Request(request))) => prop_assert_eq!(request.id.into_owned().json().to_owned(), id),
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn a_syntax_refusal_means_invalid_json(body in soup()) {
        if let Err(refusal) = parse(body.as_bytes(), &Limits::default()) {
            // Half a surrogate pair is grammatical but not text, so only the stricter parser must agree there.
            match refusal.error.kind() {
                base::Kind::ParseError => prop_assert!(serde_json::from_str::<serde_json::Value>(&body).is_err()),
                _ => prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&body).is_ok()),
            }
        }
    }
}
