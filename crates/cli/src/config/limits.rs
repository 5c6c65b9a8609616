//! The limits that an operator may change, as settings: `--limits-body-bytes-max` is `TOOLCRIB_LIMITS_BODY_BYTES_MAX` is
//! `body_bytes_max` in the section `[limits]`.

use base::limits::Limits;
use clap::Args;
use serde::Deserialize;

macro_rules! limits {
    ($($(#[doc = $doc:literal])* $field:ident: $type:ty, $flag:literal, $variable:literal;)*) => {
        /// What was said about each limit.
        #[derive(Args, Clone, Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        #[command(next_help_heading = "Limits")]
        pub(crate) struct LimitSettings {
            $(
                $(#[doc = $doc])*
                #[arg(long = $flag, env = $variable, value_name = "N", hide_short_help = true)]
                pub(crate) $field: Option<$type>,
            )*
        }

        impl LimitSettings {
            /// These limits, and where they say nothing, `lower`.
            pub(super) fn or(self, lower: Self) -> Self {
                Self { $($field: self.$field.or(lower.$field),)* }
            }

            /// All limits: `defaults` where nothing was said. Written out whole, so that a new limit cannot be forgotten here.
            pub(super) fn over(&self, defaults: Limits) -> Limits {
                Limits { $($field: self.$field.unwrap_or(defaults.$field),)* }
            }
        }

        /// Every limit by its key, for the test of the example file.
        #[cfg(test)]
        pub(super) fn named(limits: &Limits) -> Vec<(&'static str, u64)> {
            vec![$((stringify!($field), limits.$field as u64),)*]
        }
    };
}

limits! {
    /// Largest request body, in bytes [default: 16777216]
    body_bytes_max: usize, "limits-body-bytes-max", "TOOLCRIB_LIMITS_BODY_BYTES_MAX";
    /// Most messages in one batch [default: 1000]
    batch_messages_max: usize, "limits-batch-messages-max", "TOOLCRIB_LIMITS_BATCH_MESSAGES_MAX";
    /// Deepest nesting of JSON [default: 128]
    json_depth_max: usize, "limits-json-depth-max", "TOOLCRIB_LIMITS_JSON_DEPTH_MAX";
    /// Calls an agent may make in a minute, unless the agent says otherwise [default: 600]
    agent_calls_per_minute: u32, "limits-agent-calls-per-minute", "TOOLCRIB_LIMITS_AGENT_CALLS_PER_MINUTE";
    /// Calls an agent may make at once before the minute's rate applies [default: 100]
    agent_calls_burst: u32, "limits-agent-calls-burst", "TOOLCRIB_LIMITS_AGENT_CALLS_BURST";
    /// Calls a key and its sessions may make in a minute [default: 6000]
    key_calls_per_minute: u32, "limits-key-calls-per-minute", "TOOLCRIB_LIMITS_KEY_CALLS_PER_MINUTE";
    /// Calls a key may make at once before the minute's rate applies [default: 1000]
    key_calls_burst: u32, "limits-key-calls-burst", "TOOLCRIB_LIMITS_KEY_CALLS_BURST";
    /// Calls all callers of an org may make in a minute [default: 60000]
    org_calls_per_minute: u32, "limits-org-calls-per-minute", "TOOLCRIB_LIMITS_ORG_CALLS_PER_MINUTE";
    /// Calls an org may make at once before the minute's rate applies [default: 10000]
    org_calls_burst: u32, "limits-org-calls-burst", "TOOLCRIB_LIMITS_ORG_CALLS_BURST";
    /// Calls a key or agent may have under way at a node [default: 256]
    caller_calls_at_once: u32, "limits-caller-calls-at-once", "TOOLCRIB_LIMITS_CALLER_CALLS_AT_ONCE";
    /// Calls an org may have under way at a node [default: 1024]
    org_calls_at_once: u32, "limits-org-calls-at-once", "TOOLCRIB_LIMITS_ORG_CALLS_AT_ONCE";
    /// Bytes of bodies and answers that a key or agent may have in memory at a node [default: 67108864]
    caller_bytes_at_once: usize, "limits-caller-bytes-at-once", "TOOLCRIB_LIMITS_CALLER_BYTES_AT_ONCE";
    /// Bytes of bodies and answers that an org may have in memory at a node [default: 134217728]
    org_bytes_at_once: usize, "limits-org-bytes-at-once", "TOOLCRIB_LIMITS_ORG_BYTES_AT_ONCE";
    /// Bytes of bodies and answers that all callers may have in memory at a node [default: 268435456]
    bytes_at_once: usize, "limits-bytes-at-once", "TOOLCRIB_LIMITS_BYTES_AT_ONCE";
    /// How long a tool may work on one call, in seconds [default: 120]
    call_seconds_max: u64, "limits-call-seconds-max", "TOOLCRIB_LIMITS_CALL_SECONDS_MAX";
    /// Largest result of a tool, and of all answers to one batch, in bytes [default: 16777216]
    result_bytes_max: usize, "limits-result-bytes-max", "TOOLCRIB_LIMITS_RESULT_BYTES_MAX";
    /// Failed logins an agent key, an account or an address may make in a minute [default: 10]
    login_failures_per_minute: u32, "limits-login-failures-per-minute", "TOOLCRIB_LIMITS_LOGIN_FAILURES_PER_MINUTE";
    /// How long a session lives when its opener does not say, in seconds [default: 86400]
    session_ttl_seconds: u64, "limits-session-ttl-seconds", "TOOLCRIB_LIMITS_SESSION_TTL_SECONDS";
    /// Most connections at once [default: 4096]
    connections_max: usize, "limits-connections-max", "TOOLCRIB_LIMITS_CONNECTIONS_MAX";
    /// Most connections of one address (IPv6: of one /64 network) [default: 1024]
    connections_per_address_max: usize, "limits-connections-per-address-max", "TOOLCRIB_LIMITS_CONNECTIONS_PER_ADDRESS_MAX";
    /// How long a client may take to send its request head, and then each next piece of its body, in seconds [default: 30]
    client_idle_seconds: u64, "limits-client-idle-seconds", "TOOLCRIB_LIMITS_CLIENT_IDLE_SECONDS";
    /// How long a client may take none of an answer that waits for it, in seconds [default: 30]
    client_write_seconds: u64, "limits-client-write-seconds", "TOOLCRIB_LIMITS_CLIENT_WRITE_SECONDS";
    /// How long a stop waits for calls under way, in seconds [default: 20]
    drain_seconds: u64, "limits-drain-seconds", "TOOLCRIB_LIMITS_DRAIN_SECONDS";
}
