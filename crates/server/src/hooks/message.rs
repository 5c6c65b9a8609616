//! Webhook messages. They are made only from the audit trail, so they contain the arguments only as a digest.

use base::event::is_of;
use base::{OrgId, Timestamp};
use guard::{Happened, HookPhase};
use serde_json::{Map, Value, json};

/// One message to a receiver.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// The same for every delivery of the message, so that a receiver can recognize duplicates.
    pub(crate) id: String,
    /// A call phase or an event type.
    pub(crate) message_type: String,
    /// The signed JSON body.
    pub(crate) body: String,
}

/// The messages of an event that a webhook subscribes to, in chronological order.
pub(crate) fn messages(org: &OrgId, event: &Happened, wanted: &[String]) -> Vec<Message> {
    let mut messages = Vec::new();
    if let Some(state) = event.call_state() {
        for (phase, at, data) in phases(org, event, state) {
            let phase = phase.word();
            if wanted.iter().any(|wanted| wanted == phase) {
                messages.push(message(org, event, format!("{}-{phase}", event.id), phase, at, data));
            }
        }
    }
    if wanted.iter().any(|wanted| is_of(&event.event_type, wanted)) {
        messages.push(message(org, event, event.id.clone(), &event.event_type, event.at, of_trail(event)));
    }
    messages
}

fn message(org: &OrgId, event: &Happened, id: String, message_type: &str, at: Timestamp, data: Map<String, Value>) -> Message {
    let body = json!({
        "id": id,
        "type": message_type,
        "workspaceId": org,
        "sequenceNumber": event.sequence,
        "emittedAt": at,
        "data": data,
    });
    Message { id, message_type: message_type.to_owned(), body: body.to_string() }
}

/// The phases of a call, as on the hook bus.
fn phases(org: &OrgId, event: &Happened, state: &str) -> Vec<(HookPhase, Timestamp, Map<String, Value>)> {
    let let_in = event.payload.pointer("/decision/allowed").and_then(Value::as_bool).unwrap_or(false);
    let denied = state == "refused" && !let_in;
    let with = |members: Vec<(&str, Value)>| {
        let mut data = call(org, event);
        data.extend(members.into_iter().map(|(name, value)| (name.to_owned(), value)));
        data
    };
    if event.effect_stands() {
        // The entry of the effect already has the other phases.
        return vec![(HookPhase::VerbError, event.at, with(vec![("error", error(event, state))]))];
    }
    let before = if denied { vec![("denied", json!(true))] } else { Vec::new() };
    let mut phases = vec![(HookPhase::PreVerb, event.started_at(), with(before))];
    if !denied {
        let outcome = if state == "completed" { "completed" } else { "failed" };
        let duration = event.payload.get("durationMs").cloned().unwrap_or_default();
        phases.push((HookPhase::PostVerb, event.at, with(vec![("outcome", json!(outcome)), ("durationMs", duration)])));
    }
    if state != "completed" {
        phases.push((HookPhase::VerbError, event.at, with(vec![("error", error(event, state))])));
    }
    phases
}

/// The members common to all phases of a call. Members that do not apply are omitted.
fn call(org: &OrgId, event: &Happened) -> Map<String, Value> {
    let mut data = Map::new();
    data.insert("verb".to_owned(), json!(event.entity_id));
    data.insert("orgId".to_owned(), json!(org));
    for member in ["legacyAlias", "door", "sessionId", "agentId", "projectId", "keyId", "argumentsDigest"] {
        if let Some(value) = event.payload.get(member) {
            data.insert(member.to_owned(), value.clone());
        }
    }
    if let Some(request) = &event.request_id {
        data.insert("requestId".to_owned(), json!(request));
    }
    data
}

/// The error of a call. The audit trail contains only kind and code: the original message may quote arguments, so it is not stored.
fn error(event: &Happened, state: &str) -> Value {
    let kind = event.error_kind();
    let message = match (state, kind) {
        ("cancelled", _) => "the caller disconnected",
        (_, Some("not_permitted")) => "not permitted",
        (_, Some("tool_not_found")) => "no such tool",
        (_, Some("invalid_params")) => "invalid arguments",
        (_, Some(_)) => "the call failed",
        (_, None) => "the tool reported a failure",
    };
    let mut error = Map::new();
    if let Some(code) = event.payload.pointer("/error/code").filter(|code| !code.is_null()) {
        error.insert("code".to_owned(), code.clone());
    }
    error.extend(kind.map(|kind| ("kind".to_owned(), json!(kind))));
    error.insert("message".to_owned(), json!(message));
    Value::Object(error)
}

/// The event as in the audit trail, without hashes and signature.
fn of_trail(event: &Happened) -> Map<String, Value> {
    let members = [
        ("actorType", json!(event.actor_type)),
        ("actorId", json!(event.actor_id)),
        ("entityType", json!(event.entity_type)),
        ("entityId", json!(event.entity_id)),
        ("requestId", json!(event.request_id)),
        ("payload", event.payload.clone()),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(event_type: &str, payload: Value) -> Happened {
        Happened {
            sequence: 7,
            id: "evt_1".to_owned(),
            at: Timestamp::from_ms(2_000),
            event_type: event_type.to_owned(),
            actor_type: "session".to_owned(),
            actor_id: Some("ses_1".to_owned()),
            entity_type: Some("tool".to_owned()),
            entity_id: Some("kits.list".to_owned()),
            request_id: None,
            payload,
        }
    }

    fn sent(event: &Happened, wanted: &[&str]) -> Vec<(String, Value)> {
        let wanted: Vec<String> = wanted.iter().map(|word| (*word).to_owned()).collect();
        let org = OrgId::new(Timestamp::from_ms(1));
        let messages = messages(&org, event, &wanted);
        messages.into_iter().map(|message| (message.id, serde_json::from_str(&message.body).unwrap())).collect()
    }

    const PHASES: [&str; 3] = ["pre-verb", "post-verb", "verb-error"];

    #[test]
    fn call_has_one_message_per_phase() {
        let started = "1970-01-01T00:00:01.000Z";
        for (event_type, payload, expected) in [
            ("call.completed", json!({}), vec!["pre-verb", "post-verb"]),
            ("call.failed", json!({"error": {"kind": "internal", "code": -32603}}), vec!["pre-verb", "post-verb", "verb-error"]),
            ("call.cancelled", json!({}), vec!["pre-verb", "post-verb", "verb-error"]),
            ("call.refused", json!({"decision": {"allowed": false}}), vec!["pre-verb", "verb-error"]),
            ("call.refused", json!({"decision": {"allowed": true}}), vec!["pre-verb", "post-verb", "verb-error"]),
            (
                "call.failed",
                json!({"error": {"kind": "timeout"}, "decision": {"allowed": true}, "effectStands": true}),
                vec!["verb-error"],
            ),
            ("key.minted", json!({}), vec![]),
        ] {
            let mut payload = payload;
            payload["startedAt"] = json!(started);
            let sent = sent(&event(event_type, payload.clone()), &PHASES);
            let types: Vec<_> = sent.iter().map(|(_, body)| body["type"].as_str().unwrap()).collect();
            assert_eq!(types, expected, "{event_type} {payload}");
            if let Some((id, first)) = sent.first().filter(|_| types.contains(&"pre-verb")) {
                assert_eq!((id.as_str(), &first["emittedAt"]), ("evt_1-pre-verb", &json!(started)));
                assert_eq!(first["data"].get("denied").is_some(), !types.contains(&"post-verb"), "{first}");
            }
        }
    }

    #[test]
    fn alias_is_sent_with_the_canonical_name() {
        let called = event("call.completed", json!({"legacyAlias": "kits_list"}));
        for (_, body) in sent(&called, &PHASES) {
            assert_eq!((&body["data"]["verb"], &body["data"]["legacyAlias"]), (&json!("kits.list"), &json!("kits_list")));
        }
    }

    #[test]
    fn types_and_families_match_by_name() {
        let minted = event("key.minted", json!({"name": "ci"}));
        for (wanted, count) in
            [(&["key.minted"][..], 1), (&["key.*"], 1), (&["key.*", "key.minted"], 1), (&["ke*"], 0), (&["*"], 0)]
        {
            assert_eq!(sent(&minted, wanted).len(), count, "{wanted:?}");
        }
        let (id, body) = sent(&minted, &["key.*"]).remove(0);
        assert_eq!(
            (id.as_str(), &body["data"]["payload"], &body["sequenceNumber"]),
            ("evt_1", &json!({"name": "ci"}), &json!(7))
        );
    }
}
