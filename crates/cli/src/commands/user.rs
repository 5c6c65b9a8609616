//! `toolcrib user`: manages the people who can log in.

use std::io::BufRead;

use anyhow::{Context, Result, bail};
use base::UserId;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::key::with_minted;
use super::{ListArgs, request_body};
use crate::client::encode;
use crate::output::{self, Column};
use crate::person;
use crate::workplace::{ClientArgs, Workplace};

const COLUMNS: [Column; 5] =
    [("ID", "/id"), ("EMAIL", "/email"), ("ROLE", "/role"), ("DISABLED", "/disabled"), ("CREATED", "/createdAt")];

/// Manages the people who can log in. Each has a role in one org.
#[derive(Args, Debug)]
pub(crate) struct UserArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: Verb,
}

/// The role of a user.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Role {
    /// Full access, including managing owners and admins
    Owner,
    /// Full access, except managing owners and admins
    Admin,
    /// Read-only access
    Member,
}

impl Role {
    fn word(self) -> &'static str {
        match self {
            Role::Owner => "owner",
            Role::Admin => "admin",
            Role::Member => "member",
        }
    }
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// List the org's users
    List(ListArgs),
    /// Show a user
    Show {
        /// User, by id or email
        user: String,
    },
    /// Create a user
    #[command(
        after_help = "Examples:\n  toolcrib user add --email ada@acme.example --role owner\n  pass show crib | toolcrib user add --email \
                      ada@acme.example \\\n    --org acme --role owner --password-stdin\n\nAt a terminal, the command asks for the \
                      password twice. It needs 12 or more characters."
    )]
    Add {
        /// Email address to log in with
        #[arg(long)]
        email: String,
        /// Role in the org
        #[arg(long)]
        role: Role,
        /// Read the password (12 or more characters) from the first line of stdin
        #[arg(long)]
        password_stdin: bool,
    },
    /// Change a user and end their logins and sessions
    Set {
        /// User, by id or email
        user: String,
        /// New role
        #[arg(long)]
        role: Option<Role>,
        /// Disable the user
        #[arg(long, conflicts_with = "enable")]
        disable: bool,
        /// Enable the user again
        #[arg(long)]
        enable: bool,
        /// With --disable: also revoke every key they created, directly or indirectly
        #[arg(long, requires = "disable")]
        cascade: bool,
        /// Read a new password (12 or more characters) from the first line of stdin
        #[arg(long)]
        password_stdin: bool,
    },
    /// Remove a user, end their logins and sessions, and list the keys they created
    Remove {
        /// User, by id or email
        user: String,
        /// Also revoke every key they created, directly or indirectly
        #[arg(long)]
        cascade: bool,
    },
}

pub(crate) async fn run(args: UserArgs) -> Result<()> {
    match &args.verb {
        Verb::Add { password_stdin, .. } => person::check_password_source(*password_stdin)?,
        Verb::Set { role: None, disable: false, enable: false, password_stdin: false, .. } => {
            bail!("nothing to change; pass --role, --disable, --enable or --password-stdin")
        }
        _ => {}
    }
    let place = args.client.workplace().await?;
    match args.verb {
        Verb::List(list) => {
            let answer = place.api.list(&place.path("/users"), "users", list.limit).await?;
            place.print_list(&answer, "users", &COLUMNS)
        }
        Verb::Show { user } => place.print(&place.api.get(&path(&place, &id_of(&place, &user).await?)).await?),
        Verb::Add { email, role, password_stdin: _ } => {
            let password = person::new_password().await?;
            let body = json!({ "email": email, "role": role.word(), "password": password });
            place.print(&place.api.post(&place.path("/users"), &body).await?)
        }
        Verb::Set { user, role, disable, enable, cascade, password_stdin } => {
            let password = if password_stdin { Some(json!(person::new_password().await?)) } else { None };
            let body = request_body([
                ("role", role.map(|role| json!(role.word()))),
                ("disabled", (disable || enable).then(|| json!(disable))),
                ("password", password),
            ]);
            let path = format!("{}?cascade={cascade}", path(&place, &id_of(&place, &user).await?));
            let answer = place.api.patch(&path, &body).await?;
            place.print_as(&answer, || changed(&user, &answer))
        }
        Verb::Remove { user, cascade } => {
            let id = id_of(&place, &user).await?;
            let mut answer = place.api.delete(&format!("{}?cascade={cascade}", path(&place, &id))).await?;
            let hint = "keys they created are still valid (`toolcrib key revoke KEY --cascade` revokes one):";
            let text = with_minted(format!("removed {user}"), "they created", hint, &answer);
            if let Some(members) = answer.as_object_mut() {
                members.insert("removed".to_owned(), json!(id));
            }
            place.print_as(&answer, || text)
        }
    }
}

/// The user after the change, and the keys they created if that changes those keys or leaves them valid.
fn changed(user: &str, answer: &Value) -> String {
    let text = output::facts(answer.get("user").unwrap_or(answer));
    let hint = "keys they created are still valid (`--cascade` revokes them too):";
    let done = format!("disabled {user}");
    let minted = with_minted(done.clone(), "they created", hint, answer);
    if minted == done { text } else { format!("{}\n{minted}", text.trim_end()) }
}

async fn id_of(place: &Workplace, user: &str) -> Result<String> {
    place.id_of("users", UserId::PREFIX, "email", user).await
}

fn path(place: &Workplace, id: &str) -> String {
    place.path(&format!("/users/{}", encode(id)))
}

/// Reads the first line, without its line break.
pub(crate) fn read_password(mut input: impl BufRead) -> Result<String> {
    let mut line = String::new();
    input.read_line(&mut line).context("cannot read the password from stdin")?;
    let password = line.trim_end_matches(['\n', '\r']);
    if password.is_empty() {
        bail!("no password on stdin; write it as the first line");
    }
    Ok(password.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_the_first_line_unchanged() {
        assert_eq!(read_password(&b" two words \r\nmore"[..]).unwrap(), " two words ");
        assert!(read_password(&b"\n"[..]).is_err());
    }
}
