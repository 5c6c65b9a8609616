//! Turns a body into its answer: one dispatcher for both doors, both eras, single messages and batches.

mod lifecycle;
mod notify;
mod shelf;
mod subscriptions;
mod tools;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::tools::{Notify as _, Reply};
use base::limits::{LISTENER_RETRY_SECONDS, SUBSCRIPTION_BYTES_MAX};
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

/// A body received at a door.
pub(crate) struct Arrival {
    pub(crate) state: Shared,
    pub(crate) caller: Arc<Caller>,
    pub(crate) id: RequestId,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Where notifications go, if the client accepts them before the answer.
    pub(crate) events: Option<mpsc::Sender<Vec<u8>>>,
    /// The request's slot and its memory.
    pub(crate) under_way: Arc<UnderWay>,
    /// The size of the batch's answers so far, and the room that is reserved for the rest.
    pub(crate) answered: AtomicUsize,
}

/// A message of a batch, or why it is not one.
type Element<'a> = Result<Message<'a>, mcp::Refusal<'a>>;

/// One answer and the status for it.
pub(crate) struct Spoke {
    status: StatusCode,
    bytes: Vec<u8>,
}

/// Answers a whole body. Afterwards the memory of the answer is charged instead of the body's.
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
    // The first message was charged before the body was read.
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
            let is_listen = is_listen(&request);
            if is_listen && arrival.body.len() > SUBSCRIPTION_BYTES_MAX {
                let message =
                    format!("a subscription may have at most {SUBSCRIPTION_BYTES_MAX} bytes, because it is kept in memory");
                let error = Error::new(Kind::TooLarge, message).with("limit", SUBSCRIPTION_BYTES_MAX);
                return exchange.refused(&request.id, Era::Modern, &error.into()).into();
            }
            // Checked before the stream begins, because a stream cannot change its status any more.
            let place = is_listen.then(|| arrival.state.listeners.enter_as(arrival.caller.principal()));
            match &place {
                Some(None) => {
                    let spent = "too many subscriptions are open";
                    return Answer::Refused(Refusal::TooManyRequests { retry_after_seconds: LISTENER_RETRY_SECONDS, spent });
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

/// Whether a request opens a long-lived stream.
fn is_listen(request: &Request<'_>) -> bool {
    Method::find(&request.method, Era::Modern) == Some(Method::SubscriptionsListen)
}

impl From<Spoke> for Answer {
    fn from(Spoke { status, bytes }: Spoke) -> Self {
        Answer::Json { status, bytes }
    }
}

/// The data that the handlers of one body share.
pub(crate) struct Dispatch<'a> {
    state: &'a State,
    caller: &'a Arc<Caller>,
    id: &'a RequestId,
    transport: Transport<'a>,
    events: Option<&'a mpsc::Sender<Vec<u8>>>,
    under_way: &'a UnderWay,
    /// The size of the batch's answers so far, and the room that is reserved for the rest.
    answered: &'a AtomicUsize,
}

/// A result without its envelope, or a complete answer written by the handler.
pub(crate) type Handled = Result<Vec<u8>, Fault>;

impl<'a> Dispatch<'a> {
    fn of(arrival: &'a Arrival) -> Self {
        Self {
            state: &arrival.state,
            caller: &arrival.caller,
            id: &arrival.id,
            transport: Transport(&arrival.headers),
            events: arrival.events.as_ref(),
            under_way: &arrival.under_way,
            answered: &arrival.answered,
        }
    }

    /// How many bytes the remaining answers of this body may have.
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
            Method::ToolsList => self.list_tools(request, admitted).await,
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
        // A client that asked for a stream gets one even without notifications, unless the answer needs another status than 200.
        if spoke.status == StatusCode::OK {
            Notifier::new(self.events, admitted).begin();
        }
        spoke
    }

    /// Answers a legacy batch, in order. All answers together stay within the limit of a result.
    async fn batch(&self, elements: Vec<Element<'_>>) -> Answer {
        let modern = |element: &Element<'_>| match element {
            Ok(Message::Request(request)) => match era::admit(request, self.transport) {
                Ok(admitted) => admitted.era == Era::Modern,
                Err(refused) => refused.era == Era::Modern,
            },
            _ => false,
        };
        if self.transport.era() == Era::Modern || elements.iter().any(modern) {
            return self.refused(&Id::NULL, Era::Modern, &era::no_modern_batch()).into();
        }
        let refusals: Vec<_> = elements.iter().map(|element| self.too_large_for_batch(element)).collect();
        // Room for the shortest answer to each element, with a comma, and for the closing bracket.
        let reserved = refusals.iter().flatten().map(|refusal| refusal.bytes.len() + 1).sum::<usize>() + 1;
        if reserved > self.state.limits.result_bytes_max {
            return self.refused(&Id::NULL, Era::Legacy, &self.batch_too_large()).into();
        }
        self.answered.store(reserved, Ordering::Relaxed);
        let mut answers = Batch::default();
        // Notifications need a stream for a single answer; a batch has none.
        let quiet = Dispatch { events: None, ..*self };
        for (element, refusal) in elements.into_iter().zip(refusals) {
            let (Some(refusal), Some(answer)) = (refusal, quiet.one_of_batch(&element).await) else { continue };
            let room = self.bytes_left() + refusal.bytes.len();
            self.answered.fetch_sub(refusal.bytes.len(), Ordering::Relaxed);
            let answer = if answer.bytes.len() <= room { answer } else { refusal };
            self.answered.fetch_add(answer.bytes.len(), Ordering::Relaxed);
            answers.push(&answer.bytes);
        }
        answers.finish().map_or(Answer::Accepted, Answer::ok)
    }

    /// Answers one element of a batch, unless it needs no answer.
    async fn one_of_batch(&self, element: &Element<'_>) -> Option<Spoke> {
        match element {
            Ok(Message::Request(request)) => Some(self.one(request).await),
            Ok(Message::Notification(_) | Message::Response) => None,
            Err(refusal) => Some(self.refused(&refusal.id, Era::Legacy, &refusal.error.clone().into())),
        }
    }

    /// The answer to an element whose own answer does not fit, unless it needs no answer.
    fn too_large_for_batch(&self, element: &Element<'_>) -> Option<Spoke> {
        let id = match element {
            Ok(Message::Request(request)) => &request.id,
            Ok(Message::Notification(_) | Message::Response) => return None,
            Err(refusal) => &refusal.id,
        };
        Some(self.formatted(id, Era::Legacy, &self.batch_too_large(), None))
    }

    fn batch_too_large(&self) -> Fault {
        let message = "the answers to this batch are too large; send fewer requests at once";
        Error::new(Kind::TooLarge, message).with("limit", self.state.limits.result_bytes_max).into()
    }

    fn refused(&self, id: &Id<'_>, era: Era, fault: &Fault) -> Spoke {
        self.failed(id, era, fault, None)
    }

    /// Formats a fault for this door and era, and logs the internal details.
    fn failed(&self, id: &Id<'_>, era: Era, fault: &Fault, method: Option<Method>) -> Spoke {
        log_error(fault.error(), self.id, self.caller.principal().door());
        self.formatted(id, era, fault, method)
    }

    fn formatted(&self, id: &Id<'_>, era: Era, fault: &Fault, method: Option<Method>) -> Spoke {
        let door = self.caller.principal().door();
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

    /// A result of the request, in the format of its era.
    fn result<T: Serialize>(&self, request: &Request<'_>, admitted: &Admitted<'_>, body: &T) -> Handled {
        let stamp = Stamp::complete(admitted.era, admitted.method, self.server());
        Ok(reply::result_of(&request.id, &stamp, body)?)
    }

    /// A result, or questions to the client that it said it can answer.
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
