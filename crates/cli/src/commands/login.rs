//! `toolcrib login` and `toolcrib logout`: store and remove a person's login.

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use crate::find::ServerArgs;
use crate::output;
use crate::person::{PersonArgs, StoredLogin};

/// The person and the server.
#[derive(Args, Debug)]
pub(crate) struct LoginArgs {
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    person: PersonArgs,
}

/// The server to log out from.
#[derive(Args, Debug)]
pub(crate) struct LogoutArgs {
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) async fn log_in(args: LoginArgs) -> Result<()> {
    let url = args.server.find_url()?;
    let before = StoredLogin::read(&url)?;
    let (login, answer) = PersonArgs { is_login: true, ..args.person }.log_in(&url).await?;
    if let Some(before) = before {
        before.end().await?;
    }
    let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (email, role) = (text("/user/email"), text("/user/role"));
    let file = StoredLogin::new(&url, email, login).store()?;
    if args.json {
        return output::print_json(&json!({ "url": url, "user": answer.get("user"), "file": file }));
    }
    output::print(&format!("logged in at {url} as {email} ({role}) for twelve hours; log out with `toolcrib logout`"))
}

pub(crate) async fn log_out(args: LogoutArgs) -> Result<()> {
    let url = args.server.find_url()?;
    let stored = StoredLogin::read(&url)?;
    if let Some(stored) = &stored {
        stored.end().await?;
    }
    let email = stored.map(|stored| stored.email);
    if args.json {
        return output::print_json(&json!({ "url": url, "loggedOut": email }));
    }
    output::print(&match email {
        Some(email) => format!("logged out {email} at {url}"),
        None => format!("nobody was logged in at {url}"),
    })
}
