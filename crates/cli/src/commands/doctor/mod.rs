//! `toolcrib doctor`: looks at everything that a working setup needs, and says what to do about what is missing.

mod local;
mod remote;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use crate::workplace::{ClientArgs, ProjectArg};
use crate::{environment, output};

/// What to look at.
#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(flatten)]
    project: ProjectArg,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Ok,
    Warn,
    Fail,
}

impl Status {
    fn word(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Warn => "warn",
            Status::Fail => "fail",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug)]
struct Check {
    name: &'static str,
    status: Status,
    detail: String,
    /// What to do.
    hint: Option<String>,
}

impl Check {
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, detail: detail.into(), hint: None }
    }

    fn warn(name: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, status: Status::Warn, detail: detail.into(), hint: Some(hint.into()) }
    }

    fn fail(name: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, status: Status::Fail, detail: detail.into(), hint: Some(hint.into()) }
    }
}

/// Whether nothing failed.
pub(crate) async fn run(args: DoctorArgs) -> Result<bool> {
    let again = again(&args.client);
    let mut checks = local::checks(&args.client.server).await;
    checks.extend(remote::checks(&args.client, &args.project, &again).await);
    checks.push(local::clients(&again));
    let healthy = checks.iter().all(|check| check.status != Status::Fail);
    if args.client.json {
        output::print_json(&report(&checks, healthy))?;
    } else {
        output::print(&text(&checks))?;
    }
    Ok(healthy)
}

/// The flags that this command was given and another one needs too. What the environment says is said to both.
fn again(client: &ClientArgs) -> String {
    let data = client.server.data.as_ref().map(|data| data.to_string_lossy().into_owned());
    let given = [
        ("url", "TOOLCRIB_URL", client.server.url.clone()),
        ("data", "TOOLCRIB_DATA", data),
        ("org", "TOOLCRIB_ORG", client.org.clone()),
    ];
    let said_here = given.into_iter().filter_map(|(flag, variable, value)| {
        let value = value.filter(|value| environment::text(variable).as_ref() != Some(value))?;
        Some(format!(" --{flag} {}", output::quoted(&value)))
    });
    said_here.collect()
}

fn report(checks: &[Check], healthy: bool) -> serde_json::Value {
    let row = |check: &Check| {
        let mut row = json!({ "name": check.name, "status": check.status.word(), "detail": check.detail });
        if let (Some(row), Some(hint)) = (row.as_object_mut(), &check.hint) {
            row.insert("hint".to_owned(), json!(hint));
        }
        row
    };
    json!({ "ok": healthy, "checks": checks.iter().map(row).collect::<Vec<_>>() })
}

fn text(checks: &[Check]) -> String {
    let mut lines = Vec::new();
    for check in checks {
        let detail = output::harmless(&check.detail, false);
        lines.push(vec![check.status.word().to_owned(), check.name.to_owned(), detail]);
        if let Some(hint) = &check.hint {
            lines.push(vec![String::new(), String::new(), format!("→ {hint}")]);
        }
    }
    output::align(&lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn checks_are_shown_with_what_to_do() {
        let checks = [Check::ok("settings", "defaults"), Check::fail("server", "none runs", "start it with `toolcrib serve`")];
        expect![[r#"
            ok    settings  defaults
            fail  server    none runs
                            → start it with `toolcrib serve`"#]]
        .assert_eq(&text(&checks));
        let report = report(&checks, false);
        assert_eq!(report["checks"][0].get("hint"), None);
        assert_eq!((&report["ok"], &report["checks"][1]["status"]), (&json!(false), &json!("fail")));
    }
}
