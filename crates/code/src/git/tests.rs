//! Tests against real repositories.
