//! No acknowledged call without its entry, whatever happens to the process.
