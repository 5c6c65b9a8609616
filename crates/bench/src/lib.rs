//! Benchmarks. Most start the real binary as a process, send it requests, and report its cost as a ratio to a baseline measured in
//! the same run. Ratios are stable on a noisy machine and milliseconds are not, so no test asserts a result.

mod code;
mod code_calls;
mod code_engine;
mod code_repository;
mod code_search;
mod connection;
mod doors;
mod echo;
mod fleet;
mod governance;
mod graph;
mod graph_rows;
mod graph_tools;
mod load;
mod memory;
mod peer;
mod process;
mod report;
mod search;
mod sql;
mod times;
mod trail;
mod turns;
mod words;

pub use code::{CodeOptions, code};
pub use doors::{DoorsOptions, doors};
pub use echo::echo;
pub use fleet::{LoadOptions, load};
pub use governance::{GovernanceOptions, governance};
pub use graph::{GraphOptions, graph};
pub use memory::{MemoryOptions, memory};
pub use report::{Figure, Report};
pub use search::{SearchOptions, search};
pub use trail::{AuditOptions, audit};
