//! The help of every command: its examples parse, and its flags exist.

use crate::support::{Engine, Place, Said, Terminal};

/// Commands without `--json`.
const WITHOUT_JSON: [&str; 3] = ["serve", "stdio", "completions"];

/// The help of every command and subcommand, each with its path.
async fn helps(terminal: &Terminal) -> Vec<(String, String)> {
    let mut open = vec![String::new()];
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        let help = terminal.run(&format!("{path} --help")).await.ok().to_owned();
        for name in section(&help, "Commands:").iter().filter_map(|line| line.split_whitespace().next()) {
            open.push(format!("{path} {name}").trim_start().to_owned());
        }
        found.push((path, help));
    }
    found
}

/// The lines below a heading.
fn section<'h>(help: &'h str, heading: &str) -> Vec<&'h str> {
    let lines = help.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| !line.is_empty()).filter(|line| line.starts_with("  ")).collect()
}

/// Adds `--help` to a line, so that it is parsed but not run.
async fn parses(terminal: &Terminal, line: &str) -> Said {
    let (before, after) = match line.split_once(" -- ") {
        Some((before, after)) => (before.to_owned(), format!(" -- {after}")),
        None => (line.to_owned(), String::new()),
    };
    terminal.run(&format!("{before} --help{after}")).await
}

/// The examples in a help text, without their explanations. A command may span several lines.
fn examples(help: &str) -> Vec<String> {
    let text = help.replace("\\\n ", " ");
    let lines = text.lines().filter(|line| line.starts_with("  ")).filter_map(|line| line.trim_start().split_once("toolcrib "));
    let is_command =
        |before: &str| before.is_empty() || before.ends_with("| ") || before.ends_with("<(") || before.contains("://");
    let lines = lines.filter(|(before, _)| is_command(before)).map(|(_, rest)| rest);
    lines.map(|rest| rest.split("   ").next().unwrap().split([')', '>']).next().unwrap().trim().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_has_help_and_valid_examples() {
    let place = Place::new(Engine::Sqlite);
    let terminal = Terminal::at(&place);
    let helps = helps(&terminal).await;
    let paths = helps.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>();
    for known in [
        "serve",
        "connect",
        "run",
        "stdio",
        "tools",
        "call",
        "doctor",
        "key revoke",
        "user add",
        "kit show",
        "graph merge",
        "code restore",
        "decision list",
        "index",
        "policy explain",
        "audit verify",
        "bench doors",
        "bench code",
    ] {
        assert!(paths.contains(&known), "{known} is not found from `toolcrib --help`");
    }
    let mut tried = 0;
    for (path, help) in &helps {
        assert!(help.contains(&format!("Usage: toolcrib {path}").trim_end().to_owned()), "{path}: {help}");
        let about = help.lines().next().unwrap();
        assert!(!about.is_empty() && !about.starts_with("Usage"), "`{path}` does not say what it is for");
        for line in section(help, "Commands:") {
            assert!(line.trim().contains("  "), "`{path}` lists a command without a word about it: {line}");
        }
        // Each top-level command has examples. Subcommands need none.
        assert!(path.is_empty() || path.contains(' ') || help.contains("\nExample"), "`{path}` shows no example");
        for example in examples(help) {
            let said = parses(&terminal, &example).await;
            assert_eq!(said.code, Some(0), "`{path}` shows `{example}`, which does not parse: {}", said.err);
            tried += 1;
        }
        let command = path.split(' ').next().unwrap();
        if section(help, "Commands:").is_empty() {
            assert_eq!(help.contains("--json"), !WITHOUT_JSON.contains(&command), "`{path}` and --json");
        }
    }
    assert!(tried > 40, "{tried} examples were found");
}

#[tokio::test(flavor = "multi_thread")]
async fn version_flag_prints_the_release() {
    let place = Place::new(Engine::Sqlite);
    for flag in ["--version", "-V"] {
        let said = Terminal::at(&place).run(flag).await;
        assert_eq!(said.ok(), concat!("toolcrib ", env!("CARGO_PKG_VERSION"), "\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn completions_cover_every_command() {
    let place = Place::new(Engine::Sqlite);
    let terminal = Terminal::at(&place);
    let help = terminal.run("--help").await;
    let commands =
        section(help.ok(), "Commands:").iter().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect::<Vec<_>>();
    assert!(commands.len() > 15);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = terminal.run(&format!("completions {shell}")).await;
        for command in &commands {
            assert!(script.ok().contains(command.as_str()), "{shell}: {command}");
        }
        assert!(script.out.contains("work-type") && script.out.contains("tool-names"), "{shell}: flags are missing");
        for hidden in ["__watch", "The baseline"] {
            assert!(!script.out.contains(hidden), "{shell}: {hidden} is internal");
        }
    }
    // Bash is always installed: it must load the script and complete with it.
    let script = terminal.run("completions bash").await;
    let asked = "COMP_WORDS=(toolcrib se) COMP_CWORD=1; _toolcrib toolcrib se toolcrib; echo \"${COMPREPLY[*]}\"";
    // The script is too long for an argument, so it goes into a file.
    std::fs::write(terminal.here.join("completions.bash"), script.ok()).unwrap();
    let mut bash = terminal.program("bash");
    bash.args(["-c", &format!("source ./completions.bash\n{asked}")]);
    assert_eq!(Said::by(bash).await.ok(), "serve session\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn help_that_cannot_be_written_is_an_error() {
    let place = Place::new(Engine::Sqlite);
    let terminal = Terminal::at(&place);
    for line in ["--help", "--version", "serve --help", "completions bash"] {
        let mut command = terminal.command(line);
        command.stdout(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
        command.stderr(std::process::Stdio::piped());
        let output = command.spawn().unwrap().wait_with_output().await.unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {err}");
        assert!(err.starts_with("error: cannot write to stdout: No space left on device"), "{line}: {err}");
    }
}
