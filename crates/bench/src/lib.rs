//! Benchmarks. Each starts the real binary as a process, loads it from this one, and reports what a request costs the
//! server as a ratio to a yardstick that was measured in the same minutes on the same machine. Ratios survive a noisy
//! machine; milliseconds do not, so nothing in the tests asserts a figure from here.

mod connection;
mod doors;
mod echo;
mod fleet;
mod governance;
mod graph;
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

pub use doors::{DoorsOptions, doors};
pub use echo::echo;
pub use fleet::{LoadOptions, load};
pub use governance::{GovernanceOptions, governance};
pub use graph::{GraphOptions, graph};
pub use memory::{MemoryOptions, memory};
pub use report::{Figure, Report};
pub use search::{SearchOptions, search};
pub use trail::{AuditOptions, audit};
