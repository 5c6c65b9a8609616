//! Any bytes through the envelope parser: no panic, and every id that is echoed is a string or a number.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp::{Incoming, Message};

fuzz_target!(|body: &[u8]| {
    let limits = base::limits::Limits::default();
    match mcp::message::parse(body, &limits) {
        Ok(Incoming::One(message)) => check(&message),
        Ok(Incoming::Batch(elements)) => {
            assert!(!elements.is_empty() && elements.len() <= limits.batch_messages_max);
            elements.iter().flatten().for_each(check);
        }
        Err(refusal) => check_id(refusal.id.json()),
    }
});

fn check(message: &Message<'_>) {
    if let Message::Request(request) = message {
        check_id(request.id.json());
    }
}

fn check_id(id: &str) {
    assert!(id == "null" || id.starts_with(['"', '-']) || id.starts_with(|digit: char| digit.is_ascii_digit()), "{id}");
}
