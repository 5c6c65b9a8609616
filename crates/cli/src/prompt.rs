//! Prompts at the terminal.

use std::io::{BufRead, IsTerminal, Read, Write};

use anyhow::{Context, Result, bail};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::commands::serve::Signals;
use crate::output;

/// Maximum length of an answer.
const ANSWER_BYTES_MAX: u64 = 4_096;

/// Whether stdin and stderr are terminals.
pub(crate) fn is_possible() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks for a line.
pub(crate) async fn ask(question: &str) -> Result<String> {
    answer(question, Signals::listen()?).await
}

/// Asks for a line without echo.
pub(crate) async fn ask_secret(question: &str) -> Result<String> {
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
