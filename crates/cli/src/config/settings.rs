//! The settings of the server. Each definition is a flag (`--allow-host`), an environment variable (`TOOLCRIB_ALLOW_HOST`) and a
//! key in `toolcrib.toml` (`allow_host`).

use std::num::NonZero;
use std::path::{Path, PathBuf};

use base::Network;
use clap::builder::BoolishValueParser;
use clap::{Args, FromArgMatches, ValueEnum};
use serde::Deserialize;

use super::limits::LimitSettings;
use super::listen::Listen;

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// Plain text
    #[default]
    Text,
    /// One JSON object per line
    Json,
}

/// The settings of one source: command line and environment, or a file.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// Data folder: database, master key, server.json [default: ~/.local/share/toolcrib]
    #[arg(long, env = "TOOLCRIB_DATA", value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    /// Address or host name to listen on; port 0 picks a free port [default: 127.0.0.1:7420]
    #[arg(long, env = "TOOLCRIB_LISTEN", value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<Listen>,

    /// URL that clients use, if it differs from the listen address
    #[arg(long, env = "TOOLCRIB_PUBLIC_URL", value_name = "URL")]
    pub(crate) public_url: Option<String>,

    /// Allowed host name in Host and Origin headers, besides loopback and the public URL's (repeatable)
    #[arg(long, env = "TOOLCRIB_ALLOW_HOST", value_name = "HOST", value_delimiter = ',')]
    pub(crate) allow_host: Option<Vec<String>>,

    /// Directory that may contain project roots (repeatable) [default: anywhere, if listening on loopback]
    #[arg(long, env = "TOOLCRIB_ALLOW_ROOT", value_name = "DIR", value_delimiter = ',')]
    pub(crate) allow_root: Option<Vec<PathBuf>>,

    /// Network of reverse proxies whose X-Forwarded-For header is trusted, like 10.0.0.0/8 (repeatable)
    #[arg(long, env = "TOOLCRIB_TRUST_PROXY", value_name = "CIDR", value_delimiter = ',')]
    pub(crate) trust_proxy: Option<Vec<Network>>,

    /// Token for /metrics; without one, /metrics answers only requests from this machine
    #[arg(long, env = "TOOLCRIB_METRICS_TOKEN", value_name = "TOKEN", hide_env_values = true, value_parser = parse_token)]
    pub(crate) metrics_token: Option<String>,

    /// Private network that webhooks may reach, like 10.0.0.0/8 (repeatable)
    #[arg(long, env = "TOOLCRIB_ALLOW_WEBHOOK_NET", value_name = "CIDR", value_delimiter = ',')]
    pub(crate) allow_webhook_net: Option<Vec<Network>>,

    /// Days to keep audit trails [default: forever]
    #[arg(long, env = "TOOLCRIB_AUDIT_KEEP_DAYS", value_name = "DAYS")]
    pub(crate) audit_keep_days: Option<NonZero<u32>>,

    /// Minimum days to keep audit trails; limits pruning and --audit-keep-days [default: 30]
    #[arg(long, env = "TOOLCRIB_AUDIT_KEEP_DAYS_MIN", value_name = "DAYS")]
    pub(crate) audit_keep_days_min: Option<u32>,

    /// Folder for audit checkpoints, ideally on another machine [default: `checkpoints` in the data folder]
    #[arg(long, env = "TOOLCRIB_AUDIT_CHECKPOINTS", value_name = "DIR")]
    pub(crate) audit_checkpoints: Option<PathBuf>,

    /// Minutes between checkpoints; 0 writes none [default: 60]
    #[arg(long, env = "TOOLCRIB_AUDIT_CHECKPOINT_MINUTES", value_name = "MINUTES")]
    pub(crate) audit_checkpoint_minutes: Option<u32>,

    /// PostgreSQL database to use instead of a file in the data folder
    #[arg(long, env = "TOOLCRIB_DATABASE_URL", value_name = "postgres://…", hide_env_values = true)]
    pub(crate) database_url: Option<String>,

    /// File with the master key, 64 hex digits (or set TOOLCRIB_MASTER_KEY) [default: generated in the data folder]
    #[arg(long, env = "TOOLCRIB_MASTER_KEY_FILE", value_name = "FILE")]
    pub(crate) master_key_file: Option<PathBuf>,

    /// OpenAI-compatible embedding endpoint to use instead of the bundled model, like http://127.0.0.1:11434/v1
    #[arg(long, env = "TOOLCRIB_EMBED_URL", value_name = "URL", hide_env_values = true)]
    pub(crate) embed_url: Option<String>,

    /// Model of the embedding endpoint
    #[arg(long, env = "TOOLCRIB_EMBED_MODEL", value_name = "NAME")]
    pub(crate) embed_model: Option<String>,

    /// Dimension of the endpoint's vectors [default: detected at startup]
    #[arg(long, env = "TOOLCRIB_EMBED_DIMENSION", value_name = "N")]
    pub(crate) embed_dimension: Option<NonZero<u32>>,

    /// What the endpoint's model expects before a query, like 'query: ' [default: nothing]
    #[arg(long, env = "TOOLCRIB_EMBED_QUERY_PREFIX", value_name = "PREFIX", allow_hyphen_values = true)]
    pub(crate) embed_query_prefix: Option<String>,

    /// What the endpoint's model expects before a text that is stored, like 'passage: ' [default: nothing]
    #[arg(long, env = "TOOLCRIB_EMBED_TEXT_PREFIX", value_name = "PREFIX", allow_hyphen_values = true)]
    pub(crate) embed_text_prefix: Option<String>,

    /// File with the endpoint's key, sent as a bearer token (or set TOOLCRIB_EMBED_KEY) [default: no key]
    #[arg(long, env = "TOOLCRIB_EMBED_KEY_FILE", value_name = "FILE")]
    pub(crate) embed_key_file: Option<PathBuf>,

    /// Server name in MCP handshakes [default: toolcrib]
    #[arg(long, env = "TOOLCRIB_SERVER_NAME", value_name = "NAME")]
    pub(crate) server_name: Option<String>,

    /// Worker threads [default: one per core, at most 4]
    #[arg(long, env = "TOOLCRIB_WORKERS", value_name = "N", value_parser = parse_workers)]
    pub(crate) workers: Option<usize>,

    /// Log filter: a level, or levels by module (info,server=debug) [default: info]
    #[arg(long, env = "TOOLCRIB_LOG", value_name = "FILTER")]
    pub(crate) log: Option<String>,

    /// Log format [default: text]
    #[arg(long, env = "TOOLCRIB_LOG_FORMAT", value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,

    /// Serve the fixtures of the MCP conformance suite (only for tests)
    #[arg(long, env = "TOOLCRIB_CONFORMANCE", value_name = "BOOL", num_args = 0..=1, default_missing_value = "true",
          value_parser = BoolishValueParser::new(), hide_short_help = true)]
    pub(crate) conformance: Option<bool>,

    /// The limits.
    #[command(flatten)]
    pub(crate) limits: LimitSettings,
}

/// Checks that a token is valid in a header and not trivial to guess.
pub(super) fn parse_token(text: &str) -> Result<String, String> {
    if text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(text.to_owned())
    } else {
        Err("a token needs 16 or more ASCII characters and no spaces".to_owned())
    }
}

fn parse_workers(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(workers) if (1..=256).contains(&workers) => Ok(workers),
        _ => Err("must be a number from 1 to 256".to_owned()),
    }
}

impl Settings {
    /// Reads the settings from the environment only.
    pub(crate) fn from_environment() -> Result<Self, clap::Error> {
        let command = Self::augment_args(clap::Command::new("toolcrib").no_binary_name(true));
        Self::from_arg_matches(&command.try_get_matches_from(std::iter::empty::<&str>())?)
    }

    /// Fills unset settings from `lower`.
    pub(crate) fn or(self, lower: Self) -> Self {
        Self {
            data: self.data.or(lower.data),
            listen: self.listen.or(lower.listen),
            public_url: self.public_url.or(lower.public_url),
            allow_host: self.allow_host.or(lower.allow_host),
            allow_root: self.allow_root.or(lower.allow_root),
            trust_proxy: self.trust_proxy.or(lower.trust_proxy),
            metrics_token: self.metrics_token.or(lower.metrics_token),
            allow_webhook_net: self.allow_webhook_net.or(lower.allow_webhook_net),
            audit_keep_days: self.audit_keep_days.or(lower.audit_keep_days),
            audit_keep_days_min: self.audit_keep_days_min.or(lower.audit_keep_days_min),
            audit_checkpoints: self.audit_checkpoints.or(lower.audit_checkpoints),
            audit_checkpoint_minutes: self.audit_checkpoint_minutes.or(lower.audit_checkpoint_minutes),
            database_url: self.database_url.or(lower.database_url),
            master_key_file: self.master_key_file.or(lower.master_key_file),
            embed_url: self.embed_url.or(lower.embed_url),
            embed_model: self.embed_model.or(lower.embed_model),
            embed_dimension: self.embed_dimension.or(lower.embed_dimension),
            embed_query_prefix: self.embed_query_prefix.or(lower.embed_query_prefix),
            embed_text_prefix: self.embed_text_prefix.or(lower.embed_text_prefix),
            embed_key_file: self.embed_key_file.or(lower.embed_key_file),
            server_name: self.server_name.or(lower.server_name),
            workers: self.workers.or(lower.workers),
            log: self.log.or(lower.log),
            log_format: self.log_format.or(lower.log_format),
            conformance: self.conformance.or(lower.conformance),
            limits: self.limits.or(lower.limits),
        }
    }

    /// Makes relative paths absolute, based on `folder`. Paths in a settings file are relative to the file.
    pub(super) fn relative_to(mut self, folder: &Path) -> Self {
        let absolute = |path: &mut PathBuf| *path = folder.join(&*path);
        self.data.iter_mut().for_each(absolute);
        self.master_key_file.iter_mut().for_each(absolute);
        self.audit_checkpoints.iter_mut().for_each(absolute);
        self.embed_key_file.iter_mut().for_each(absolute);
        self.allow_root.iter_mut().flatten().for_each(absolute);
        self
    }
}
