//! `toolcrib user`: people who log in to the console.

use std::io::BufRead;

use anyhow::{Context, Result, bail};
use base::UserId;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use super::{ListArgs, said};
use crate::client::encode;
use crate::output::Column;
use crate::person;
use crate::workplace::{ClientArgs, Workplace};

const COLUMNS: [Column; 5] =
    [("ID", "/id"), ("EMAIL", "/email"), ("ROLE", "/role"), ("DISABLED", "/disabled"), ("CREATED", "/createdAt")];

/// People who log in to the console, each with a role in one org.
#[derive(Args, Debug)]
pub(crate) struct UserArgs {
    #[command(flatten)]
    client: ClientArgs,
    #[command(subcommand)]
    verb: Verb,
}

/// What a person may do.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Role {
    /// Everything, and managing owners and admins
    Owner,
    /// Everything else, and managing members
    Admin,
    /// Reading
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
    /// List the org's people
    List(ListArgs),
    /// Show a person
    Show {
        /// Person, by id or address
        user: String,
    },
    /// Add a person
    #[command(
        after_help = "Example:\n  pass show crib | toolcrib user add --email ada@acme.example \\\n    --org acme --role owner \
                            --password-stdin"
    )]
    Add {
        /// Their address, which they log in with
        #[arg(long)]
        email: String,
        /// What they may do
        #[arg(long)]
        role: Role,
        /// Read the password from the first line of stdin: it is never an argument, where others could see it
        #[arg(long, required = true)]
        password_stdin: bool,
    },
    /// Change a person; their logins end
    Set {
        /// Person, by id or address
        user: String,
        /// What they may do from now on
        #[arg(long)]
        role: Option<Role>,
        /// Lock them out
        #[arg(long, conflicts_with = "enable")]
        disable: bool,
        /// Let them in again
        #[arg(long)]
        enable: bool,
        /// Read a new password from the first line of stdin
        #[arg(long)]
        password_stdin: bool,
    },
    /// Remove a person and their logins
    Remove {
        /// Person, by id or address
        user: String,
    },
}

pub(crate) async fn run(args: UserArgs) -> Result<()> {
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
        Verb::Set { user, role, disable, enable, password_stdin } => {
            let password = if password_stdin { Some(json!(person::new_password().await?)) } else { None };
            let body = said([
                ("role", role.map(|role| json!(role.word()))),
                ("disabled", (disable || enable).then(|| json!(disable))),
                ("password", password),
            ]);
            place.print(&place.api.patch(&path(&place, &id_of(&place, &user).await?), &body).await?)
        }
        Verb::Remove { user } => {
            let id = id_of(&place, &user).await?;
            place.api.delete(&path(&place, &id)).await?;
            place.print_as(&json!({ "removed": id }), || format!("removed {user}"))
        }
    }
}

async fn id_of(place: &Workplace, user: &str) -> Result<String> {
    place.id_of("users", UserId::PREFIX, "email", user).await
}

fn path(place: &Workplace, id: &str) -> String {
    place.path(&format!("/users/{}", encode(id)))
}

/// The first line, without its end.
pub(crate) fn read_password(mut input: impl BufRead) -> Result<String> {
    let mut line = String::new();
    input.read_line(&mut line).context("cannot read the password from stdin")?;
    let password = line.trim_end_matches(['\n', '\r']);
    if password.is_empty() {
        bail!("there is no password on stdin: write it as the first line");
    }
    Ok(password.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_one_line_as_it_stands() {
        assert_eq!(read_password(&b" two words \r\nmore"[..]).unwrap(), " two words ");
        assert!(read_password(&b"\n"[..]).is_err());
    }
}
