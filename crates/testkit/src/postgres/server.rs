//! A private server that never outlives the test process.
//!
//! Two mechanisms stop it. First, the kernel sends it SIGQUIT when the thread that started it ends (`setpriv --pdeathsig`), so that
//! thread only waits for the server. Second, a small shell waits for the end of a pipe that only this process holds open. It then
//! stops the server if it still runs, and removes its files.

use std::ffi::OsStr;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::programs::{Programs, is_root};

/// Maximum number of ports to try, because a free port may be taken before the server starts.
const PORTS_TRIED_MAX: u32 = 5;
/// How long a start may take on a busy machine.
const START_MAX: Duration = Duration::from_secs(60);
/// How often the state of a starting server is checked.
const START_POLL: Duration = Duration::from_millis(10);
/// Enough connections for many parallel tests, each with its own pool.
const CONNECTIONS_MAX: &str = "max_connections=400";

/// Waits for the end of the pipe, then stops the server and removes its files. If another process has reused the server's process
/// id, its working directory differs and it is left alone.
const JANITOR: &str = r#"
trap '' INT TERM HUP
cat > /dev/null
lives() { [ "$(readlink "/proc/$1/cwd")" = "$2/db" ]; }
if lives "$1" "$2"; then kill -QUIT "$1"; fi
while lives "$1" "$2"; do sleep 0.02; done
rm -rf "$2"
"#;

/// Settings of a server.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Whether commits wait for the disk. Only durability tests need this.
    pub fsync: bool,
}

/// A running server. It stops and its files are removed when it is dropped or the process ends.
pub struct Server {
    port: u16,
    process_id: u32,
    janitor: Child,
    databases: AtomicU32,
    creating: Mutex<()>,
}

impl Server {
    /// Starts a server in a new directory and waits until it answers.
    pub fn start(settings: &Settings) -> Self {
        let programs = Programs::find_or_install();
        let account = Account::of_the_server();
        let directory = TempDir::with_prefix("toolcrib-postgres-").expect("a temporary directory");
        account.own(directory.path());
        initialise(&programs, &account, directory.path());
        let (port, process_id) = (0..PORTS_TRIED_MAX)
            .find_map(|_| launch(&programs, &account, directory.path(), settings))
            .unwrap_or_else(|| panic!("PostgreSQL does not start; its log:\n{}", log_of(directory.path())));
        // The janitor removes the directory from now on.
        let janitor = janitor(process_id, &directory.keep());
        Self { port, process_id, janitor, databases: AtomicU32::new(0), creating: Mutex::new(()) }
    }

    /// The URL of `database` in this server.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// The process id of the server.
    pub fn process_id(&self) -> u32 {
        self.process_id
    }

    /// Creates an empty database and returns its URL.
    pub fn fresh_database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        // template0 accepts no connections, so no connection to it can block this statement.
        self.execute(&format!("CREATE DATABASE {name} TEMPLATE template0"));
        self.url(&name)
    }

    /// Runs `sql` in the maintenance database, on a separate thread, because the caller may be in an async runtime.
    fn execute(&self, sql: &str) {
        let _one_at_a_time = self.creating.lock().unwrap_or_else(PoisonError::into_inner);
        let url = self.url("postgres");
        let work = async {
            let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await?;
            tokio::select! {
                outcome = client.batch_execute(sql) => outcome,
                ended = connection => ended,
            }
        };
        let on_its_own_thread = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(work).unwrap_or_else(|error| panic!("`{sql}` failed: {error:?}"));
        };
        std::thread::scope(|scope| scope.spawn(on_its_own_thread).join())
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.janitor.stdin.take());
        // Best effort: if this fails, the kernel's signal stops the server.
        let _ = self.janitor.wait();
    }
}

/// The account that the server runs as. PostgreSQL refuses to run as root.
struct Account {
    nobody: Option<(u32, u32)>,
}

impl Account {
    fn of_the_server() -> Self {
        Self { nobody: is_root().then(|| (id_of_nobody("-u"), id_of_nobody("-g"))) }
    }

    fn own(&self, path: &Path) {
        if let Some((user, group)) = self.nobody {
            std::os::unix::fs::chown(path, Some(user), Some(group)).expect("root can change the owner of a directory");
        }
    }

    /// Runs `program` in `directory` as this account. The programs fail in a directory that the account cannot read.
    fn command(&self, directory: &Path, program: &Path, options: &[&str]) -> Command {
        let mut command = Command::new("setpriv");
        if let Some((user, group)) = self.nobody {
            command.args([format!("--reuid={user}"), format!("--regid={group}"), "--clear-groups".into()]);
        }
        command.args(options).arg(program);
        command.current_dir(directory).env("HOME", directory).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
        command
    }
}

fn id_of_nobody(option: &str) -> u32 {
    let output = Command::new("id").args([option, "nobody"]).output().expect("the program `id`");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("an account `nobody`, as every Debian has it")
}

/// Creates the files of an empty server.
fn initialise(programs: &Programs, account: &Account, directory: &Path) {
    let mut command = account.command(directory, &programs.initdb, &["--pdeathsig=KILL"]);
    command.arg("-D").arg(directory.join("db"));
    command.args(["-U", "postgres", "-A", "trust", "--no-sync", "--locale=C.UTF-8", "--encoding=UTF8"]);
    let output = command.output().expect("`setpriv` of the package `util-linux`");
    assert!(output.status.success(), "initdb failed: {}", String::from_utf8_lossy(&output.stderr));
}

/// Starts the server on a free port. Returns `None` if the server exits, for example because the port was taken.
fn launch(programs: &Programs, account: &Account, directory: &Path, settings: &Settings) -> Option<(u16, u32)> {
    let port = free_port();
    let log = std::fs::File::options().create(true).append(true).open(directory.join("log")).expect("a log file");
    let mut command = account.command(directory, &programs.postgres, &["--pdeathsig=QUIT"]);
    command.arg("-D").arg(directory.join("db"));
    command.args(["-h", "127.0.0.1", "-k", "", "-p", &port.to_string(), "-c", CONNECTIONS_MAX, "-c", "jit=off"]);
    if !settings.fsync {
        command.args(["-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off"]);
    }
    command.stdout(log.try_clone().expect("a second handle on the log")).stderr(log);

    let (started, process_id) = mpsc::channel();
    let (ended, end) = mpsc::channel::<()>();
    std::thread::Builder::new()
        .name("postgres-parent".into())
        .spawn(move || {
            let mut child = command.spawn().expect("`setpriv` of the package `util-linux`");
            let _ = started.send(child.id());
            let _ = child.wait();
            drop(ended);
        })
        .expect("a thread");
    let process_id = process_id.recv().expect("the server's process");
    wait_until_ready(directory, &end).then_some((port, process_id))
}

/// Returns whether the server is ready. `end` closes if the server exits.
fn wait_until_ready(directory: &Path, end: &mpsc::Receiver<()>) -> bool {
    let deadline = Instant::now() + START_MAX;
    while Instant::now() < deadline {
        // The eighth line of this file is the server's state.
        let state = std::fs::read_to_string(directory.join("db/postmaster.pid")).unwrap_or_default();
        if state.lines().nth(7).is_some_and(|line| line.trim() == "ready") {
            return true;
        }
        if end.recv_timeout(START_POLL) == Err(mpsc::RecvTimeoutError::Disconnected) {
            return false;
        }
    }
    panic!("PostgreSQL took longer than {START_MAX:?} to start; its log:\n{}", log_of(directory));
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("its number").port()
}

fn log_of(directory: &Path) -> String {
    std::fs::read_to_string(directory.join("log")).unwrap_or_default()
}

fn janitor(process_id: u32, directory: &Path) -> Child {
    Command::new("sh")
        .args([OsStr::new("-c"), OsStr::new(JANITOR), OsStr::new("janitor")])
        .args([OsStr::new(&process_id.to_string()), directory.as_os_str()])
        .stdin(Stdio::piped())
        // A test runner waits until every process has closed the test's output.
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell")
}
