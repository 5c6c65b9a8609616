//! Every command but the long-lived ones, as a process: what it prints, what it ends with, what it tells to do.

mod audit;
mod audit_commands;
mod calls;
mod defaults;
mod doctor;
mod errors;
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
