//! A person at the terminal. Some things a person decides, not a key: for those, commands log in to the console with the person's
//! address and password, or use the login that `toolcrib login` has stored.

use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::client::{Api, Login, post_public};
use crate::commands::user::read_password;
use crate::{environment, files, prompt};

/// Who decides.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Person")]
pub(crate) struct PersonArgs {
    /// Address to log in with [default: the stored login's, else you are asked]
    #[arg(long)]
    pub(crate) email: Option<String>,

    /// Read the password from the first line of stdin instead of asking for it
    #[arg(long)]
    pub(crate) password_stdin: bool,
}

/// A person who is logged in.
pub(crate) struct Person {
    /// The API, called as this person.
    pub(crate) api: Api,
    /// Whether the login was made for this command only.
    is_brief: bool,
}

/// A login that is kept between commands, in a file of its own that only its owner can read.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct StoredLogin {
    url: String,
    /// Who is logged in.
    pub(crate) email: String,
    cookie: String,
    csrf: String,
}

impl PersonArgs {
    /// The person: by the stored login, or by an address and a password.
    pub(crate) async fn person(&self, url: &str) -> Result<Person> {
        let fits = |stored: &StoredLogin| self.email.as_deref().is_none_or(|email| stored.email.eq_ignore_ascii_case(email));
        if !self.password_stdin
            && let Some(stored) = StoredLogin::read(url)?.filter(fits)
        {
            return Ok(Person { api: Api::logged_in(url, stored.login())?, is_brief: false });
        }
        let (login, _) = self.log_in(url).await?;
        Ok(Person { api: Api::logged_in(url, login)?, is_brief: true })
    }

    /// Logs in with an address and a password, and gives the login and the server's answer.
    pub(crate) async fn log_in(&self, url: &str) -> Result<(Login, Value)> {
        let (email, password) = self.credentials(url).await?;
        let body = json!({ "email": email, "password": password });
        let (answer, cookie) = post_public(url, "/api/console/login", &body).await.context("cannot log in")?;
        let csrf = answer.get("csrf").and_then(Value::as_str).map(str::to_owned);
        let (cookie, csrf) = cookie.zip(csrf).context(
            "the server's answer to a login is not as this release expects it: `toolcrib doctor` compares the versions",
        )?;
        Ok((Login { cookie, csrf }, answer))
    }

    async fn credentials(&self, url: &str) -> Result<(String, String)> {
        if self.password_stdin {
            let email = self.email.clone().context("--password-stdin needs --email")?;
            return Ok((email, read_password(std::io::stdin().lock())?));
        }
        if !prompt::is_possible() {
            bail!(
                "a person decides this, not a key, and nobody is logged in at {url}: run `toolcrib login` first, or pass \
                 --email and --password-stdin"
            );
        }
        let email = match &self.email {
            Some(email) => email.clone(),
            None => prompt::ask(&format!("Address at {url}")).await?,
        };
        let password = prompt::ask_secret(&format!("Password of {email}")).await?;
        Ok((email, password))
    }
}

impl Person {
    /// Ends a login that was made for this command only.
    pub(crate) async fn leave(self) {
        if self.is_brief {
            end(&self.api).await;
        }
    }
}

/// A password for somebody: from the first line of stdin, which is not shown when it is typed.
pub(crate) async fn new_password() -> Result<String> {
    if prompt::is_possible() { prompt::ask_secret("Password").await } else { read_password(std::io::stdin().lock()) }
}

/// Ends a login. A failure is told, not returned: the login ends by itself.
async fn end(api: &Api) {
    if let Err(error) = api.post_nothing("/api/console/logout").await {
        eprintln!("warning: the login could not be ended ({error:#}): it ends by itself after twelve hours");
    }
}

impl StoredLogin {
    /// A login to be stored.
    pub(crate) fn new(url: &str, email: &str, login: Login) -> Self {
        Self { url: url.to_owned(), email: email.to_owned(), cookie: login.cookie, csrf: login.csrf }
    }

    fn login(&self) -> Login {
        Login { cookie: self.cookie.clone(), csrf: self.csrf.clone() }
    }

    /// The login that is stored for a server.
    pub(crate) fn read(url: &str) -> Result<Option<Self>> {
        let path = path_of(url)?;
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let stored: Self = serde_json::from_str(&text)
            .with_context(|| format!("{} is no stored login: remove it and run `toolcrib login`", path.display()))?;
        Ok(Some(stored).filter(|stored| stored.url == url))
    }

    /// Stores it, readable by its owner only; says where.
    pub(crate) fn store(&self) -> Result<PathBuf> {
        let path = path_of(&self.url)?;
        files::replace(&path, &format!("{}\n", serde_json::to_string_pretty(self)?), Some(files::PRIVATE))?;
        Ok(path)
    }

    /// Ends it, here and on the server.
    pub(crate) async fn end(&self) -> Result<()> {
        end(&Api::logged_in(&self.url, self.login())?).await;
        match std::fs::remove_file(path_of(&self.url)?) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error).context("cannot remove the stored login"),
            _ => Ok(()),
        }
    }
}

/// One file a server, so that two commands never write the same one for different servers.
fn path_of(url: &str) -> Result<PathBuf> {
    let digest = base::secret::hex(&Sha256::digest(url.as_bytes()));
    let name = format!("login-{}.json", digest.get(..16).unwrap_or(&digest));
    Ok(environment::state_folder()?.join(name))
}
