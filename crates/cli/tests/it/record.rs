//! What is on the record beside calls and changes, that trail, bus and answer tell the same, and that the log tells no arguments.

mod log;
mod reads;
mod story;
