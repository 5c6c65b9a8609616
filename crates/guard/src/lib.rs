//! The gate: who a request is (`identify`), what a management call may touch (`access`), which tools a principal sees and
//! may call (`admit`), and how often (`rate`). Tenants and credentials live here, because nothing else may read them.
//!
//! This crate never imports a domain, and no domain imports it: they meet in `tools` and `server`.

mod access;
mod admit;
mod agents;
mod audit;
mod backup;
mod call;
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
mod standing;
mod sweep;
mod tenants;
mod users;
mod vault;

pub use access::{Access, Credential, Who};
pub use admit::Permit;
pub use agents::{Agent, AgentChange, AgentSecret, Agents, NewAgent, Token};
pub use audit::{Audit, AuditEntry, AuditFilter, AuditKey, Event, Extent, Pruned};
pub use backup::{BackupCheck, BrokenTrail, Trails};
pub use call::{CallRecord, Outcome};
pub use forbidden::Requester;
pub use guard::Guard;
pub use hooks::{
    Cost, CostFilter, CostGroup, DeadLetter, DueWebhook, Figures, Happened, NewWebhook, Outbox, Settled, Step, Task, TaskFilter,
    TaskState, Webhook, WebhookChange, WebhookHealth, WebhookSecret, Webhooks,
};
pub use identify::Caller;
pub use keys::{AgentCover, Cover, Key, Keys, Listed, MintedKey, NewKey, ProjectCover, Revocation};
pub use master::MasterKey;
pub use policies::{Explanation, NotSaved, Policies, Policy, Subject};
pub use rate::UnderWay;
pub use record::Record;
pub use refusal::Refusal;
pub use sessions::{NewSession, OpenedSession, Session, SessionOutcome, SessionState, Sessions};
pub use spec::{Capability, Effect, Spec};
pub use sweep::Swept;
pub use tenants::{NewProject, Org, Orgs, Project, ProjectChange, Projects, org_slug};
pub use users::{Login, NewUser, Role, User, UserChange, Users};
