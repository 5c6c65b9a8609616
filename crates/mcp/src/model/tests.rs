//! Every type once, as it is on the wire.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::era::Params;
use crate::message::{Id, Notification};
use crate::reply::ServerInfo;

fn check(value: &impl Serialize, expected: Expect) {
    expected.assert_eq(&serde_json::to_string(value).unwrap());
}

fn params(json: &str) -> Params<'_> {
    Params::read(Some(serde_json::from_str(json).unwrap())).unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn everything() -> Capabilities {
    Capabilities {
        tools: Some(ListChanged { list_changed: true }),
        resources: Some(ResourceCapabilities { subscribe: true, list_changed: false }),
        prompts: Some(ListChanged::default()),
        completions: Some(Empty {}),
        logging: Some(Empty {}),
        extensions: serde_json::Map::from_iter([("io.example/x".to_owned(), json!({}))]),
    }
}

#[test]
fn the_oldest_handshake_names_only_tools() {
    let server = ServerInfo { name: "toolcrib".to_owned(), version: "0.1.0".to_owned() };
    let read = |json| InitializeParams::read(&params(json)).unwrap().negotiated();
    check(
        &InitializeResult::new(read("{}"), everything(), &server, None),
        expect![[
            r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"toolcrib","version":"0.1.0"}}"#
        ]],
    );
    check(
        &InitializeResult::new(
            read(r#"{"protocolVersion":"2025-06-18","capabilities":[]}"#),
            everything(),
            &server,
            Some("hello"),
        ),
        expect![[
            r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"completions":{},"logging":{}},"serverInfo":{"name":"toolcrib","version":"0.1.0"},"instructions":"hello"}"#
        ]],
    );
    assert_eq!(read(r#"{"protocolVersion":17}"#), "2025-11-25");
    assert_eq!(InitializeParams::default().negotiated(), "2024-11-05");
}

#[test]
fn discovery() {
    check(
        &DiscoverResult::new(everything(), Some("hello".into())),
        expect![[
            r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"completions":{},"logging":{},"extensions":{"io.example/x":{}}},"instructions":"hello"}"#
        ]],
    );
}

#[test]
fn lists() {
    let schema = serde_json::json!({"type": "object"});
    let tool = Tool {
        name: "kits.list".into(),
        title: Some("List kits".into()),
        description: "lists".into(),
        input_schema: &schema,
        output_schema: Some(&schema),
        annotations: Some(ToolAnnotations { read_only_hint: Some(true), ..ToolAnnotations::default() }),
    };
    let kept = serde_json::value::to_raw_value(&tool).unwrap();
    check(
        &Page { member: "tools", items: &[kept], next_cursor: Some("c") },
        expect![[
            r#"{"tools":[{"name":"kits.list","title":"List kits","description":"lists","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}],"nextCursor":"c"}"#
        ]],
    );
    let template = ResourceTemplate {
        uri_template: "a://{id}".into(),
        name: "a".into(),
        title: None,
        description: None,
        mime_type: Some("text/plain".into()),
    };
    check(
        &Page { member: "resourceTemplates", items: &[template], next_cursor: None },
        expect![[r#"{"resourceTemplates":[{"uriTemplate":"a://{id}","name":"a","mimeType":"text/plain"}]}"#]],
    );
    let resource = Resource {
        uri: "a://b".into(),
        name: "b".into(),
        title: None,
        description: Some("d".into()),
        mime_type: None,
        size: Some(3),
    };
    check(&resource, expect![[r#"{"uri":"a://b","name":"b","description":"d","size":3}"#]]);
    let argument = PromptArgument { name: "x".into(), description: "an x".into(), required: true };
    check(
        &[
            Prompt { name: "p".into(), title: None, description: "d".into(), arguments: vec![argument] },
            Prompt { name: "q".into(), title: None, description: "d".into(), arguments: vec![] },
        ],
        expect![[
            r#"[{"name":"p","description":"d","arguments":[{"name":"x","description":"an x","required":true}]},{"name":"q","description":"d"}]"#
        ]],
    );
}

#[test]
fn content() {
    let resource = ResourceContents::Text { uri: "a://b".into(), mime_type: Some("text/plain".into()), text: "t".into() };
    let annotations = Annotations { audience: vec![Role::User], priority: Some(0.5), last_modified: None };
    let content = vec![
        Content::text("hello"),
        Content::Text { text: "psst".into(), annotations: Some(annotations) },
        Content::Image { data: "aaaa".into(), mime_type: "image/png".into() },
        Content::Audio { data: "aaaa".into(), mime_type: "audio/wav".into() },
        Content::Resource { resource },
        Content::Resource { resource: ResourceContents::Blob { uri: "a://c".into(), mime_type: None, blob: "aaaa".into() } },
        Content::ResourceLink { uri: "a://d".into(), name: "d".into(), description: None, mime_type: Some("text/x-rust".into()) },
    ];
    check(
        &CallResult { content, ..CallResult::default() },
        expect![[
            r#"{"content":[{"type":"text","text":"hello"},{"type":"text","text":"psst","annotations":{"audience":["user"],"priority":0.5}},{"type":"image","data":"aaaa","mimeType":"image/png"},{"type":"audio","data":"aaaa","mimeType":"audio/wav"},{"type":"resource","resource":{"uri":"a://b","mimeType":"text/plain","text":"t"}},{"type":"resource","resource":{"uri":"a://c","blob":"aaaa"}},{"type":"resource_link","uri":"a://d","name":"d","mimeType":"text/x-rust"}]}"#
        ]],
    );
}

#[test]
fn results_of_calls() {
    check(
        &CallResult::structured("two kits", &json!({"kits": [1, 2]})).unwrap(),
        expect![[r#"{"content":[{"type":"text","text":"two kits"}],"structuredContent":{"kits":[1,2]}}"#]],
    );
    check(
        &CallResult::failed("no such file", &json!({"error": {"kind": "not_found"}})),
        expect![[
            r#"{"content":[{"type":"text","text":"no such file"}],"structuredContent":{"error":{"kind":"not_found"}},"isError":true}"#
        ]],
    );
    check(&Empty {}, expect![[r#"{}"#]]);
    let messages = vec![PromptMessage { role: Role::Assistant, content: Content::text("hi") }];
    check(
        &GetPromptResult { description: None, messages },
        expect![[r#"{"messages":[{"role":"assistant","content":{"type":"text","text":"hi"}}]}"#]],
    );
    let read = ReadResult { contents: vec![ResourceContents::Text { uri: "a://b".into(), mime_type: None, text: "t".into() }] };
    check(&read, expect![[r#"{"contents":[{"uri":"a://b","text":"t"}]}"#]]);
}

#[test]
fn questions() {
    let elicit = InputRequest::Elicit { message: "who?".into(), requested_schema: json!({"type": "object", "properties": {}}) };
    let messages = vec![SamplingMessage { role: Role::User, content: Content::text("why?") }];
    let sample = InputRequest::Sample { messages, max_tokens: 50 };
    let requests = vec![("z".into(), elicit), ("a".into(), sample), ("r".into(), InputRequest::Roots {})];
    let asked = InputRequired { requests, request_state: Some("sealed".to_owned()) };
    check(
        &asked,
        expect![[
            r#"{"inputRequests":{"z":{"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{}}}},"a":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"why?"}}],"maxTokens":50}},"r":{"method":"roots/list","params":{}}},"requestState":"sealed"}"#
        ]],
    );
    let nobody = crate::era::ClientCapabilities::default();
    check(&asked.clone().for_client(nobody).unwrap(), expect![[r#"{"requestState":"sealed"}"#]]);
    let fault = InputRequired { request_state: None, ..asked }.for_client(nobody).unwrap_err();
    assert_eq!(fault.error().data()["requiredCapabilities"].as_object().unwrap().len(), 3);
}

#[test]
fn answers() {
    let params_with_answers = params(
        r#"{"name":"t","inputResponses":{"who":{"action":"accept","content":{"name":"Ada"},"extra":1},"bad":12345,
            "why":{"role":"assistant","model":"m","content":{"type":"text","text":"because"}},
            "many":{"role":"assistant","model":"m","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]},
            "where":{"roots":[{"uri":"file:///a","name":"A"},{"uri":"file:///\u0062"}]}},"requestState":"s"}"#,
    );
    assert_eq!(params_with_answers.request_state().unwrap().as_deref(), Some("s"));
    let read = InputResponses::read(&params_with_answers).unwrap();
    let who = read.elicited("who").unwrap().unwrap();
    assert_eq!((who.action, who.content["name"].as_str()), (Action::Accept, Some("Ada")));
    assert_eq!(read.sampled("why").unwrap().unwrap().text(), "because");
    assert_eq!(read.sampled("many").unwrap().unwrap().text(), "a\nb");
    assert_eq!(read.roots("where").unwrap().unwrap().roots[1].uri, "file:///b");
    assert!(read.elicited("missing").unwrap().is_none());
    assert_eq!(read.elicited("bad").unwrap_err().data()["parameter"], "inputResponses");
    assert!(InputResponses::read(&params(r#"{"name":"t"}"#)).unwrap().is_empty());
    assert!(params(r#"{"name":"t","arguments":[]}"#).arguments().is_err());
    assert!(InputResponses::read(&params(r#"{"name":"t","inputResponses":null}"#)).is_err());
}

#[test]
fn prompts_take_strings() {
    let read = GetPromptParams::read(&params(r#"{"name":"p","arguments":{"a":"b"}}"#)).unwrap();
    assert_eq!(read.arguments["a"], "b");
    let wrong = GetPromptParams::read(&params(r#"{"name":"p","arguments":{"a":1}}"#)).unwrap_err();
    assert_eq!(wrong.data()["parameter"], "arguments");
}

#[test]
fn completion() {
    let read = |json| CompleteParams::read(&params(json));
    let good = read(r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"}}"#).unwrap();
    assert_eq!((good.reference, &*good.argument, &*good.typed), (Reference::Prompt("p".into()), "a", "v"));
    for (json, parameter) in [
        ("{}", "argument"),
        (r#"{"argument":[]}"#, "argument"),
        (r#"{"argument":{"name":"a","value":"v"}}"#, "ref"),
        (r#"{"argument":{"name":"a","value":"v"},"ref":{"type":"x"}}"#, "ref.type"),
        (r#"{"argument":{"name":"a","value":"v"},"ref":{"type":"ref/resource"}}"#, "ref.uri"),
        (r#"{"argument":{"name":"a"},"ref":{"type":"ref/resource","uri":"u"}}"#, "argument.value"),
    ] {
        assert_eq!(read(json).unwrap_err().data()["parameter"], parameter, "{json}");
    }
    let many = serde_json::to_value(CompleteResult::new(vec![String::new(); 150])).unwrap();
    assert_eq!(many["completion"]["values"].as_array().unwrap().len(), 100);
    assert_eq!((&many["completion"]["total"], &many["completion"]["hasMore"]), (&json!(150), &json!(true)));
}

#[test]
fn log_levels_are_ordered() {
    assert!(LogLevel::ALL.is_sorted());
    assert_eq!(LogLevel::read(&params(r#"{"level":"alert"}"#)).unwrap(), LogLevel::Alert);
    assert_eq!(LogLevel::read(&params(r#"{"level":"ALERT"}"#)).unwrap_err().data()["parameter"], "level");
    assert!(LogLevel::read(&params("{}")).is_err());
}

#[test]
fn subscriptions_agree_to_announced_kinds() {
    let read = |json, uris_max| ListenParams::read(&params(json), uris_max);
    let wanted = r#"{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a://b"]}}"#;
    let filter = read(wanted, 1).unwrap().filter.agreed(&everything());
    check(&filter, expect![[r#"{"toolsListChanged":true,"resourceSubscriptions":["a://b"]}"#]]);
    assert_eq!(read(wanted, 0).unwrap_err().data()["parameter"], "notifications.resourceSubscriptions");
    assert!(read("{}", 1).is_err() && read(r#"{"notifications":[]}"#, 1).is_err());
    assert!(read(r#"{"notifications":{"toolsListChanged":"yes"}}"#, 1).is_err());

    let id = Id::legal(serde_json::from_str("17").unwrap()).unwrap();
    let notices = [
        Notice::Acknowledged(&filter),
        Notice::ToolsChanged,
        Notice::PromptsChanged,
        Notice::ResourcesChanged,
        Notice::ResourceUpdated("a://b"),
        Notice::ResourceUpdated("a://c"),
    ];
    let sent: Vec<_> =
        notices.iter().filter(|notice| notice.passes(&filter)).map(|notice| text(notice.write(&id).unwrap())).collect();
    expect![[r#"
        {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":17},"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a://b"]}}}
        {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":17}}}
        {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":17},"uri":"a://b"}}"#]]
    .assert_eq(&sent.join("\n"));
}

#[test]
fn notices_of_a_call() {
    let token = Id::legal(serde_json::from_str("\"p\"").unwrap()).unwrap();
    let told = [
        text(Progress { done: 50.0, total: Some(100.0), message: None }.write(&token).unwrap()),
        text(Progress { done: 0.25, total: None, message: Some("a quarter".into()) }.write(&token).unwrap()),
        text(Log { level: LogLevel::Info, logger: Some("index".into()), data: json!("started") }.write().unwrap()),
    ];
    expect![[r#"
        {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":50,"total":100}}
        {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":0.25,"message":"a quarter"}}
        {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"index","data":"started"}}"#]]
    .assert_eq(&told.join("\n"));
}

#[test]
fn cancellation_names_a_request() {
    let read = |method: &'static str, json: &'static str| {
        Cancelled::read(&Notification { method: method.into(), params: Some(serde_json::from_str(json).unwrap()) })
            .map(|c| c.request.json().to_owned())
    };
    assert_eq!(read("notifications/cancelled", r#"{"requestId":"a","reason":"bored"}"#).as_deref(), Some("\"a\""));
    assert_eq!(read("notifications/cancelled", r#"{"requestId":{}}"#), None);
    assert_eq!(read("notifications/cancelled", "{}"), None);
    assert_eq!(read("notifications/other", r#"{"requestId":"a"}"#), None);
}
