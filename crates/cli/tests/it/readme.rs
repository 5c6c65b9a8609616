//! README.md and docs/: every command parses, and the shown output is the real one.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;

use crate::support::{Said, Terminal, binary, in_time, steady, words};

/// The project's root folder.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// Every document below a folder.
fn documents(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
    let here = files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    here.chain(folders.iter().flat_map(|folder| documents(folder))).collect()
}

/// A command of a `console` block, and its output in the block.
#[derive(Debug)]
struct Step {
    command: String,
    output: Vec<String>,
}

/// A line without its comment.
fn uncommented(line: &str) -> String {
    line.split(" # ").next().unwrap().trim_end().to_owned()
}

/// The steps of every `console` block. In a block without `$` lines, every line is a command.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for block in text.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
        let is_transcript = block.lines().any(|line| line.starts_with("$ "));
        for line in block.lines() {
            match (line.strip_prefix("$ "), is_transcript) {
                (Some(command), _) => steps.push(Step { command: uncommented(command), output: Vec::new() }),
                (None, false) => steps.push(Step { command: uncommented(line), output: Vec::new() }),
                (None, true) => steps.last_mut().expect("output follows a command").output.push(line.to_owned()),
            }
        }
    }
    for step in &mut steps {
        // An empty last line only separates the next command.
        while step.output.last().is_some_and(String::is_empty) {
            step.output.pop();
        }
    }
    steps
}

/// Commands in single backticks.
fn inline_commands(text: &str) -> Vec<String> {
    let mut is_block = false;
    let prose = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_block ^= is_fence;
        !is_block && !is_fence
    });
    let prose = prose.collect::<Vec<_>>().join(" ");
    let code = prose.split('`').skip(1).step_by(2).map(str::to_owned);
    code.filter(|code| code.starts_with("toolcrib ") || code.starts_with("make ")).collect()
}

/// The phony targets of the Makefile.
fn targets() -> BTreeSet<String> {
    let makefile = read("Makefile");
    let phony = makefile.lines().find_map(|line| line.strip_prefix(".PHONY: ")).expect("the Makefile has phony targets");
    let made = makefile.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name).collect::<BTreeSet<_>>();
    phony.split(' ').filter(|name| made.contains(name)).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_documented_command_parses() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::without_data(folder.path());
    let targets = targets();
    for target in ["run", "test", "install"] {
        assert!(targets.contains(target), "{targets:?}");
    }
    let mut seen = BTreeMap::new();
    for path in documents(&root().join("docs")).into_iter().chain([root().join("README.md")]) {
        let (document, text) = (path.file_name().unwrap().to_str().unwrap(), read(&path));
        let mut commands = steps(&text).into_iter().map(|step| step.command).collect::<Vec<_>>();
        commands.extend(inline_commands(&text));
        seen.insert(document.to_owned(), commands.len());
        for line in commands {
            // In a pipe, our command is the last one. A redirection belongs to the shell.
            let command = line.rsplit(" | ").next().unwrap().split(" > ").next().unwrap();
            match command.split_once(' ') {
                Some(("make", target)) => assert!(targets.contains(target), "{document}: `{command}`"),
                Some(("toolcrib", rest)) => {
                    // With `--help`, the line is parsed but not run.
                    let (before, after) = rest.split_once(" -- ").unwrap_or((rest, ""));
                    let said = terminal.run(&format!("{before} --help -- {after}")).await;
                    assert_eq!(said.code, Some(0), "{document}: `{command}`: {}", said.err);
                }
                Some(("python3", rest)) => assert!(root().join(&words(rest)[0]).is_file(), "{document}: `{command}`"),
                _ => panic!("{document}: unknown command `{command}`"),
            }
        }
    }
    for (document, at_least) in [
        ("README.md", 9),
        ("start.md", 18),
        ("policy.md", 12),
        ("audit.md", 8),
        ("graph.md", 16),
        ("memory.md", 18),
        ("hooks.md", 7),
        ("concepts.md", 5),
        ("operating.md", 2),
    ] {
        assert!(seen.get(document).is_some_and(|found| *found >= at_least), "{document}: {seen:?}");
    }
}

/// A user's home with a server in `~/toolcrib`, started like `make run` does, and its first output. The terminal is in `~/app`, the
/// user's own project.
async fn at_home(folder: &Path) -> (Terminal, Child, Vec<String>) {
    let run = read("Makefile");
    let recipe = run.split("\nrun: build\n").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    assert!(recipe.ends_with("release/toolcrib serve"), "`make run` differs from the test: {recipe}");
    let home = Terminal::without_data(folder);
    // The usual port may be taken.
    let mut serve = home.within("toolcrib").command("serve --listen 127.0.0.1:0");
    let mut child = serve.env("TOOLCRIB_LOG", "warn").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut greeting = Vec::new();
    while !greeting.last().is_some_and(|line: &String| line.contains("Ctrl-C stops it")) {
        greeting.push(in_time(lines.next_line()).await.unwrap().expect("the server starts"));
    }
    (home.within("app"), child, greeting)
}

/// The steps of a getting-started document, which must explain the installation first.
fn first_steps(document: &str) -> Vec<Step> {
    let text = read(document);
    let steps = steps(&text);
    let first = &steps.iter().find(|step| step.command.starts_with("toolcrib ")).unwrap().command;
    assert_eq!(first, "toolcrib project add app --root . --graph on", "{document}");
    let before = text.split(first).next().unwrap();
    assert!(before.contains("`make install` puts `toolcrib` on your PATH"), "{document}");
    steps
}

#[tokio::test(flavor = "multi_thread")]
async fn readme_shows_the_real_output() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let (terminal, _server, greeting) = at_home(&home).await;
    let mut compared = 0;
    for step in first_steps("README.md") {
        let printed = match step.command.split_once(' ').unwrap() {
            ("toolcrib", line) => {
                let said = terminal.run(line).await;
                // `connect --print` writes the expiry to stderr.
                assert!(said.code == Some(0) || !said.err.is_empty(), "{said:?}");
                format!("{}{}", said.out, said.err)
            }
            _ => greeting.join("\n"),
        };
        if step.output.is_empty() {
            continue;
        }
        let shown = step.output.iter().map(|line| steady(line)).collect::<Vec<_>>();
        let printed = printed.lines().map(|line| steady(&line.replace(home.to_str().unwrap(), "~"))).collect::<Vec<_>>();
        // The README may only cut the end of an output.
        assert_eq!(printed.get(..shown.len()), Some(shown.as_slice()), "$ {}", step.command);
        compared += 1;
    }
    assert_eq!(compared, 4);
    assert_eq!(terminal.json("project show").await["project"]["name"], "app", "the steps ran in the project");
}

#[tokio::test(flavor = "multi_thread")]
async fn first_steps_work_as_documented() {
    let folder = tempfile::tempdir().unwrap();
    let (terminal, _server, _) = at_home(folder.path()).await;
    // This agent checks that it gets a config.
    let programs = terminal.here.join("bin");
    std::fs::create_dir(&programs).unwrap();
    let agent = "#!/bin/sh\ntest \"$1\" = --mcp-config && grep -q mcpServers \"$2\" && echo the agent was here\n";
    std::fs::write(programs.join("claude"), agent).unwrap();
    std::fs::set_permissions(programs.join("claude"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut said: Vec<(String, String)> = Vec::new();
    for step in first_steps("docs/start.md").iter().filter(|step| step.command.starts_with("toolcrib ")) {
        let path = std::env::var_os("PATH").unwrap();
        let path = std::env::join_paths([programs.clone()].into_iter().chain(std::env::split_paths(&path))).unwrap();
        // Fills in the printed id, and passes the password on stdin instead of at a prompt.
        let brick = said.iter().find_map(|(_, out)| out.split_whitespace().find_map(|word| word.strip_prefix("brk_")));
        let mut line = step.command.replace("brk_…", &format!("brk_{}", brick.unwrap_or_default().trim_end_matches('.')));
        if line.starts_with("toolcrib user add") {
            line.push_str(" --password-stdin");
        }
        if line.starts_with("toolcrib kit publish") {
            line.push_str(" --email ada@app.example --password-stdin");
        }
        let mut command = terminal.program(binary());
        command.args(&words(&line)[1..]).env("PATH", path);
        let input = if line.ends_with("--password-stdin") { "correct horse battery\n" } else { "" };
        said.push((step.command.clone(), Said::by_with_input(command, input).await.ok().to_owned()));
    }
    let printed =
        |start: &str| &said.iter().find(|(command, _)| command.starts_with(start)).unwrap_or_else(|| panic!("{start}")).1;
    assert!(printed("toolcrib tools").contains("\nbricks.list "));
    assert_eq!(printed("toolcrib call bricks.list"), "Listed 0 brick(s).\n");
    assert!(printed("toolcrib connect claude").contains("/app/.mcp.json written"));
    assert!(printed("toolcrib connect codex").contains("/app/.codex/config.toml written"));
    assert!(printed("toolcrib kit show Replies").contains("Ready with warnings"));
    assert!(printed("toolcrib kit publish Replies").starts_with("published kit kit_"));
    assert_eq!(printed("toolcrib run"), "the agent was here\n");
    assert!(printed("toolcrib org add").contains("key.fullKey "));
    assert!(printed("toolcrib --help").contains("Commands:"));
    let entry = std::fs::read_to_string(terminal.here.join(".mcp.json")).unwrap();
    assert!(entry.contains("\"stdio\"") && !entry.contains("rsk_live_"), "the file holds a secret: {entry}");
}
