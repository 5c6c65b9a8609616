//! The hook bus and its consumers: phases of calls, webhooks, tasks and costs.

mod bad_days;
mod bus;
mod figures;
mod management;
mod receiver;
mod webhooks;

pub(crate) use webhooks::allow_local_webhooks;
