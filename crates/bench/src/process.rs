//! A server process, its CPU time and its memory.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::connection::{Connection, post};

/// How long to wait for the first response.
const START_LIMIT: Duration = Duration::from_secs(20);

/// A child process that is killed on drop.
pub(crate) struct Process(Child);

/// A process is idle if it uses almost no CPU time for this long.
const REST: Duration = Duration::from_millis(30);

impl Process {
    /// Starts `binary`. Its stdout is discarded, its stderr is inherited.
    pub(crate) fn start(binary: &Path, arguments: &[&str]) -> Result<Self> {
        Self::start_with(binary, arguments, &[])
    }

    /// The same, with additional environment variables.
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

    /// CPU time of all threads so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let mut nanoseconds = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.0.id()))? {
            // A thread may exit before its file is read.
            let Ok(text) = std::fs::read_to_string(task?.path().join("schedstat")) else { continue };
            nanoseconds += text.split(' ').next().and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
        }
        Ok(Duration::from_nanos(nanoseconds))
    }

    /// CPU time so far, also of threads that have ended. It is counted in hundredths of a second.
    pub(crate) fn whole_cpu(&self) -> Result<Duration> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        // The name of the process stands in parentheses and may hold spaces. The times are the fields 14 and 15.
        let (_, fields) = text.rsplit_once(')').context("no name of the process")?;
        let ticks: u64 = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        Ok(Duration::from_millis(ticks * 10))
    }

    /// Waits until the process is idle, and returns its CPU time.
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

    /// Resident memory.
    pub(crate) fn resident_bytes(&self) -> Result<u64> {
        self.status_bytes("VmRSS:")
    }

    /// Peak resident memory.
    pub(crate) fn peak_bytes(&self) -> Result<u64> {
        self.status_bytes("VmHWM:")
    }

    /// The current number of threads.
    pub(crate) fn threads(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/task", self.0.id())).map_or(0, Iterator::count)
    }

    fn status_bytes(&self, name: &str) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
        let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kilobytes * 1024)
    }

    /// Waits until the server at `address` answers. Returns the time since `began`.
    pub(crate) async fn wait_for(&mut self, address: SocketAddr, began: Instant) -> Result<Duration> {
        while began.elapsed() < START_LIMIT {
            if let Some(status) = self.0.try_wait()? {
                bail!("the server exited with {status}");
            }
            if let Ok(mut connection) = Connection::open(address).await
                && connection.exchange(&post("/readyz", "", "")).await.is_ok()
            {
                return Ok(began.elapsed());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        bail!("no answer from {address} within {START_LIMIT:?}")
    }

    /// Stops it with SIGTERM and waits.
    pub(crate) fn terminate(mut self) -> Result<()> {
        let sent = Command::new("kill").arg("-TERM").arg(self.0.id().to_string()).status()?;
        if !sent.success() {
            bail!("cannot signal the server");
        }
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // This fails if the process has already exited, which is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An address with a port that is currently free.
pub(crate) fn free_address() -> Result<SocketAddr> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?)
}
