//! API errors, with hints for the person at the terminal.

use std::fmt;

use reqwest::StatusCode;
use serde_json::Value;

/// Nouns that have a `toolcrib NOUN list` command.
const LISTED: [&str; 10] = ["org", "project", "key", "session", "agent", "user", "brick", "kit", "policy", "webhook"];

/// The credential of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// A key.
    Key,
    /// A person's login.
    Login,
    /// None: the credentials are in the body.
    Nobody,
}

/// An error response of the API.
#[derive(Debug)]
pub(crate) struct ApiError {
    /// The HTTP status.
    pub(crate) status: StatusCode,
    body: Value,
    retry_after: Option<String>,
    by: By,
}

impl ApiError {
    /// An error response to a call with a key.
    pub(crate) fn new(status: StatusCode, body: Value, retry_after: Option<String>) -> Self {
        Self { status, body, retry_after, by: By::Key }
    }

    /// Sets the credential of the call.
    pub(crate) fn by(self, by: By) -> Self {
        Self { by, ..self }
    }

    /// The reasons why a kit cannot be published, if the response has any.
    fn blockers(&self) -> &[Value] {
        self.body.get("blockers").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// The problems in the submitted text, if the response has any.
    pub(crate) fn findings(&self) -> &[Value] {
        self.body.get("findings").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn hint(&self) -> Option<String> {
        let text = match self.status {
            StatusCode::UNAUTHORIZED if self.by == By::Nobody => return None,
            StatusCode::UNAUTHORIZED if self.by == By::Login => "login expired; run `toolcrib login` again",
            StatusCode::FORBIDDEN if self.by == By::Login => "run `toolcrib login` as an owner or an admin of the org",
            StatusCode::UNAUTHORIZED => {
                "key unknown, revoked or expired; check --key and TOOLCRIB_KEY, or omit both on the server's machine"
            }
            StatusCode::FORBIDDEN => {
                "the key lacks a scope or project; create another with `toolcrib key add NAME --scope SCOPE`, or use the \
                 instance admin's key on the server's machine"
            }
            StatusCode::NOT_FOUND => return self.list_command().map(|command| format!("run `toolcrib {command}`")),
            StatusCode::TOO_MANY_REQUESTS => {
                return Some(format!("wait {} s and try again", self.retry_after.as_deref().unwrap_or("a few")));
            }
            status if status.is_server_error() => "see the server's log, or run `toolcrib doctor`",
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// The command that lists what exists, if the error names what is missing.
    fn list_command(&self) -> Option<String> {
        match self.body.get("missing")?.as_str()? {
            "signing key" => Some("audit keys".to_owned()),
            noun => LISTED.contains(&noun).then(|| format!("{noun} list")),
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.status.canonical_reason().unwrap_or("refused");
        let message = self.body.get("error").and_then(Value::as_str).unwrap_or(reason);
        write!(f, "{message} ({})", self.status.as_u16())?;
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

/// What a blocker means, and how to fix it.
fn meaning(code: &str) -> &'static str {
    match code {
        "kit_empty" => "the kit has no bricks; add a version with bricks",
        "brick_missing" => "the brick or its pinned version is gone; add a version of the kit without it",
        "brick_deprecated" => "the brick is deprecated; add a version of the kit without it",
        "brick_rule_empty" => "the pinned version has no rule; add a brick version with a rule, then a kit version",
        "brick_key_conflict" => "an earlier brick of the kit has the same key; add a kit version with only one of them",
        _ => "see `toolcrib kit show`",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_have_hints() {
        let says =
            |status: u16, body: Value| ApiError::new(StatusCode::from_u16(status).unwrap(), body, Some("3".into())).to_string();
        assert!(
            says(401, json!({"error": "Unauthorized"})).starts_with("Unauthorized (401)\nhint: key unknown, revoked or expired")
        );
        assert!(
            says(403, json!({"error": "this needs the scope `keys:write`"}))
                .contains("`keys:write` (403)\nhint: the key lacks a scope or project")
        );
        assert_eq!(
            says(404, json!({"error": "no such project", "missing": "project"})),
            "no such project (404)\nhint: run `toolcrib project list`"
        );
        assert!(
            says(404, json!({"error": "there is no such agent, or it is disabled", "missing": "agent"}))
                .contains("`toolcrib agent list`")
        );
        assert!(
            says(404, json!({"error": "no such signing key", "missing": "signing key"})).contains("run `toolcrib audit keys`")
        );
        assert_eq!(says(404, json!({"error": "no such page"})), "no such page (404)");
        assert_eq!(says(404, json!({"error": "no such event", "missing": "event"})), "no such event (404)");
        assert_eq!(says(429, Value::Null), "Too Many Requests (429)\nhint: wait 3 s and try again");
        assert!(says(503, Value::Null).contains("toolcrib doctor"));
    }

    #[test]
    fn each_blocker_is_on_its_own_line() {
        let body = json!({"error": "the kit is blocked", "blockers": [
            {"code": "brick_deprecated", "brick_id": "brk_1", "brick_version_id": "bkv_1"}, {"code": "kit_empty", "brick_id": null}]});
        let text = ApiError::new(StatusCode::CONFLICT, body, None).to_string();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("the kit is blocked (409)"));
        assert!(lines.next().is_some_and(|line| line.starts_with("  brick_deprecated: brick brk_1: the brick is deprecated")));
        assert!(lines.next().is_some_and(|line| line.starts_with("  kit_empty: the kit has no bricks")));
    }

    #[test]
    fn hints_for_a_login_differ_from_hints_for_a_key() {
        let refused = |status: u16| ApiError::new(StatusCode::from_u16(status).unwrap(), Value::Null, None).by(By::Login);
        assert!(refused(401).to_string().contains("login expired"));
        assert!(refused(403).to_string().contains("an owner or an admin"));
    }
}
