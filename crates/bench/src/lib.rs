//! Benchmarks. Each starts the real binary as a process, loads it from this one, and reports what a request costs the
//! server as a ratio to a yardstick that was measured in the same minutes on the same machine. Ratios survive a noisy
//! machine; milliseconds do not, so nothing in the tests asserts a figure from here.

mod connection;
mod doors;
mod echo;
mod governance;
mod graph;
mod load;
mod process;
mod report;
mod sql;
mod trail;

pub use doors::{DoorsOptions, doors};
pub use echo::echo;
pub use governance::{GovernanceOptions, governance};
pub use graph::{GraphOptions, graph};
pub use report::{Figure, Report};
pub use trail::{AuditOptions, audit};
