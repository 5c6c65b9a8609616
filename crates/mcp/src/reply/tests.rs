//! The exact bytes of answers.

use serde_json::{Map, Value, json};

use super::*;
use crate::codes::Failure;

fn server() -> ServerInfo {
    ServerInfo { name: "toolcrib".to_owned(), version: "0.1.0".to_owned() }
}

fn id(json: &str) -> Id<'_> {
    Id::legal(serde_json::from_str(json).unwrap()).unwrap()
}

fn written(stamp: &Stamp<'_>, body: &str) -> String {
    String::from_utf8(result(&id("7"), stamp, serde_json::from_str(body).unwrap()).unwrap()).unwrap()
}

#[test]
fn a_legacy_body_is_copied_untouched() {
    assert_eq!(written(&Stamp::LEGACY, "{}"), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
    let server = server();
    for method in Method::ALL {
        let stamp = Stamp::complete(Era::Legacy, *method, &server);
        assert_eq!(written(&stamp, r#"{"a":[]}"#), r#"{"jsonrpc":"2.0","id":7,"result":{"a":[]}}"#);
        assert!(Stamp::input_required(Era::Legacy, *method, &server).is_err());
    }
    assert!(Stamp::input_required(Era::Modern, Method::ToolsList, &server).is_err());
}

#[test]
fn modern_results_are_stamped() {
    let server = server();
    let meta = r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"toolcrib","version":"0.1.0"}}"#;
    assert_eq!(
        written(&Stamp::complete(Era::Modern, Method::ToolsCall, &server), r#"{"content":[]}"#),
        format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[],"resultType":"complete",{meta}}}}}"#)
    );
    assert_eq!(
        written(&Stamp::complete(Era::Modern, Method::ToolsList, &server), "{ \"tools\": [ ] }"),
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"result":{{ "tools": [ ],"resultType":"complete","ttlMs":60000,"cacheScope":"private",{meta}}}}}"#
        )
    );
    assert_eq!(
        written(&Stamp::input_required(Era::Modern, Method::ToolsCall, &server).unwrap(), "{ }"),
        format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"resultType":"input_required",{meta}}}}}"#)
    );
}

#[test]
fn the_end_of_a_subscription_names_it() {
    let (server, subscription) = (server(), id("\"s-1\""));
    let ended: Value = serde_json::from_str(&written(&Stamp::subscription_ended(&server, &subscription), "{}")).unwrap();
    assert_eq!(ended["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "s-1");
}

#[test]
fn a_stamp_needs_an_object() {
    let server = server();
    let stamp = Stamp::complete(Era::Modern, Method::ToolsCall, &server);
    assert!(result_of(&id("1"), &stamp, &json!([1])).is_err());
    assert!(result_of(&id("1"), &stamp, &json!({"a": {}})).is_ok());
}

#[test]
fn errors_keep_the_id_and_their_fields() {
    let data = Map::from_iter([("kind".to_owned(), json!("invalid_params"))]);
    let failure = Failure { code: -32602, status: http::StatusCode::OK, message: "say \"please\"".into(), data };
    assert_eq!(
        String::from_utf8(error(&id("12345678901234567890123"), &failure)).unwrap(),
        r#"{"jsonrpc":"2.0","id":12345678901234567890123,"error":{"code":-32602,"message":"say \"please\"","data":{"kind":"invalid_params"}}}"#
    );
    assert!(error(&Id::NULL, &failure).starts_with(br#"{"jsonrpc":"2.0","id":null,"error":"#));
}

#[test]
fn batches_are_joined_and_empty_ones_vanish() {
    assert_eq!(Batch::default().finish(), None);
    let mut batch = Batch::default();
    batch.push(b"{}");
    batch.push(b"{}");
    assert_eq!(batch.finish().unwrap(), b"[{},{}]");
}
