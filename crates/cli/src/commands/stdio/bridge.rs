//! The bridge: reads a line, posts it to the session door, and writes the response as lines. Requests run concurrently, and each
//! line is written in one piece.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as Lock, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use base::Kind;
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

/// Maximum concurrent requests, which bounds the memory that a client can use.
const IN_FLIGHT_MAX: usize = 1_024;
/// How long to wait for running requests after stdin closes.
const DRAIN: Duration = Duration::from_secs(120);
/// A request that never completes by itself.
const ENDLESS: &str = "subscriptions/listen";

/// The destination of lines.
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// The bridge between stdio and one session.
pub(super) struct Bridge {
    pub(super) http: reqwest::Client,
    pub(super) upstream: Arc<Upstream>,
    pub(super) session: Arc<Session>,
    pub(super) parameters: Parameters,
    out: Mutex<Output>,
    in_flight: Lock<HashMap<String, Flight>>,
    /// The protocol version of the last `initialize`, which every later legacy message uses.
    version: Lock<Option<&'static str>>,
    /// Notified when stdout is closed.
    closed: Notify,
}

/// A running request, and how to cancel it.
struct Flight {
    number: u64,
    is_endless: bool,
    cancel: oneshot::Sender<()>,
}

/// A line on its way to the server.
pub(super) struct Job {
    pub(super) body: Bytes,
    pub(super) headers: HeaderMap,
    /// The tool call in a modern message.
    pub(super) tool: Option<ToolCall>,
    /// The version that a legacy `initialize` negotiates.
    negotiates: Option<&'static str>,
    ids: Vec<Box<RawValue>>,
    is_batch: bool,
    is_endless: bool,
}

/// What to do with a line.
enum Order {
    /// Post it.
    Send(Box<Job>),
    /// Cancel the request with this id.
    Cancel(String),
    /// Answer with a parse error, because the line is not JSON.
    Refuse,
}

impl Job {
    /// Parses a line.
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

    /// Whether the client expects a response.
    pub(super) fn wants_answer(&self) -> bool {
        !self.ids.is_empty()
    }

    /// The id that a cancellation can refer to. A batch has none.
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

    /// Serves `input` until it ends, then waits for running requests.
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
                    tracing::info!("stdout is closed");
                    return Ok(());
                }
            }
        }
        self.flights().retain(|_, flight| !flight.is_endless);
        let drained = tokio::time::timeout(DRAIN, async { while tasks.join_next().await.is_some() {} });
        tokio::select! {
            drained = drained => if drained.is_err() {
                tracing::warn!("requests still running long after stdin closed; exiting");
            },
            () = self.closed.notified() => {}
        }
        Ok(())
    }

    /// Handles one line.
    async fn take(self: &Arc<Self>, line: &[u8], number: u64, tasks: &mut JoinSet<()>) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let job = match std::str::from_utf8(line).map_or(Order::Refuse, Job::read) {
            Order::Send(job) => self.in_version(*job),
            Order::Cancel(id) => return self.cancel(&id),
            Order::Refuse => return self.refuse("the line is not valid JSON").await,
        };
        if tasks.len() >= IN_FLIGHT_MAX {
            let message = format!("{IN_FLIGHT_MAX} requests are already running; wait for a response");
            return self.fail(&job, &Failure::new(Kind::Unavailable, true, message)).await;
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
                // A client that cancels wants no response, not even one that has just arrived.
                () = until_cancelled(cancelled, job.is_endless) => {}
                answered = bridge.answer(&job) => if let Err(failure) = answered {
                    bridge.fail(&job, &failure).await;
                },
            }
            if let Some(key) = key {
                bridge.finished(&key, number);
            }
        });
    }

    /// Adds the negotiated version to a legacy message. Lines are handled in order, so this also works for a client that does not
    /// wait for the response to its `initialize`.
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

    /// Cancels a running request. Does nothing if it has finished.
    fn cancel(&self, key: &str) {
        if let Some(flight) = self.flights().remove(key) {
            // The task may have just finished.
            let _ = flight.cancel.send(());
        }
    }

    fn finished(&self, key: &str, number: u64) {
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

    /// Writes an error response, or logs the failure if the client expects no response.
    async fn fail(&self, job: &Job, failure: &Failure) {
        if !job.wants_answer() {
            tracing::warn!("notification lost: {}", failure.message);
            return;
        }
        let ids = job.ids.iter().map(AsRef::as_ref).collect::<Vec<_>>();
        self.write(failure.line(&ids, job.is_batch).as_bytes()).await;
    }

    /// Answers a line that cannot be parsed.
    async fn refuse(&self, why: &str) {
        self.write(Failure::new(Kind::ParseError, false, why).parse_error().as_bytes()).await;
    }

    /// Answers a line that is too long, with its id if it could be found.
    async fn refuse_long(&self, id: Option<&RawValue>, bytes_max: usize) {
        let message = format!("the line exceeds the limit of {bytes_max} bytes; send less at once");
        match id {
            Some(id) => self.write(Failure::new(Kind::TooLarge, false, message).line(&[id], false).as_bytes()).await,
            None => self.refuse(&message).await,
        }
    }

    /// Writes one line. Raw line breaks in JSON are only whitespace, so they become spaces.
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

/// Waits until the client cancels. A dropped sender does not cancel a request, unless the request is endless.
async fn until_cancelled(signal: oneshot::Receiver<()>, is_endless: bool) {
    if signal.await.is_err() && !is_endless {
        std::future::pending::<()>().await;
    }
}
