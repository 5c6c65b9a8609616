//! People at the terminal: logging in, publishing, and the errors for keys and members.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Engine, Place, Process, Said, Terminal, both_engines};

const PASSWORD: &str = "correct horse battery";
const OWNER: &str = "--email ada@acme.example --password-stdin";

/// A server with an owner, a member and a kit of two drafts.
async fn with_a_kit(engine: Engine) -> (Place, Process, Terminal) {
    let place = Place::new(engine);
    let server = place.start().await;
    let terminal = Terminal::at(&place);
    for (email, role) in [("ada@acme.example", "owner"), ("mel@acme.example", "member")] {
        let add = format!("user add --email {email} --role {role} --password-stdin");
        terminal.run_with_input(&add, PASSWORD).await.ok();
    }
    let mut bricks = Vec::new();
    for name in ["Tone", "Length"] {
        let draft =
            format!(r#"call bricks.create_draft '{{"name": "{name}", "type": "boolean", "evaluation_prompt": "Is it?"}}'"#);
        let made = terminal.json(&draft).await;
        bricks.push(made["structuredContent"]["brick_id"].as_str().unwrap().to_owned());
    }
    let draft = format!(r#"call kits.create_draft '{{"name": "Replies", "brick_ids": ["{}"]}}'"#, bricks.join(r#"", ""#));
    terminal.run(&draft).await.ok();
    (place, server, terminal)
}

/// The files with a user's stored logins.
fn logins(terminal: &Terminal) -> Vec<PathBuf> {
    let folder = terminal.here.join(".local/state/toolcrib");
    std::fs::read_dir(folder).map(|files| files.map(|file| file.unwrap().path()).collect()).unwrap_or_default()
}

async fn status(terminal: &Terminal, line: &str) -> Value {
    let shown = terminal.json(line).await;
    shown["kit"]["status"].as_str().or(shown["brick"]["status"].as_str()).unwrap().into()
}

both_engines! {
    async fn kit_is_published_from_the_terminal(engine: Engine) {
        let (place, _server, terminal) = with_a_kit(engine).await;
        // An address and a password log in for one command.
        let said = terminal.run_with_input(&format!("brick publish tone {OWNER}"), PASSWORD).await;
        assert!(said.ok().starts_with("published brick brk_") && said.err.is_empty(), "{said:?}");
        assert_eq!(status(&terminal, "brick show tone").await, "published");
        assert_eq!(logins(&terminal), Vec::<PathBuf>::new(), "the login is not stored");

        // With a stored login.
        let said = terminal.run_with_input(&format!("login {OWNER}"), PASSWORD).await;
        assert!(said.ok().contains("as ada@acme.example (owner) for twelve hours") && !said.out.contains("horse"), "{said:?}");
        let kept = logins(&terminal);
        assert_eq!(kept.len(), 1);
        assert_eq!(std::fs::metadata(&kept[0]).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!std::fs::read_to_string(&kept[0]).unwrap().contains(PASSWORD));
        assert!(!kept[0].starts_with(place.data()), "backups copy the data folder");
        let published = terminal.json("kit publish replies").await;
        assert_eq!((published["kit"]["status"].as_str(), status(&terminal, "brick show length").await.as_str()), (Some("published"), Some("published")));
        let drafted = terminal.run("brick version tone --rule 'Is it friendly?' --description sharper").await;
        assert!(drafted.ok().starts_with("drafted version 2 of brick brk_"), "{drafted:?}");
        terminal.run("brick publish tone").await.ok();
        let drafted = terminal.json("kit version Replies --brick tone --notes 'one is enough'").await;
        assert_eq!(drafted["kit"]["versions"][0]["bricks"].as_array().unwrap().len(), 1);
        terminal.run("kit publish Replies").await.ok();

        // The error of a blocked kit lists its blockers.
        terminal.run("kit version Replies --brick length").await.ok();
        assert!(terminal.run("brick deprecate length").await.ok().starts_with("deprecated brick brk_"));
        let said = terminal.run("kit publish Replies").await;
        let words = said.refused(1);
        assert!(words.contains("(409)") && words.contains("\n  brick_deprecated: brick brk_"), "{words}");
        assert!(terminal.run("kit deprecate Replies").await.ok().starts_with("deprecated kit kit_"));
        assert_eq!(status(&terminal, "kit show Replies").await, "deprecated");

        // Logging out removes the file and ends the login on the server.
        let stolen = std::fs::read(&kept[0]).unwrap();
        assert!(terminal.run("logout").await.ok().starts_with("logged out ada@acme.example"));
        assert_eq!(logins(&terminal), Vec::<PathBuf>::new());
        assert!(terminal.run("logout").await.ok().starts_with("nobody was logged in"));
        std::fs::write(&kept[0], stolen).unwrap();
        let said = terminal.run("brick publish tone").await;
        assert!(said.refused(1).contains("(401)") && said.err.contains("`toolcrib login`"), "{said:?}");
        // Logging in again replaces an ended login without a warning.
        let said = terminal.run_with_input(&format!("login {OWNER}"), PASSWORD).await;
        assert!(said.ok().contains("as ada@acme.example") && said.err.is_empty(), "{said:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_members_cannot_publish() {
    let (_place, _server, terminal) = with_a_kit(Engine::Sqlite).await;
    let said = terminal.run("kit publish Replies").await;
    let words = said.refused(1);
    assert!(words.contains("this command needs a login") && words.contains("`toolcrib login`"), "{words}");
    for (flags, password, expected) in [
        (OWNER, "wrong horse battery", "(401)"),
        (
            "--email mel@acme.example --password-stdin",
            PASSWORD,
            "only an owner or admin may do this; your role is member (403)\nhint: run `toolcrib login` as an owner or an admin of the org",
        ),
        ("--password-stdin", PASSWORD, "--password-stdin needs --email"),
        (OWNER, "", "no password on stdin"),
    ] {
        let said = terminal.run_with_input(&format!("kit publish Replies {flags}"), password).await;
        assert!(said.refused(1).contains(expected), "{flags}: {said:?}");
    }
    assert_eq!(status(&terminal, "kit show Replies").await, "draft");
    let said = terminal.run_with_input(&format!("login {OWNER}"), "wrong horse battery").await;
    assert!(said.refused(1).contains("cannot log in: wrong email or password"), "{said:?}");
    assert_eq!(logins(&terminal), Vec::<PathBuf>::new());
}

/// Types at a pseudo-terminal: waits for each prompt, types the answer, prints the screen, and exits with the command's code.
const TYPIST: &str = r#"
import os, pty, sys
typed = [line.split("=", 1) for line in os.environ["TYPED"].split("\n")]
child, screen = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
shown = b""
def read():
    global shown
    try:
        more = os.read(screen, 4096)
    except OSError:
        more = b""
    shown += more
    return more
for prompt, answer in typed:
    while prompt.encode() not in shown:
        if not read():
            sys.exit("no prompt: " + shown.decode())
    os.write(screen, answer.encode().decode("unicode_escape").encode())
while read():
    pass
print(shown.decode(), end="")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"#;

pub(super) async fn typed(terminal: &Terminal, line: &str, answers: &str) -> Said {
    let mut python = terminal.program("python3");
    python.args(["-c", TYPIST]).arg(crate::support::binary()).args(crate::support::words(line)).env("TYPED", answers);
    Said::by(python).await
}

#[tokio::test(flavor = "multi_thread")]
async fn password_prompt_hides_the_password() {
    let (_place, _server, terminal) = with_a_kit(Engine::Sqlite).await;
    let answers = format!("Email at=ada@acme.example\\n\nPassword for ada@acme.example={PASSWORD}\\n");
    let said = typed(&terminal, "kit publish Replies", &answers).await;
    assert!(said.ok().contains("published kit kit_") && !said.out.contains("horse"), "{said:?}");
    // Ctrl-C at the prompt ends the command.
    let said = typed(&terminal, "login --email ada@acme.example", "Password for=\\x03").await;
    assert!(said.code != Some(0) && said.out.contains("interrupted"), "{said:?}");
    assert_eq!(logins(&terminal), Vec::<PathBuf>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn new_password_is_prompted_twice() {
    let place = Place::new(Engine::Sqlite);
    let _server = place.start().await;
    let terminal = Terminal::at(&place);
    let add = "user add --email ada@acme.example --role owner";
    let said = typed(&terminal, add, &format!("Password (12 or more={PASSWORD}\\n\nRepeat=another long word\\n")).await;
    assert!(said.code == Some(1) && said.out.contains("the passwords differ"), "{said:?}");
    let said = typed(&terminal, add, "Password (12 or more=short\\n").await;
    assert!(said.code == Some(1) && said.out.contains("too short"), "{said:?}");
    let said = typed(&terminal, add, &format!("Password (12 or more={PASSWORD}\\n\nRepeat={PASSWORD}\\n")).await;
    assert!(said.ok().contains("ada@acme.example") && !said.out.contains("horse"), "{said:?}");
    terminal.run_with_input(&format!("login {OWNER}"), PASSWORD).await.ok();
}

/// A note from an agent must not control the reader's terminal.
#[tokio::test(flavor = "multi_thread")]
async fn export_at_a_terminal_shows_no_control_characters() {
    let place = Place::new(Engine::Sqlite);
    let _server = place.start().await;
    let terminal = Terminal::at(&place);
    terminal.run(r#"call af_memory_remember '{"content": "red \u001b[31malert\u009b2J"}'"#).await.ok();
    for format in ["markdown", "jsonl"] {
        let line = format!("memory export --format {format}");
        let shown = typed(&terminal, &line, "red=").await;
        assert!(shown.ok().contains("alert") && !shown.out.contains(['\u{1b}', '\u{9b}']), "{shown:?}");
        let piped = terminal.run(&line).await;
        assert!(piped.ok().contains('\u{9b}'), "a pipe gets the note unchanged: {piped:?}");
    }
}
