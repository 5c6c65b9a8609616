//! What the API's refusals mean to a person at a terminal.

use std::fmt;

use reqwest::StatusCode;
use serde_json::Value;

/// What has a command of its own that lists it.
const LISTED: [&str; 10] = ["org", "project", "key", "session", "agent", "user", "brick", "kit", "policy", "webhook"];

/// What a call was made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// A key.
    Key,
    /// A person's login.
    Login,
    /// Nothing: the body says who asks.
    Nobody,
}

/// A refusal by the API.
#[derive(Debug)]
pub(crate) struct ApiError {
    /// The HTTP status.
    pub(crate) status: StatusCode,
    body: Value,
    retry_after: Option<String>,
    by: By,
}

impl ApiError {
    /// A refusal of a call that was made with a key.
    pub(crate) fn new(status: StatusCode, body: Value, retry_after: Option<String>) -> Self {
        Self { status, body, retry_after, by: By::Key }
    }

    /// The same refusal of a call that was made otherwise.
    pub(crate) fn by(self, by: By) -> Self {
        Self { by, ..self }
    }

    /// What keeps a kit from being published, where that is the reason.
    fn blockers(&self) -> &[Value] {
        self.body.get("blockers").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// What is wrong with the text that was sent, where that is the reason.
    pub(crate) fn findings(&self) -> &[Value] {
        self.body.get("findings").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn hint(&self) -> Option<String> {
        let text = match self.status {
            StatusCode::UNAUTHORIZED if self.by == By::Nobody => return None,
            StatusCode::UNAUTHORIZED if self.by == By::Login => "the login is over: log in again with `toolcrib login`",
            StatusCode::FORBIDDEN if self.by == By::Login => "log in as an owner or an admin of the org with `toolcrib login`",
            StatusCode::UNAUTHORIZED => {
                "the server does not know this key, or it was revoked or has expired: check --key and TOOLCRIB_KEY; on the \
                 server's machine, leave both out"
            }
            StatusCode::FORBIDDEN => {
                "the key is good, but not for this: use one with more scopes or projects (`toolcrib key add NAME --scope SCOPE` \
                 makes one), or the instance admin's on the server's machine"
            }
            StatusCode::NOT_FOUND => return self.missing().map(|noun| format!("`toolcrib {noun} list` shows what there is")),
            StatusCode::TOO_MANY_REQUESTS => {
                return Some(format!("wait {} s and try again", self.retry_after.as_deref().unwrap_or("a few")));
            }
            status if status.is_server_error() => "the server's log says more; `toolcrib doctor` checks the rest",
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// What there is none of, when a command lists such things.
    fn missing(&self) -> Option<&'static str> {
        let (_, what) = self.body.get("error")?.as_str()?.split_once("no such ")?;
        LISTED.into_iter().find(|noun| what.split([',', ' ']).next() == Some(noun))
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.status.canonical_reason().unwrap_or("refused");
        let said = self.body.get("error").and_then(Value::as_str).unwrap_or(reason);
        write!(f, "{said} ({})", self.status.as_u16())?;
        for finding in self.findings() {
            write!(f, "\n  {finding}")?;
        }
        for blocker in self.blockers() {
            let text = |member: &str| blocker.get(member).and_then(Value::as_str);
            let code = text("code").unwrap_or_default();
            match text("brick_id") {
                Some(brick) => write!(f, "\n  {code}: brick {brick}: {}", meaning(code))?,
                None => write!(f, "\n  {code}: {}", meaning(code))?,
            }
        }
        match self.hint() {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ApiError {}

/// What a blocker says, and what to do about it.
fn meaning(code: &str) -> &'static str {
    match code {
        "kit_empty" => "the kit holds no brick; add a version with bricks",
        "brick_missing" => "the brick or its pinned version is gone; add a version of the kit without it",
        "brick_deprecated" => "the brick is deprecated; add a version of the kit without it",
        "brick_rule_empty" => "the pinned version has no rule; add a version of the brick with one, then one of the kit",
        "brick_key_conflict" => "an earlier brick of the kit has the same key; add a version of the kit with one of them",
        _ => "`toolcrib kit show` tells more",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn refusals_say_what_to_do() {
        let says =
            |status: u16, body: Value| ApiError::new(StatusCode::from_u16(status).unwrap(), body, Some("3".into())).to_string();
        assert!(
            says(401, json!({"error": "Unauthorized"}))
                .starts_with("Unauthorized (401)\nhint: the server does not know this key")
        );
        assert!(
            says(403, json!({"error": "this needs the scope `keys:write`"}))
                .contains("`keys:write` (403)\nhint: the key is good")
        );
        assert_eq!(
            says(404, json!({"error": "no such project"})),
            "no such project (404)\nhint: `toolcrib project list` shows what there is"
        );
        assert!(says(404, json!({"error": "there is no such agent, or it is disabled"})).contains("`toolcrib agent list`"));
        assert_eq!(says(404, json!({"error": "no such page"})), "no such page (404)");
        assert_eq!(says(429, Value::Null), "Too Many Requests (429)\nhint: wait 3 s and try again");
        assert!(says(503, Value::Null).contains("toolcrib doctor"));
    }

    #[test]
    fn blockers_are_told_one_a_line() {
        let body = json!({"error": "the kit is blocked", "blockers": [
            {"code": "brick_deprecated", "brick_id": "brk_1", "brick_version_id": "bkv_1"}, {"code": "kit_empty", "brick_id": null}]});
        let told = ApiError::new(StatusCode::CONFLICT, body, None).to_string();
        let mut lines = told.lines();
        assert_eq!(lines.next(), Some("the kit is blocked (409)"));
        assert!(lines.next().is_some_and(|line| line.starts_with("  brick_deprecated: brick brk_1: the brick is deprecated")));
        assert!(lines.next().is_some_and(|line| line.starts_with("  kit_empty: the kit holds no brick")));
    }

    #[test]
    fn a_login_is_no_key() {
        let refused = |status: u16| ApiError::new(StatusCode::from_u16(status).unwrap(), Value::Null, None).by(By::Login);
        assert!(refused(401).to_string().contains("the login is over"));
        assert!(refused(403).to_string().contains("an owner or an admin"));
    }
}
