//! The gate: identifies callers (`identify`), controls management access (`access`), decides which tools a principal may see and call
//! (`admit`), and limits rates (`rate`). Tenants and credentials are stored here, because no other crate may read them.
//!
//! This crate does not depend on any domain, and no domain depends on it. They meet in `tools` and `server`.

mod access;
mod admit;
mod agents;
mod audit;
mod backup;
mod call;
mod change;
mod failures;
mod forbidden;
mod guard;
mod hooks;
mod identify;
mod keys;
mod late;
mod master;
mod policies;
mod rate;
mod record;
mod refusal;
mod sessions;
mod spec;
mod sweep;
mod tenants;
mod users;
mod vault;

pub use access::{Access, Credential, Manager};
pub use admit::{Admission, Permit};
pub use agents::{Agent, AgentChange, AgentSecret, Agents, NewAgent, Token};
pub use audit::{Audit, AuditEntry, AuditFilter, AuditKey, Event, Extent, Pruned};
pub use backup::{BackupCheck, BrokenTrail, Trails};
pub use call::{CallOutcome, CallRecord};
pub use forbidden::Requester;
pub use guard::Guard;
pub use hooks::{
    Cost, CostFilter, CostGroup, DeadLetter, DueWebhook, Figures, Happened, HookPhase, NewWebhook, Outbox, Performance,
    SUBSCRIBABLE, Settled, Step, Task, TaskFilter, TaskState, ToolPerformance, Webhook, WebhookChange, WebhookHealth,
    WebhookSecret, Webhooks, is_subscribable, subscribable,
};
pub use identify::Caller;
pub use keys::{AgentCover, Cover, Descendants, Key, Keys, Listed, MintedKey, NewKey, ProjectCover, Revocation};
pub use master::MasterKey;
pub use policies::{Explanation, Modelling, NotSaved, Policies, Policy, Subject, Vocabulary};
pub use rate::UnderWay;
pub use record::OpenRecord;
pub use refusal::Refusal;
pub use sessions::{NewSession, OpenedSession, Session, SessionOutcome, SessionState, Sessions};
pub use spec::{Capability, Effect, Spec};
pub use store::Change;
pub use sweep::Swept;
pub use tenants::{NewProject, Org, Orgs, Project, ProjectChange, Projects};
pub use users::{Login, NewUser, Role, User, UserChange, Users};
