//! `toolcrib doctor`: checks the setup and suggests fixes.

mod local;
mod remote;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use crate::workplace::{ClientArgs, ProjectArg};
use crate::{environment, output};

/// Selects the server and project to check.
#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(flatten)]
    project: ProjectArg,
}

/// The result of a check.
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

/// One check and its result.
#[derive(Debug)]
struct Check {
    name: &'static str,
    status: Status,
    detail: String,
    /// How to fix it.
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

/// Runs all checks. Returns whether none failed.
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

/// The flags to repeat in suggested commands. Values from the environment need no flag.
fn again(client: &ClientArgs) -> String {
    let data = client.server.data.as_ref().map(|data| data.to_string_lossy().into_owned());
    let given = [
        ("url", "TOOLCRIB_URL", client.server.url.clone()),
        ("data", "TOOLCRIB_DATA", data),
        ("org", "TOOLCRIB_ORG", client.org.clone()),
    ];
    let flags = given.into_iter().filter_map(|(flag, variable, value)| {
        let value = value.filter(|value| environment::text(variable).as_ref() != Some(value))?;
        Some(format!(" --{flag} {}", output::quoted(&value)))
    });
    flags.collect()
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
        let detail = output::sanitized(&check.detail, false);
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
    fn checks_are_shown_with_hints() {
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
