//! Commands that need a person's login instead of a key. They use the login that `toolcrib login` stored, or log in with an email
//! and password for this command only.

use std::io::{BufRead, ErrorKind, IsTerminal, Read, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::client::{Api, ApiError, Login, post_public};
use crate::commands::serve::Signals;
use crate::commands::user::read_password;
use crate::output;
use crate::{environment, files};

/// Minimum length of a password, in characters.
const PASSWORD_CHARS_MIN: usize = 12;
/// Maximum length of an answer.
const ANSWER_BYTES_MAX: u64 = 4_096;

/// The person to log in as.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Person")]
pub(crate) struct PersonArgs {
    /// Email address to log in with [default: the stored login's, else asks]
    #[arg(long)]
    pub(crate) email: Option<String>,

    /// Read the password from the first line of stdin instead of asking for it
    #[arg(long)]
    pub(crate) password_stdin: bool,

    /// Whether the command is `toolcrib login`.
    #[arg(skip)]
    pub(crate) is_login: bool,
}

/// A person who is logged in.
pub(crate) struct Person {
    /// The API, called as this person.
    pub(crate) api: Api,
    /// Whether the login is only for this command.
    is_temporary: bool,
}

/// A login that is kept between commands, in a file that only its owner can read.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct StoredLogin {
    url: String,
    /// Who is logged in.
    pub(crate) email: String,
    cookie: String,
    csrf: String,
}

impl PersonArgs {
    /// Uses the stored login, or logs in with an email and password.
    pub(crate) async fn person(&self, url: &str) -> Result<Person> {
        let fits = |stored: &StoredLogin| self.email.as_deref().is_none_or(|email| stored.email.eq_ignore_ascii_case(email));
        if !self.password_stdin
            && let Some(stored) = StoredLogin::read(url)?.filter(fits)
        {
            return Ok(Person { api: Api::logged_in(url, stored.login())?, is_temporary: false });
        }
        let (login, _) = self.log_in(url).await?;
        Ok(Person { api: Api::logged_in(url, login)?, is_temporary: true })
    }

    /// Logs in with an email and password. Returns the login and the server's response.
    pub(crate) async fn log_in(&self, url: &str) -> Result<(Login, Value)> {
        let (email, password) = self.credentials(url).await?;
        let body = json!({ "email": email, "password": password });
        let (answer, cookie) = post_public(url, "/api/console/login", &body).await.context("cannot log in")?;
        let csrf = answer.get("csrf").and_then(Value::as_str).map(str::to_owned);
        let (cookie, csrf) =
            cookie.zip(csrf).context("unexpected server response to the login; run `toolcrib doctor` to compare versions")?;
        Ok((Login { cookie, csrf }, answer))
    }

    /// The error for a missing login when there is no terminal to ask for one.
    fn no_terminal(&self, url: &str) -> String {
        const PASS: &str = "pass --email and --password-stdin";
        if self.is_login {
            return format!("no terminal to ask for the email and password; {PASS}");
        }
        format!("this command needs a login, and nobody is logged in at {url}; run `toolcrib login` first, or {PASS}")
    }

    async fn credentials(&self, url: &str) -> Result<(String, String)> {
        if self.password_stdin {
            let email = self.email.clone().context("--password-stdin needs --email")?;
            return Ok((email, read_password(std::io::stdin().lock())?));
        }
        if !can_ask() {
            bail!("{}", self.no_terminal(url));
        }
        let email = match &self.email {
            Some(email) => email.clone(),
            None => ask(&format!("Email at {url}")).await?,
        };
        let password = ask_secret(&format!("Password for {email}")).await?;
        Ok((email, password))
    }
}

impl Person {
    /// Ends the login if it was only for this command.
    pub(crate) async fn leave(self) {
        if self.is_temporary {
            end(&self.api).await;
        }
    }
}

/// Fails if there is neither a terminal to ask for a new password nor `--password-stdin`.
pub(crate) fn check_password_source(password_stdin: bool) -> Result<()> {
    if password_stdin || can_ask() {
        return Ok(());
    }
    bail!("no terminal to ask for a password; write it to stdin and pass --password-stdin")
}

/// Reads a new password: asks twice at a terminal without echo, or reads the first line of stdin.
pub(crate) async fn new_password() -> Result<String> {
    if !can_ask() {
        return read_password(std::io::stdin().lock());
    }
    let password = ask_secret(&format!("Password ({PASSWORD_CHARS_MIN} or more characters)")).await?;
    if password.chars().count() < PASSWORD_CHARS_MIN {
        bail!("the password is too short; it needs {PASSWORD_CHARS_MIN} or more characters");
    }
    if ask_secret("Repeat the password").await? != password {
        bail!("the passwords differ; nothing was changed, try again");
    }
    Ok(password)
}

/// Ends a login. Succeeds if it has already ended. Other failures are only a warning, because the login expires anyway.
async fn end(api: &Api) {
    if let Err(error) = api.post_nothing("/api/console/logout").await {
        if error.downcast_ref::<ApiError>().is_some_and(|refusal| refusal.status.as_u16() == 401) {
            return;
        }
        output::tell(&format!("warning: cannot log out ({error:#}); the login expires after twelve hours"));
    }
}

impl StoredLogin {
    /// Creates a login to store.
    pub(crate) fn new(url: &str, email: &str, login: Login) -> Self {
        Self { url: url.to_owned(), email: email.to_owned(), cookie: login.cookie, csrf: login.csrf }
    }

    fn login(&self) -> Login {
        Login { cookie: self.cookie.clone(), csrf: self.csrf.clone() }
    }

    /// Reads the login stored for a server.
    pub(crate) fn read(url: &str) -> Result<Option<Self>> {
        let path = path_of(url)?;
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let stored: Self = serde_json::from_str(&text)
            .with_context(|| format!("{} is not a valid login file; remove it and run `toolcrib login`", path.display()))?;
        Ok(Some(stored).filter(|stored| stored.url == url))
    }

    /// Stores the login in a file that only its owner can read. Returns the path.
    pub(crate) fn store(&self) -> Result<PathBuf> {
        let path = path_of(&self.url)?;
        files::replace(&path, &format!("{}\n", serde_json::to_string_pretty(self)?), Some(files::PRIVATE))?;
        Ok(path)
    }

    /// Ends the login on the server and removes the file.
    pub(crate) async fn end(&self) -> Result<()> {
        end(&Api::logged_in(&self.url, self.login())?).await;
        match std::fs::remove_file(path_of(&self.url)?) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error).context("cannot remove the stored login"),
            _ => Ok(()),
        }
    }
}

/// Each server has its own file, so that logins to different servers never overwrite each other.
fn path_of(url: &str) -> Result<PathBuf> {
    let digest = base::secret::hex(&Sha256::digest(url.as_bytes()));
    let name = format!("login-{}.json", digest.get(..16).unwrap_or(&digest));
    Ok(environment::state_folder()?.join(name))
}

/// Whether stdin and stderr are terminals, so that a person can be asked.
fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks for a line.
async fn ask(question: &str) -> Result<String> {
    answer(question, Signals::listen()?).await
}

/// Asks for a line without echo.
async fn ask_secret(question: &str) -> Result<String> {
    // Catch signals first: one must not stop this process while echo is off.
    let signals = Signals::listen()?;
    let hidden = Hidden::start()?;
    let answer = answer(question, signals).await;
    drop(hidden);
    // The line break was not echoed either.
    output::tell("");
    answer
}

async fn answer(question: &str, mut signals: Signals) -> Result<String> {
    let mut terminal = std::io::stderr();
    write!(terminal, "{question}: ").and_then(|()| terminal.flush()).context("cannot write to the terminal")?;
    let reading = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().take(ANSWER_BYTES_MAX).read_line(&mut line).map(|_| line)
    });
    let line = tokio::select! {
        line = reading => line.context("cannot read from the terminal")?.context("cannot read from the terminal")?,
        () = signals.wait() => bail!("interrupted"),
    };
    let answer = line.trim_end_matches(['\n', '\r']);
    if answer.is_empty() {
        bail!("no answer to `{question}`");
    }
    Ok(answer.to_owned())
}

/// Turns echo off until it is dropped.
struct Hidden(Termios);

impl Hidden {
    fn start() -> Result<Self> {
        let before = tcgetattr(std::io::stdin()).context("cannot turn off echo at this terminal")?;
        let mut hiding = before.clone();
        hiding.local_modes.remove(LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Now, &hiding).context("cannot turn off echo at this terminal")?;
        Ok(Self(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Err(error) = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0) {
            output::tell(&format!("warning: cannot turn echo back on ({error}); run `stty echo`"));
        }
    }
}
