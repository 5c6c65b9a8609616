//! The private server itself: its databases are apart, and it never outlives who started it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use testkit::postgres;

#[test]
fn each_database_is_new() {
    assert_ne!(postgres::fresh_database(), postgres::fresh_database());
}

#[tokio::test]
async fn a_database_can_be_had_inside_a_runtime_and_answers() {
    let url = postgres::fresh_database();
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    let settings = client.simple_query("SELECT current_setting('server_encoding'), current_setting('lc_collate')");
    let answer = tokio::select! {
        answer = settings => answer.unwrap(),
        ended = connection => panic!("{ended:?}"),
    };
    let row = answer.iter().find_map(|message| match message {
        tokio_postgres::SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let row = row.unwrap();
    assert_eq!((row.get(0), row.get(1)), (Some("UTF8"), Some("C.UTF-8")));
}

#[test]
fn it_ends_with_its_owner_and_leaves_no_files() {
    let mut owner = Owner::start();
    drop(owner.process.stdin.take());
    assert!(owner.process.wait().unwrap().success());
    owner.server_and_files_are_gone();
}

#[test]
fn it_ends_when_its_owner_is_killed_and_leaves_no_files() {
    let mut owner = Owner::start();
    owner.process.kill().unwrap();
    owner.process.wait().unwrap();
    owner.server_and_files_are_gone();
}

#[test]
fn it_ends_when_its_owner_is_killed_even_without_the_janitor() {
    let mut owner = Owner::start();
    let janitor = owner.janitor();
    assert!(Command::new("kill").args(["-KILL", &janitor.to_string()]).status().unwrap().success());
    owner.process.kill().unwrap();
    owner.process.wait().unwrap();
    eventually("the server ends", || !owner.server_lives());
    std::fs::remove_dir_all(owner.data.parent().unwrap()).unwrap();
}

/// A process that owns a server.
struct Owner {
    process: Child,
    server: u32,
    data: PathBuf,
}

impl Owner {
    fn start() -> Self {
        let mut process =
            Command::new(env!("CARGO_BIN_EXE_throwaway-postgres")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let server = line.split_whitespace().nth(1).expect("a url and a process").parse().unwrap();
        let data = std::fs::read_link(working_directory(server)).unwrap();
        assert!(data.ends_with("db"), "{data:?}");
        Self { process, server, data }
    }

    /// A process keeps its number until it is waited for; its working directory goes with it.
    fn server_lives(&self) -> bool {
        std::fs::read_link(working_directory(self.server)).is_ok_and(|directory| directory == self.data)
    }

    fn server_and_files_are_gone(&self) {
        eventually("the server ends", || !self.server_lives());
        eventually("the files are removed", || !self.data.parent().unwrap().exists());
    }

    /// The only child that the first thread started.
    fn janitor(&self) -> u32 {
        let owner = self.process.id();
        let children = std::fs::read_to_string(format!("/proc/{owner}/task/{owner}/children")).unwrap();
        children.trim().parse().unwrap()
    }
}

fn working_directory(process: u32) -> PathBuf {
    Path::new("/proc").join(process.to_string()).join("cwd")
}

/// Waits for what the kernel and a shell do in their own time.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "not within 30 s: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
