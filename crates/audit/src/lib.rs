//! The audit trail's format: canonical events, the chain, signatures, checkpoints, and a verifier that needs no server.
