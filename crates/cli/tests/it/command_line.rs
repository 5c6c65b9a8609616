//! Every short-lived command as a process: its output, its exit code and its advice.

mod audit;
mod audit_commands;
mod bench;
mod calls;
mod code;
mod defaults;
mod doctor;
mod errors;
mod eval;
mod graph;
mod help;
mod lineage;
mod lists;
mod management;
mod names;
mod people;
mod policy;
mod secrets;
mod serve;
