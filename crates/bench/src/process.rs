//! A server in a process of its own, and what it has used.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::connection::{Connection, post};

/// How long a server may take to answer for the first time.
const START_LIMIT: Duration = Duration::from_secs(20);

/// A child that is killed when it is let go of.
pub(crate) struct Process(Child);

/// A process that used next to no processor time for so long is at rest.
const REST: Duration = Duration::from_millis(30);

impl Process {
    /// Starts `binary`; what it prints is thrown away, what it complains about is not.
    pub(crate) fn start(binary: &Path, arguments: &[&str]) -> Result<Self> {
        Self::start_with(binary, arguments, &[])
    }

    /// The same, with these in its environment.
    pub(crate) fn start_with(binary: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Result<Self> {
        let child = Command::new(binary)
            .args(arguments)
            .env("TOOLCRIB_LOG", "warn")
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        Ok(Self(child))
    }

    /// Processor time of all its threads so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let mut nanoseconds = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.0.id()))? {
            // A thread may end between the listing and the reading.
            let Ok(text) = std::fs::read_to_string(task?.path().join("schedstat")) else { continue };
            nanoseconds += text.split(' ').next().and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
        }
        Ok(Duration::from_nanos(nanoseconds))
    }

    /// The same, once it has nothing more to do.
    pub(crate) async fn cpu_at_rest(&self) -> Result<Duration> {
        let mut spent = self.cpu()?;
        loop {
            tokio::time::sleep(REST).await;
            let now = self.cpu()?;
            if now.saturating_sub(spent) < REST / 50 {
                return Ok(now);
            }
            spent = now;
        }
    }

    /// Memory in use.
    pub(crate) fn resident_bytes(&self) -> Result<u64> {
        self.status_bytes("VmRSS:")
    }

    /// The most memory that was ever in use.
    pub(crate) fn peak_bytes(&self) -> Result<u64> {
        self.status_bytes("VmHWM:")
    }

    /// Its threads right now.
    pub(crate) fn threads(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/task", self.0.id())).map_or(0, Iterator::count)
    }

    fn status_bytes(&self, name: &str) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
        let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kilobytes * 1024)
    }

    /// Waits until the server at `address` answers, and says how long it took since `began`.
    pub(crate) async fn wait_for(&mut self, address: SocketAddr, began: Instant) -> Result<Duration> {
        while began.elapsed() < START_LIMIT {
            if let Some(status) = self.0.try_wait()? {
                bail!("the server ended with {status}");
            }
            if let Ok(mut connection) = Connection::open(address).await
                && connection.exchange(&post("/readyz", "", "")).await.is_ok()
            {
                return Ok(began.elapsed());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        bail!("nothing answered at {address} within {START_LIMIT:?}")
    }

    /// Ends it as an operator would, and waits.
    pub(crate) fn terminate(mut self) -> Result<()> {
        let told = Command::new("kill").arg("-TERM").arg(self.0.id().to_string()).status()?;
        if !told.success() {
            bail!("cannot signal the server");
        }
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to kill.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that was free a moment ago.
pub(crate) fn free_address() -> Result<SocketAddr> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?)
}
