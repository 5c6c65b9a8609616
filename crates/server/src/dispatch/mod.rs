//! From a body to its answer: one dispatcher for both doors, both eras, single messages and batches.

mod lifecycle;
mod notify;
mod shelf;
mod subscriptions;
mod tools;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::tools::{Notify as _, Reply};
use base::limits::SMALL_ANSWER_BYTES;
use base::{Error, Kind, RequestId};
use bytes::Bytes;
use guard::{Caller, Refusal, UnderWay};
use http::{HeaderMap, StatusCode};
use mcp::codes::Spoken;
use mcp::era::{self, Admitted, Era, Refused, Transport};
use mcp::reply::{self, Batch, ServerInfo, Stamp};
use mcp::{Fault, Id, Incoming, Message, Method, Request, Speaker};
use serde::Serialize;
use tokio::sync::mpsc;

use notify::Notifier;
pub(crate) use notify::OPEN;

use crate::doors::Answer;
use crate::record::log_error;
use crate::state::{Shared, State};

/// When a caller with too many streams may try again: one may have ended by then.
const LISTEN_RETRY_SECONDS: u64 = 30;

/// A body that came through a door.
pub(crate) struct Arrival {
    pub(crate) state: Shared,
    pub(crate) caller: Arc<Caller>,
    pub(crate) id: RequestId,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Where notifications go, when the client can take them before its answer.
    pub(crate) events: Option<mpsc::Sender<Vec<u8>>>,
    /// Its place, and what it holds in memory.
    pub(crate) under_way: Arc<UnderWay>,
    /// Bytes of the answers that a batch has so far.
    pub(crate) answered: AtomicUsize,
}

/// One answer and the status it would have alone.
pub(crate) struct Spoke {
    status: StatusCode,
    bytes: Vec<u8>,
}

/// Answers a body whole. From then on its place holds the answer's bytes instead of the body's.
pub(crate) async fn answer(arrival: Arrival) -> Answer {
    let answer = spoken(&arrival).await;
    let Arrival { under_way, body, .. } = arrival;
    drop(body);
    under_way.settle(match &answer {
        Answer::Json { bytes, .. } => bytes.len(),
        Answer::Accepted | Answer::Refused(_) => 0,
    });
    answer
}

async fn spoken(arrival: &Arrival) -> Answer {
    let exchange = Dispatch::of(arrival);
    let incoming = mcp::message::parse(&arrival.body, &arrival.state.limits);
    // The first message was paid for before the body was read.
    let further = match &incoming {
        Ok(Incoming::Batch(elements)) => u32::try_from(elements.len()).unwrap_or(u32::MAX).saturating_sub(1),
        _ => 0,
    };
    if let Err(refusal) = arrival.caller.take(further).await {
        return Answer::Refused(refusal);
    }
    match incoming {
        Err(refusal) => exchange.refused(&refusal.id, exchange.transport.era(), &refusal.error.into()).into(),
        Ok(Incoming::One(Message::Request(request))) => {
            // Before the answer begins: once a stream has, nothing can be refused by a status any more.
            let place = is_listen(&request).then(|| arrival.state.listeners.enter(arrival.caller.principal()));
            match &place {
                Some(None) => {
                    return Answer::Refused(Refusal::TooManyRequests { retry_after_seconds: LISTEN_RETRY_SECONDS });
                }
                Some(Some(_)) => arrival.under_way.leave(),
                None => {}
            }
            exchange.one(&request).await.into()
        }
        Ok(Incoming::One(Message::Notification(_) | Message::Response)) => Answer::Accepted,
        Ok(Incoming::Batch(elements)) => exchange.batch(elements).await,
    }
}

/// Whether a request would hold its stream open for as long as it likes.
fn is_listen(request: &Request<'_>) -> bool {
    Method::find(&request.method, Era::Modern) == Some(Method::SubscriptionsListen)
}

impl From<Spoke> for Answer {
    fn from(Spoke { status, bytes }: Spoke) -> Self {
        Answer::Json { status, bytes }
    }
}

/// What the handlers of one body share.
pub(crate) struct Dispatch<'a> {
    state: &'a State,
    caller: &'a Arc<Caller>,
    id: &'a RequestId,
    transport: Transport<'a>,
    events: Option<&'a mpsc::Sender<Vec<u8>>>,
    under_way: &'a UnderWay,
    /// Bytes of the answers that a batch has so far.
    answered: &'a AtomicUsize,
}

/// A result before it is stamped, or the whole answer where the handler wrote it itself.
pub(crate) type Handled = Result<Vec<u8>, Fault>;

impl<'a> Dispatch<'a> {
    fn of(arrival: &'a Arrival) -> Self {
        Self {
            state: &arrival.state,
            caller: &arrival.caller,
            id: &arrival.id,
            transport: Transport::Http(&arrival.headers),
            events: arrival.events.as_ref(),
            under_way: &arrival.under_way,
            answered: &arrival.answered,
        }
    }

    /// How many bytes the answers of this body may still have.
    fn bytes_left(&self) -> usize {
        self.state.limits.result_bytes_max.saturating_sub(self.answered.load(Ordering::Relaxed))
    }

    fn server(&self) -> &'a ServerInfo {
        &self.state.server_info
    }

    /// Answers one request.
    async fn one(&self, request: &Request<'_>) -> Spoke {
        match era::admit(request, self.transport) {
            Ok(admitted) => self.admitted(request, &admitted).await,
            Err(Refused { era, fault }) => self.refused(&request.id, era, &fault),
        }
    }

    async fn admitted(&self, request: &Request<'_>, admitted: &Admitted<'_>) -> Spoke {
        let handled = match admitted.method {
            Method::Initialize => self.initialize(request, admitted),
            Method::Discover => self.discover(request, admitted),
            Method::Ping | Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => self.empty(request, admitted),
            Method::LoggingSetLevel => self.set_level(request, admitted),
            Method::ToolsList => self.list_tools(request, admitted),
            Method::ToolsCall => self.call_tool(request, admitted).await,
            Method::SubscriptionsListen => self.listen(request, admitted).await,
            Method::ResourcesList => self.list_resources(request, admitted),
            Method::ResourcesTemplatesList => self.list_resource_templates(request, admitted),
            Method::ResourcesRead => self.read_resource(request, admitted),
            Method::PromptsList => self.list_prompts(request, admitted),
            Method::PromptsGet => self.get_prompt(request, admitted),
            Method::CompletionComplete => self.complete(request, admitted),
        };
        let spoke = match handled {
            Ok(bytes) => Spoke { status: StatusCode::OK, bytes },
            Err(fault) => self.failed(&request.id, admitted.era, &fault, Some(admitted.method)),
        };
        // Whoever asked for a stream gets one, though nothing came before the answer; only a status of its own must be seen.
        if spoke.status == StatusCode::OK {
            Notifier::new(self.events, admitted).begin();
        }
        spoke
    }

    /// Answers a legacy batch, in order.
    async fn batch(&self, elements: Vec<Result<Message<'_>, mcp::Refusal<'_>>>) -> Answer {
        let modern = |element: &Result<Message<'_>, _>| match element {
            Ok(Message::Request(request)) => match era::admit(request, self.transport) {
                Ok(admitted) => admitted.era == Era::Modern,
                Err(refused) => refused.era == Era::Modern,
            },
            _ => false,
        };
        if self.transport.era() == Era::Modern || elements.iter().any(modern) {
            return self.refused(&Id::NULL, Era::Modern, &era::no_modern_batch()).into();
        }
        let mut answers = Batch::default();
        // Notifications belong to one answer's stream; a batch has none.
        let quiet = Dispatch { events: None, ..*self };
        for element in elements {
            let answer = match element {
                Ok(Message::Request(request)) => quiet.one_of_batch(&request).await,
                Ok(Message::Notification(_) | Message::Response) => continue,
                Err(refusal) => self.refused(&refusal.id, Era::Legacy, &refusal.error.into()),
            };
            self.answered.fetch_add(answer.bytes.len(), Ordering::Relaxed);
            answers.push(&answer.bytes);
        }
        answers.finish().map_or(Answer::Accepted, Answer::ok)
    }

    /// Answers one request of a batch. An answer that does not fit any more is replaced, unless it is small: what came of a call is
    /// always said.
    async fn one_of_batch(&self, request: &Request<'_>) -> Spoke {
        let answer = self.one(request).await;
        if answer.bytes.len() <= self.bytes_left().max(SMALL_ANSWER_BYTES) {
            return answer;
        }
        let message = "the answers to this batch are too large together: send fewer requests at once";
        let error = Error::new(Kind::TooLarge, message).with("limit", self.state.limits.result_bytes_max);
        self.refused(&request.id, Era::Legacy, &error.into())
    }

    fn refused(&self, id: &Id<'_>, era: Era, fault: &Fault) -> Spoke {
        self.failed(id, era, fault, None)
    }

    /// Speaks a fault the way this door and era do, and logs what only the log may know.
    fn failed(&self, id: &Id<'_>, era: Era, fault: &Fault, method: Option<Method>) -> Spoke {
        let door = self.caller.principal().door();
        log_error(fault.error(), self.id, door);
        let speaker = Speaker { door, revision: self.transport.revision(era), request: self.id };
        match speaker.speak(fault, method) {
            Spoken::Error(failure) => Spoke { status: failure.status, bytes: reply::error(id, &failure) },
            Spoken::Result(result) => {
                let stamp = Stamp::complete(era, Method::ToolsCall, self.server());
                match reply::result_of(id, &stamp, &result) {
                    Ok(bytes) => Spoke { status: StatusCode::OK, bytes },
                    Err(error) => Spoke { status: StatusCode::OK, bytes: reply::error(id, &speaker.failure(&error.into())) },
                }
            }
        }
    }

    /// A result of the admitted request, stamped as its era wants it.
    fn result<T: Serialize>(&self, request: &Request<'_>, admitted: &Admitted<'_>, body: &T) -> Handled {
        let stamp = Stamp::complete(admitted.era, admitted.method, self.server());
        Ok(reply::result_of(&request.id, &stamp, body)?)
    }

    /// A result, or the questions that come before it: only those that the client says it can answer.
    fn reply<T: Serialize>(&self, request: &Request<'_>, admitted: &Admitted<'_>, reply: Reply<T>) -> Handled {
        match reply {
            Reply::Complete(result) => self.result(request, admitted, &result),
            Reply::InputRequired(questions) => {
                let stamp = Stamp::input_required(admitted.era, admitted.method, self.server())?;
                let questions = questions.for_client(admitted.meta.capabilities)?;
                Ok(reply::result_of(&request.id, &stamp, &questions)?)
            }
        }
    }
}
