//! The bridge itself: a line in, a POST to the session door, the answer's lines out. Requests run side by side; a line is
//! always written whole.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as Lock, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::value::RawValue;
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, Notify, oneshot};
use tokio::task::JoinSet;

use super::headers::headers_for;
use super::lines::{Input, Lines};
use super::message::{Failure, Line, id_key};
use super::parameters::{Parameters, ToolCall};
use super::session::Session;
use super::upstream::Upstream;

/// Most requests under way at once: bounds what a client that never waits can make us hold.
const IN_FLIGHT_MAX: usize = 1_024;
/// How long requests under way are waited for when stdin has ended.
const DRAIN: Duration = Duration::from_secs(120);
/// A request that has no end of its own.
const ENDLESS: &str = "subscriptions/listen";

/// Whatever lines are written to.
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// One session's bridge.
pub(super) struct Bridge {
    pub(super) http: reqwest::Client,
    pub(super) upstream: Arc<Upstream>,
    pub(super) session: Arc<Session>,
    pub(super) parameters: Parameters,
    out: Mutex<Output>,
    in_flight: Lock<HashMap<String, Flight>>,
    /// The version that the last `initialize` has agreed on: every legacy message after it is sent with it.
    version: Lock<Option<&'static str>>,
    /// Nobody reads our output any more.
    closed: Notify,
}

/// A request under way, and how to drop it.
struct Flight {
    number: u64,
    is_endless: bool,
    cancel: oneshot::Sender<()>,
}

/// A line on its way to the server.
pub(super) struct Job {
    pub(super) body: Bytes,
    pub(super) headers: HeaderMap,
    /// The tool that a modern message calls.
    pub(super) tool: Option<ToolCall>,
    /// The version that it agrees on, if it is a legacy `initialize`.
    negotiates: Option<&'static str>,
    ids: Vec<Box<RawValue>>,
    is_batch: bool,
    is_endless: bool,
}

/// What a line makes us do.
enum Order {
    /// Post it.
    Send(Box<Job>),
    /// Drop the request with this id.
    Cancel(String),
    /// It is no JSON: say so.
    Refuse,
}

impl Job {
    /// What a line asks for.
    fn read(text: &str) -> Order {
        let mut job = Self {
            body: Bytes::copy_from_slice(text.as_bytes()),
            headers: HeaderMap::new(),
            tool: None,
            negotiates: None,
            ids: Vec::new(),
            is_batch: false,
            is_endless: false,
        };
        match Line::read(text) {
            Line::Garbage => return Order::Refuse,
            Line::Other => {}
            Line::Batch(ids) => {
                job.is_batch = true;
                job.ids = ids.into_iter().map(ToOwned::to_owned).collect();
            }
            Line::Message(envelope) => {
                if let Some(id) = envelope.cancels() {
                    return Order::Cancel(id);
                }
                job.headers = headers_for(&envelope);
                job.tool = ToolCall::of(&envelope).filter(|_| !job.headers.is_empty());
                job.negotiates = envelope.negotiates().filter(|_| job.headers.is_empty());
                job.is_endless = envelope.method.as_deref() == Some(ENDLESS);
                job.ids = envelope.method.as_ref().and(envelope.id).into_iter().map(ToOwned::to_owned).collect();
            }
        }
        Order::Send(Box::new(job))
    }

    /// Whether somebody waits for an answer.
    pub(super) fn wants_answer(&self) -> bool {
        !self.ids.is_empty()
    }

    /// The one id that a cancellation can name.
    fn key(&self) -> Option<String> {
        (!self.is_batch).then(|| self.ids.first().map(|id| id_key(id))).flatten()
    }
}

impl Bridge {
    pub(super) fn new(http: reqwest::Client, upstream: Arc<Upstream>, session: Arc<Session>, out: Output) -> Arc<Self> {
        let in_flight = Lock::new(HashMap::new());
        let parameters = Parameters::default();
        let (out, version, closed) = (Mutex::new(out), Lock::default(), Notify::new());
        Arc::new(Self { http, upstream, session, parameters, out, in_flight, version, closed })
    }

    /// Serves `input` until it ends, then waits for what is under way.
    pub(super) async fn run(self: &Arc<Self>, input: impl AsyncBufRead + Unpin, line_bytes_max: usize) -> Result<()> {
        let mut lines = Lines::new(input, line_bytes_max);
        let mut tasks = JoinSet::new();
        let mut number = 0;
        loop {
            tokio::select! {
                input = lines.next() => match input.context("cannot read stdin")? {
                    None => break,
                    Some(Input::TooLong(id)) => self.refuse_long(id.as_deref(), line_bytes_max).await,
                    Some(Input::Line(line)) => {
                        number += 1;
                        self.take(&line, number, &mut tasks).await;
                    }
                },
                Some(_) = tasks.join_next(), if !tasks.is_empty() => {}
                () = self.closed.notified() => {
                    tracing::info!("nobody reads stdout any more");
                    return Ok(());
                }
            }
        }
        self.flights().retain(|_, flight| !flight.is_endless);
        let drained = tokio::time::timeout(DRAIN, async { while tasks.join_next().await.is_some() {} });
        tokio::select! {
            drained = drained => if drained.is_err() {
                tracing::warn!("requests were still under way when stdin had long ended");
            },
            () = self.closed.notified() => {}
        }
        Ok(())
    }

    /// Starts what a line asks for.
    async fn take(self: &Arc<Self>, line: &[u8], number: u64, tasks: &mut JoinSet<()>) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let job = match std::str::from_utf8(line).map_or(Order::Refuse, Job::read) {
            Order::Send(job) => self.in_version(*job),
            Order::Cancel(id) => return self.cancel(&id),
            Order::Refuse => return self.refuse("the line is no JSON").await,
        };
        if tasks.len() >= IN_FLIGHT_MAX {
            let message = format!("{IN_FLIGHT_MAX} requests are under way already: wait for their answers");
            return self.fail(&job, &Failure::new("unavailable", true, message)).await;
        }
        let (cancel, cancelled) = oneshot::channel();
        let key = job.key();
        if let Some(key) = &key {
            self.flights().insert(key.clone(), Flight { number, is_endless: job.is_endless, cancel });
        }
        let bridge = Arc::clone(self);
        tasks.spawn(async move {
            tokio::select! {
                biased;
                // A client that cancels wants no answer, not even one that has just come.
                () = until_cancelled(cancelled, job.is_endless) => {}
                answered = bridge.answer(&job) => if let Err(failure) = answered {
                    bridge.fail(&job, &failure).await;
                },
            }
            if let Some(key) = key {
                bridge.landed(&key, number);
            }
        });
    }

    /// The message with the version that was agreed on, if it names none itself. The lines come one by one, so a client that
    /// does not wait for the answer to its `initialize` is understood too.
    fn in_version(&self, mut job: Job) -> Job {
        let mut version = self.version.lock().unwrap_or_else(PoisonError::into_inner);
        match (job.negotiates, *version) {
            (Some(negotiated), _) => *version = Some(negotiated),
            (None, Some(agreed)) if job.headers.is_empty() => {
                job.headers.insert("mcp-protocol-version", HeaderValue::from_static(agreed));
            }
            (None, _) => {}
        }
        job
    }

    /// Drops a request that is under way. One that is not has been answered already.
    fn cancel(&self, key: &str) {
        if let Some(flight) = self.flights().remove(key) {
            // The task may have come to its end in this moment.
            let _ = flight.cancel.send(());
        }
    }

    fn landed(&self, key: &str, number: u64) {
        let mut flights = self.flights();
        if flights.get(key).is_some_and(|flight| flight.number == number) {
            flights.remove(key);
        }
    }

    fn flights(&self) -> std::sync::MutexGuard<'_, HashMap<String, Flight>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The headers of every POST.
    pub(super) fn headers(&self, job: &Job) -> HeaderMap {
        let mut headers = job.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers
    }

    /// Answers whoever waits with an error; tells the log when nobody does.
    async fn fail(&self, job: &Job, failure: &Failure) {
        if !job.wants_answer() {
            tracing::warn!("a message that wants no answer was lost: {}", failure.message);
            return;
        }
        let ids = job.ids.iter().map(AsRef::as_ref).collect::<Vec<_>>();
        self.write(failure.line(&ids, job.is_batch).as_bytes()).await;
    }

    /// Answers a line that could not be read.
    async fn refuse(&self, why: &str) {
        self.write(Failure::new("parse_error", false, why).parse_error().as_bytes()).await;
    }

    /// Answers a line that was too long to keep: with its own id, where that could be read.
    async fn refuse_long(&self, id: Option<&RawValue>, bytes_max: usize) {
        let message = format!("the line is over the limit of {bytes_max} bytes: send less at once");
        match id {
            Some(id) => self.write(Failure::new("too_large", false, message).line(&[id], false).as_bytes()).await,
            None => self.refuse(&message).await,
        }
    }

    /// Writes one line, whole. Line breaks in JSON stand only between its parts, where a space is as good.
    pub(super) async fn write(&self, message: &[u8]) {
        let mut line = message.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect::<Vec<_>>();
        line.push(b'\n');
        let mut out = self.out.lock().await;
        let written = async {
            out.write_all(&line).await?;
            out.flush().await
        };
        if let Err(error) = written.await {
            tracing::debug!(%error, "cannot write to stdout");
            self.closed.notify_one();
        }
    }
}

/// Until the client cancels. A request that is only forgotten goes on, unless it has no end of its own.
async fn until_cancelled(signal: oneshot::Receiver<()>, is_endless: bool) {
    if signal.await.is_err() && !is_endless {
        std::future::pending::<()>().await;
    }
}
