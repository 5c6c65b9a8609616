//! Fixtures that ask the client one or more questions before they answer (`input_required`).
//!
//! The dispatcher drops a question that the client cannot answer, as it does for any tool.

use base::Result;
use mcp::Fault;
use mcp::model::{Action, Content, Elicited, InputRequest, InputRequired, InputResponses, Role, SamplingMessage, Text};
use serde_json::{Value, json};

use super::{Fixture, said};
use crate::reply::Reply;
use crate::request_state::Seal;
use crate::tool::Call;

pub(super) const FIXTURES: &[Fixture] = &[
    Fixture::new("test_streaming_elicitation", "Asks the user to confirm.", confirm),
    Fixture::new("test_input_required_result_elicitation", "Asks for the user's name.", name),
    Fixture::new("test_input_required_result_sampling", "Asks the model a question.", sampling),
    Fixture::new("test_input_required_result_list_roots", "Asks for the client's roots.", roots),
    Fixture::new("test_input_required_result_request_state", "Asks a question and sends signed state along.", confirm),
    Fixture::new("test_input_required_result_tampered_state", "Refuses modified state.", confirm),
    Fixture::new("test_input_required_result_multiple_inputs", "Asks three things at once.", everything),
    Fixture::new("test_input_required_result_multi_round", "Asks twice in a row.", two_rounds),
    Fixture::new("test_input_required_result_capabilities", "Asks only what the client can answer.", anything),
];

/// One question and the key of its answer.
pub(super) type Question = (Text, InputRequest);

fn name(call: Call<'_>) -> Result<Reply, Fault> {
    match answers(&call)?.elicited("user_name")? {
        Some(answer) => said(format!("Hello, {}!", field(&answer, "name"))),
        None => ask(vec![form("user_name", "What is your name?", "name", "string")], None),
    }
}

fn sampling(call: Call<'_>) -> Result<Reply, Fault> {
    match answers(&call)?.sampled("capital_question")? {
        Some(answer) => said(format!("The model says: {}", answer.text())),
        None => ask(vec![sample("capital_question", "What is the capital of France?", 100)], None),
    }
}

fn roots(call: Call<'_>) -> Result<Reply, Fault> {
    match answers(&call)?.roots("client_roots")? {
        Some(answer) => said(format!("The client works in: {}", joined(answer.roots.iter().map(|root| &*root.uri)))),
        None => ask(vec![client_roots()], None),
    }
}

fn confirm(call: Call<'_>) -> Result<Reply, Fault> {
    const ASKED: &str = "asked";
    let answer = answers(&call)?.elicited("confirm")?;
    match (state(&call)?, answer) {
        (Some(state), Some(_)) if state == ASKED => said("state-ok"),
        _ => {
            let question = form("confirm", "Please confirm.", "ok", "boolean");
            ask(vec![question], Some(Seal::of(&call).close(ASKED)?))
        }
    }
}

fn everything(call: Call<'_>) -> Result<Reply, Fault> {
    let answers = answers(&call)?;
    let (name, greeting) = (answers.elicited("user_name")?, answers.sampled("greeting")?);
    match (state(&call)?, name, greeting, answers.roots("client_roots")?) {
        (Some(_), Some(name), Some(greeting), Some(roots)) => {
            let roots = joined(roots.roots.iter().map(|root| &*root.uri));
            said(format!("{} {} {roots}", greeting.text(), field(&name, "name")))
        }
        _ => {
            let name = form("user_name", "What is your name?", "name", "string");
            let greeting = sample("greeting", "Say hello.", 50);
            ask(vec![name, greeting, client_roots()], Some(Seal::of(&call).close("asked")?))
        }
    }
}

/// The first answer is not stored: it comes back inside the second state.
fn two_rounds(call: Call<'_>) -> Result<Reply, Fault> {
    const NAMED: &str = "named ";
    let (answers, seal) = (answers(&call)?, Seal::of(&call));
    let state = state(&call)?;
    let named = state.as_deref().and_then(|state| state.strip_prefix(NAMED));
    match (named, answers.elicited("step1")?, answers.elicited("step2")?) {
        (Some(name), _, Some(color)) => said(format!("{name} likes {}.", field(&color, "color"))),
        (Some(name), _, None) => ask(vec![second_step()], Some(seal.close(&format!("{NAMED}{name}"))?)),
        (None, Some(name), _) if state.is_some() => {
            ask(vec![second_step()], Some(seal.close(&format!("{NAMED}{}", field(&name, "name")))?))
        }
        _ => ask(vec![form("step1", "Step 1: what is your name?", "name", "string")], Some(seal.close("asked")?)),
    }
}

fn second_step() -> Question {
    form("step2", "Step 2: what is your favourite colour?", "color", "string")
}

fn anything(call: Call<'_>) -> Result<Reply, Fault> {
    let answers = answers(&call)?;
    match (answers.elicited("user_name")?, answers.sampled("greeting")?) {
        (None, None) => {
            ask(vec![form("user_name", "What is your name?", "name", "string"), sample("greeting", "Say hello.", 50)], None)
        }
        _ => said("Thank you."),
    }
}

fn answers<'a>(call: &Call<'a>) -> Result<InputResponses<'a>> {
    call.exchange.responses.clone()
}

/// The state that the client sent back, if there is one and its signature is valid.
fn state(call: &Call<'_>) -> Result<Option<String>> {
    let sealed = call.exchange.request_state.clone()?;
    sealed.map(|sealed| Seal::of(call).open(&sealed).map(str::to_owned)).transpose()
}

fn ask(requests: Vec<Question>, request_state: Option<String>) -> Result<Reply, Fault> {
    Ok(Reply::InputRequired(InputRequired { requests, request_state }))
}

/// A form with one field.
pub(super) fn form(key: &'static str, message: &'static str, field: &str, kind: &str) -> Question {
    let requested_schema = json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    (key.into(), InputRequest::Elicit { message: message.into(), requested_schema })
}

fn sample(key: &'static str, text: &'static str, max_tokens: u32) -> Question {
    let messages = vec![SamplingMessage { role: Role::User, content: Content::text(text) }];
    (key.into(), InputRequest::Sample { messages, max_tokens })
}

fn client_roots() -> Question {
    ("client_roots".into(), InputRequest::Roots {})
}

/// The value of a form field, or `stranger` if the user declined.
pub(super) fn field<'e>(form: &'e Elicited, name: &str) -> &'e str {
    let accepted = form.content.get(name).filter(|_| form.action == Action::Accept);
    accepted.and_then(Value::as_str).unwrap_or("stranger")
}

fn joined<'t>(words: impl Iterator<Item = &'t str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}
