//! The limits that an operator can change. Each is a flag (`--limits-body-bytes-max`), an environment variable
//! (`TOOLCRIB_LIMITS_BODY_BYTES_MAX`) and a key in the section `[limits]` (`body_bytes_max`). Each has a minimum, below which the
//! server could not answer any request.

use base::limits::Limits;
use clap::Args;
use serde::Deserialize;

macro_rules! limits {
    ($($(#[doc = $doc:literal])* $field:ident: $type:ty, $least:literal, $flag:literal, $variable:literal;)*) => {
        /// The limits that are set.
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
            /// Fills unset limits from `lower`.
            pub(super) fn or(self, lower: Self) -> Self {
                Self { $($field: self.$field.or(lower.$field),)* }
            }

            /// Fills unset limits from `defaults`. Lists every field, so that a new limit cannot be forgotten.
            pub(super) fn over(&self, defaults: Limits) -> Limits {
                Limits { $($field: self.$field.unwrap_or(defaults.$field),)* }
            }
        }

        impl LimitSettings {
            /// Refuses a limit below its minimum.
            pub(super) fn check(&self) -> Result<(), String> {
                $(
                    // An unset limit passes, because its default applies.
                    let value = self.$field.unwrap_or(<$type>::MAX);
                    let least: $type = $least;
                    if !(value >= least) {
                        return Err(format!(
                            "{} (--{}) is {value}, which is too low; write {least} or more",
                            stringify!($field), $flag
                        ));
                    }
                )*
                Ok(())
            }
        }

        /// Every limit with its key, for tests.
        #[cfg(test)]
        pub(super) fn named(limits: &Limits) -> Vec<(&'static str, u64)> {
            vec![$((stringify!($field), limits.$field as u64),)*]
        }
    };
}

limits! {
    /// Largest request body, in bytes [default: 16777216]
    body_bytes_max: usize, 1_024, "limits-body-bytes-max", "TOOLCRIB_LIMITS_BODY_BYTES_MAX";
    /// Maximum messages in a batch [default: 1000]
    batch_messages_max: usize, 1, "limits-batch-messages-max", "TOOLCRIB_LIMITS_BATCH_MESSAGES_MAX";
    /// Maximum nesting depth of JSON [default: 128]
    json_depth_max: usize, 8, "limits-json-depth-max", "TOOLCRIB_LIMITS_JSON_DEPTH_MAX";
    /// Calls per minute for an agent without its own limit [default: 600]
    agent_calls_per_minute: u32, 1, "limits-agent-calls-per-minute", "TOOLCRIB_LIMITS_AGENT_CALLS_PER_MINUTE";
    /// Burst of calls that an agent can make before its rate limit applies [default: 100]
    agent_calls_burst: u32, 1, "limits-agent-calls-burst", "TOOLCRIB_LIMITS_AGENT_CALLS_BURST";
    /// Calls per minute for a key and its sessions [default: 6000]
    key_calls_per_minute: u32, 1, "limits-key-calls-per-minute", "TOOLCRIB_LIMITS_KEY_CALLS_PER_MINUTE";
    /// Burst of calls that a key can make before its rate limit applies [default: 1000]
    key_calls_burst: u32, 1, "limits-key-calls-burst", "TOOLCRIB_LIMITS_KEY_CALLS_BURST";
    /// Calls per minute for all callers of an org [default: 60000]
    org_calls_per_minute: u32, 1, "limits-org-calls-per-minute", "TOOLCRIB_LIMITS_ORG_CALLS_PER_MINUTE";
    /// Burst of calls that an org can make before its rate limit applies [default: 10000]
    org_calls_burst: u32, 1, "limits-org-calls-burst", "TOOLCRIB_LIMITS_ORG_CALLS_BURST";
    /// Concurrent calls of a key or agent per node [default: 256]
    caller_calls_at_once: u32, 1, "limits-caller-calls-at-once", "TOOLCRIB_LIMITS_CALLER_CALLS_AT_ONCE";
    /// Concurrent calls of an org per node [default: 1024]
    org_calls_at_once: u32, 1, "limits-org-calls-at-once", "TOOLCRIB_LIMITS_ORG_CALLS_AT_ONCE";
    /// Memory for request bodies and responses of a key or agent per node, in bytes [default: 67108864]
    caller_bytes_at_once: usize, 65_536, "limits-caller-bytes-at-once", "TOOLCRIB_LIMITS_CALLER_BYTES_AT_ONCE";
    /// Memory for request bodies and responses of an org per node, in bytes [default: 134217728]
    org_bytes_at_once: usize, 65_536, "limits-org-bytes-at-once", "TOOLCRIB_LIMITS_ORG_BYTES_AT_ONCE";
    /// Memory for request bodies and responses of all callers per node, in bytes [default: 268435456]
    bytes_at_once: usize, 65_536, "limits-bytes-at-once", "TOOLCRIB_LIMITS_BYTES_AT_ONCE";
    /// Timeout of a tool call, in seconds [default: 120]
    call_seconds_max: u64, 1, "limits-call-seconds-max", "TOOLCRIB_LIMITS_CALL_SECONDS_MAX";
    /// Largest tool result, and largest response to a batch, in bytes [default: 16777216]
    result_bytes_max: usize, 1_024, "limits-result-bytes-max", "TOOLCRIB_LIMITS_RESULT_BYTES_MAX";
    /// Failed logins per minute for an agent key, account or address [default: 10]
    login_failures_per_minute: u32, 1, "limits-login-failures-per-minute", "TOOLCRIB_LIMITS_LOGIN_FAILURES_PER_MINUTE";
    /// Default lifetime of a session, in seconds [default: 86400]
    session_ttl_seconds: u64, 1, "limits-session-ttl-seconds", "TOOLCRIB_LIMITS_SESSION_TTL_SECONDS";
    /// Maximum concurrent connections [default: 4096]
    connections_max: usize, 1, "limits-connections-max", "TOOLCRIB_LIMITS_CONNECTIONS_MAX";
    /// Maximum concurrent connections per address (IPv6: per /64 network) [default: 1024]
    connections_per_address_max: usize, 1, "limits-connections-per-address-max", "TOOLCRIB_LIMITS_CONNECTIONS_PER_ADDRESS_MAX";
    /// Timeout for the request head, and for each further part of the body, in seconds [default: 30]
    client_idle_seconds: u64, 1, "limits-client-idle-seconds", "TOOLCRIB_LIMITS_CLIENT_IDLE_SECONDS";
    /// Timeout for a client that stops reading its response, in seconds [default: 30]
    client_write_seconds: u64, 1, "limits-client-write-seconds", "TOOLCRIB_LIMITS_CLIENT_WRITE_SECONDS";
    /// How long a shutdown waits for running calls, in seconds [default: 20]
    drain_seconds: u64, 0, "limits-drain-seconds", "TOOLCRIB_LIMITS_DRAIN_SECONDS";
}
