//! Asking the person at the terminal.

use std::io::{BufRead, IsTerminal, Read, Write};

use anyhow::{Context, Result, bail};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::commands::serve::Signals;

/// Longest answer that is read.
const ANSWER_BYTES_MAX: u64 = 4_096;

/// Whether somebody can be asked.
pub(crate) fn is_possible() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks for a line.
pub(crate) async fn ask(question: &str) -> Result<String> {
    answer(question, Signals::listen()?).await
}

/// Asks for a line that is not shown as it is typed.
pub(crate) async fn ask_secret(question: &str) -> Result<String> {
    // Before anything is asked: a signal must not end us while the terminal hides what is typed.
    let signals = Signals::listen()?;
    let hidden = Hidden::start()?;
    let answer = answer(question, signals).await;
    drop(hidden);
    // The line break was not shown either.
    eprintln!();
    answer
}

async fn answer(question: &str, mut signals: Signals) -> Result<String> {
    eprint!("{question}: ");
    std::io::stderr().flush()?;
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
        bail!("there was no answer to `{question}`");
    }
    Ok(answer.to_owned())
}

/// A terminal that does not show what is typed, until this is dropped.
struct Hidden(Termios);

impl Hidden {
    fn start() -> Result<Self> {
        let before = tcgetattr(std::io::stdin()).context("cannot hide what is typed at this terminal")?;
        let mut hiding = before.clone();
        hiding.local_modes.remove(LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Now, &hiding).context("cannot hide what is typed at this terminal")?;
        Ok(Self(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Err(error) = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0) {
            eprintln!("warning: the terminal may still hide what is typed ({error}): `stty echo` shows it again");
        }
    }
}
