//! History on both engines.
