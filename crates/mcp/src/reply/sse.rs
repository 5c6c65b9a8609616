//! Messages as server-sent events. Events have no ids: an interrupted stream is not resumed, and its call is cancelled.

/// The content type of a stream.
pub const CONTENT_TYPE: &str = "text/event-stream";
/// Tells proxies to forward events at once, and caches not to store them.
pub const HEADERS: [(&str, &str); 2] = [("cache-control", "no-store"), ("x-accel-buffering", "no")];
/// A comment that keeps an idle stream alive.
pub const KEEP_ALIVE: &[u8] = b":\n\n";

/// One message as an event.
pub fn event(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + 32);
    out.extend_from_slice(b"event: message\n");
    // A line break would end the event's line, so a message with line breaks becomes several lines, which readers join again.
    for line in message.split(|byte| matches!(byte, b'\n' | b'\r')) {
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out.push(b'\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_event() {
        assert_eq!(event(br#"{"a":1}"#), b"event: message\ndata: {\"a\":1}\n\n");
        assert_eq!(event(b"{\n\"a\":1}"), b"event: message\ndata: {\ndata: \"a\":1}\n\n");
    }
}
