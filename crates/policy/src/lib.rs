//! Cedar: the generated schema, checked policies, compiled sets and their decisions.
