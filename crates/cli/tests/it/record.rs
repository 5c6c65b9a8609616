//! Recorded reads and refusals, agreement of trail, bus and answer, and a log without arguments.

mod log;
mod reads;
mod story;
