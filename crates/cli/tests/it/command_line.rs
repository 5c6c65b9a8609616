//! Every command but the long-lived ones, as a process: what it prints, what it ends with, what it tells to do.

mod management;
