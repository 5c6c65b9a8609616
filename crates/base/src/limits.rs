//! Every limit that a caller or an operator can reach, in one place, with its reason. `make generate` writes `docs/limits.md` from it.
//!
//! [`Limits`] holds the limits that an operator can change; the others are constants. A number that only tunes one algorithm is defined
//! next to that algorithm.

mod code;

pub use code::*;

/// The limits that an operator can change (`toolcrib.toml`, section `[limits]`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest request body. It must hold whole source files; anything larger is a mistake or an attack.
    pub body_bytes_max: usize,
    /// Most messages in one legacy batch. Each message counts against the rate limit, so this only bounds parsing.
    pub batch_messages_max: usize,
    /// Deepest nesting of JSON. It protects recursive parsers from stack overflow.
    pub json_depth_max: usize,
    /// Calls per minute for an agent's tokens, unless the agent has its own rate.
    pub agent_calls_per_minute: u32,
    /// Calls that an agent can make at once before the rate per minute applies.
    pub agent_calls_burst: u32,
    /// Calls per minute for a key. The key's sessions share this rate.
    pub key_calls_per_minute: u32,
    /// Calls that a key can make at once. A full batch fits when the key has been idle.
    pub key_calls_burst: u32,
    /// Calls per minute for all callers of an org together, so that one tenant cannot starve the others.
    pub org_calls_per_minute: u32,
    /// Calls that an org can make at once before the rate per minute applies.
    pub org_calls_burst: u32,
    /// Concurrent calls of one key or agent on a node. A client above this limit does not wait for answers.
    pub caller_calls_at_once: u32,
    /// Concurrent calls of one org on a node.
    pub org_calls_at_once: u32,
    /// Bytes of request bodies and answers that one key or agent can hold in memory on a node: four of the largest.
    pub caller_bytes_at_once: usize,
    /// Bytes of request bodies and answers that one org can hold in memory on a node.
    pub org_bytes_at_once: usize,
    /// Bytes of request bodies and answers that all callers together can hold in memory on a node. The node needs this much memory.
    pub bytes_at_once: usize,
    /// Time limit for one tool call. Waiting for a peer or a person has separate limits.
    pub call_seconds_max: u64,
    /// Largest result of a tool, and of all answers to one batch. Models read results, so tools that return more should use pages.
    pub result_bytes_max: usize,
    /// Failed attempts per minute: with one agent key, from one address when agents authenticate, and for one account from one address.
    pub login_failures_per_minute: u32,
    /// Lifetime of a session when the request to open it sets none.
    pub session_ttl_seconds: u64,
    /// Most concurrent connections. Further ones wait in the kernel's queue.
    pub connections_max: usize,
    /// Most connections from one address (IPv6: one /64 network). Trusted proxies are exempt.
    pub connections_per_address_max: usize,
    /// Time that a client has to send its request head, and then each next piece of its body.
    pub client_idle_seconds: u64,
    /// Time that a client can go without reading a waiting answer.
    pub client_write_seconds: u64,
    /// Time that a shutdown waits for calls in progress.
    pub drain_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes_max: 16 * 1024 * 1024,
            batch_messages_max: 1_000,
            json_depth_max: 128,
            agent_calls_per_minute: 600,
            agent_calls_burst: 100,
            key_calls_per_minute: 6_000,
            key_calls_burst: 1_000,
            org_calls_per_minute: 60_000,
            org_calls_burst: 10_000,
            caller_calls_at_once: 256,
            org_calls_at_once: 1_024,
            caller_bytes_at_once: 64 * 1024 * 1024,
            org_bytes_at_once: 128 * 1024 * 1024,
            bytes_at_once: 256 * 1024 * 1024,
            call_seconds_max: 120,
            result_bytes_max: 16 * 1024 * 1024,
            login_failures_per_minute: 10,
            session_ttl_seconds: 24 * 60 * 60,
            connections_max: 4_096,
            connections_per_address_max: 1_024,
            client_idle_seconds: 30,
            client_write_seconds: 30,
            drain_seconds: 20,
        }
    }
}

/// Connections that can wait in the kernel's queue. A whole fleet of clients can start at once.
pub const LISTEN_BACKLOG: u32 = 1_024;
/// Bytes that a connection buffers in each direction. It limits the memory that unauthenticated clients can use, and a request head fits.
pub const CONNECTION_BUFFER_BYTES: usize = 32 * 1024;
/// Answers up to this size are always sent, so that a caller learns the result of a change even when its byte budget is used up. A call
/// of a batch is not run if less room is left.
pub const SMALL_ANSWER_BYTES: usize = 16 * 1024;
/// JSON values in one request. In memory, each takes many times the space of its text.
pub const JSON_VALUES_MAX: usize = 250_000;
/// Computations that can wait for a processor. Further ones are refused with `unavailable`.
pub const COMPUTATIONS_WAITING_MAX: usize = 1_024;
/// Computations of one org that can wait in the org's own queue: as many as the org can have concurrent calls.
pub const COMPUTATIONS_WAITING_PER_ORG_MAX: usize = 1_024;
/// Time that a computation, a long query or a password hash waits for its turn.
pub const COMPUTATION_WAIT_SECONDS: u64 = 10;
/// Lifetime of an agent's access token. There is no refresh.
pub const AGENT_TOKEN_TTL_MS: i64 = 15 * 60 * 1_000;
/// Longest lifetime of a session, so that forgotten sessions expire.
pub const SESSION_TTL_SECONDS_MAX: u64 = 30 * 24 * 60 * 60;
/// Failed logins for one account from all addresses together, as a multiple of the limit for one address. It stops guessing from many
/// addresses, while a single attacker cannot lock a person out.
pub const LOGIN_FAILURES_PER_ACCOUNT_FACTOR: u32 = 10;
/// Lifetime of a console login.
pub const LOGIN_TTL_MS: i64 = 12 * 60 * 60 * 1_000;
/// How long the server remembers the key of an ended or expired session, so that an operator can still see which key did what.
pub const DEAD_SESSION_KEYS_KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Expired rows removed in one transaction. It limits how long the org's writes wait.
pub const SWEEP_ROWS_MAX: u32 = 500;
/// When the server cleans up expired credentials: first this long after its start, then at this interval.
pub const SWEEP_SECONDS: (u64, u64) = (60, 60 * 60);
/// Open `subscriptions/listen` streams of one credential. Each costs a connection and a task.
pub const LISTENERS_PER_CALLER_MAX: usize = 16;
/// How often an idle `subscriptions/listen` stream checks whether its credential has expired.
pub const LISTENER_LOOK_SECONDS: u64 = 20;
/// `Retry-After` for a caller with too many such streams. One may have ended by then.
pub const LISTENER_RETRY_SECONDS: u64 = 30;
/// How long an event stream can be silent before the server sends a comment. Proxies close connections that are silent for longer.
pub const STREAM_KEEP_ALIVE_SECONDS: u64 = 15;
/// Time for a whole body, as a multiple of `client_idle_seconds`.
pub const BODY_IDLE_FACTOR: u32 = 10;
/// Rows in a page of a list when the caller sets no limit.
pub const PAGE_ROWS_DEFAULT: u32 = 50;
/// Rows that a tool lists when the caller sets no limit. Models read them, so the number is small.
pub const TOOL_ROWS_DEFAULT: u32 = 20;
/// Most rows that a tool lists in one page.
pub const TOOL_ROWS_MAX: u32 = 100;
/// Schema violations listed in one answer.
pub const VIOLATIONS_MAX: usize = 16;
/// Most rows in a page of a list. It bounds the memory for one answer.
pub const PAGE_ROWS_MAX: u32 = 200;
/// Tools in a page of `tools/list`. Most clients never request a second page, so one page should hold a typical list.
pub const TOOLS_PER_PAGE: usize = 200;
/// Longest name of an org, project, key, agent, brick or kit, in Unicode scalar values.
pub const NAME_CHARS_MAX: usize = 120;
/// Longest description of a brick or kit, and longest notes of a kit version.
pub const DESCRIPTION_CHARS_MAX: usize = 500;
/// Longest evaluation prompt of a brick.
pub const EVALUATION_PROMPT_CHARS_MAX: usize = 10_000;
/// Most bricks in one kit. A kit is always read as a whole.
pub const KIT_BRICKS_MAX: usize = 500;
/// Most entries of an allowlist or a scope list in one request.
pub const ALLOWLIST_ENTRIES_MAX: usize = 1_000;
/// Most writes that share one commit. It limits how long the first of them waits.
pub const COMMIT_JOBS_MAX: usize = 256;
/// PostgreSQL connections of a node. Each runs one closure at a time on a blocking thread.
pub const POSTGRES_CONNECTIONS_MAX: usize = 24;
/// How long a call waits for a PostgreSQL connection before it fails with `unavailable`.
pub const POSTGRES_WAIT_SECONDS: u64 = 10;
/// Threads for blocking work. Each kind of blocking work also has its own, smaller limit.
pub const BLOCKING_THREADS_MAX: usize = 96;
/// Log lines that can wait to be written. Further lines are dropped. A line takes a few hundred bytes.
pub const LOG_LINES_WAITING_MAX: usize = 10_000;
/// Writes that can wait for the writer. Further ones are refused with `unavailable`.
pub const WRITE_QUEUE_MAX: usize = 4_096;
/// Most statements in one policy, and most in all enforced or log-only policies of an org. Each one adds to the cost of every decision it
/// could match.
pub const POLICY_STATEMENTS_MAX: usize = 10_000;
/// Longest text of one policy.
pub const POLICY_CHARS_MAX: usize = 1_000_000;
/// Longest text of one policy in bytes. It is parsed and validated as a whole.
pub const POLICY_BYTES_MAX: usize = 1024 * 1024;
/// Deepest nesting of one policy statement. An operator counts as one level, a bracket as four. Parser, validator and evaluator recurse
/// once per level and must fit in half of a 2 MiB thread stack; the caller needs the other half. Write a long list of alternatives as a
/// set, not as a chain.
pub const POLICY_NESTING_MAX: usize = 192;
/// Longest `@id` of a policy statement. Every audit event that the statement decides repeats it.
pub const POLICY_STATEMENT_NAME_CHARS_MAX: usize = 120;
/// Deepest nesting of a tool's arguments that policies can see.
pub const POLICY_ARGUMENTS_DEPTH_MAX: usize = 8;
/// Most members of one object in a tool's arguments that policies can see. A peer's card can declare any number of them.
pub const POLICY_ARGUMENTS_MEMBERS_MAX: usize = 256;
/// Policies named in one audit event. A longer list would add no information.
pub const POLICIES_NAMED_MAX: usize = 20;
/// Longest text of all policies of an org together. They are read and compiled as one set.
pub const POLICIES_CHARS_MAX: i64 = 2_000_000;
/// Text of the compiled policy sets in the cache. Orgs with the same policies share one set.
pub const POLICY_SET_CACHE_BYTES_MAX: u64 = 20_000_000;
/// Concurrent long queries (checking or testing a policy, verifying an audit trail, reporting on memory). Each keeps one processor busy.
pub const QUESTIONS_AT_ONCE: usize = 2;
/// Long queries that can wait for their turn. Further ones are refused with `unavailable`.
pub const QUESTIONS_WAITING_MAX: usize = 64;
/// Pages of rows kept in memory until someone writes to their org. Each takes a few kilobytes.
pub const KEPT_ANSWERS_MAX: usize = 256;
/// Bytes of cached `tools/list` answers. An org with thousands of tools has long ones.
pub const LISTING_CACHE_BYTES_MAX: u64 = 64_000_000;
/// Bytes of cached catalogues of orgs that registered their own tools.
pub const CATALOGUE_CACHE_BYTES_MAX: u64 = 128_000_000;
/// Audit entries scanned for one page with several filters.
pub const AUDIT_LOOK_ROWS_MAX: u32 = 5_000;
/// Longest reason for revoking a signing key. It is published with the key.
pub const REVOCATION_REASON_CHARS_MAX: usize = 200;
/// Groups in one answer about costs.
pub const COST_GROUPS_MAX: u32 = 1_000;
/// Decrypted signing keys in the cache. Each takes a few hundred bytes.
pub const SIGNING_KEY_CACHE_MAX: usize = 10_000;
/// 403s of one credential that the audit trail records per minute. One further entry counts the rest of that minute.
pub const FORBIDDEN_A_MINUTE: u32 = 10;
/// Audit records that can wait to be written after their callers disconnected.
pub const LATE_RECORDS_MAX: usize = 10_000;
/// Log lines per minute about refusals with one status at one door. The rest are counted.
pub const REFUSAL_LINES_A_MINUTE: u32 = 30;
/// How soon the audit record of a read is synced to disk. The read itself does not wait for it.
pub const NOTE_SYNC_MS_MAX: u64 = 50;
/// Credentials in the cache. Each takes a few hundred bytes.
pub const PRINCIPAL_CACHE_MAX: usize = 20_000;
/// Rate limiters in memory. Above this, the least used ones are reset.
pub const LIMITER_CACHE_MAX: usize = 100_000;
/// Password hashes computed at once. argon2 takes 19 MiB for each.
pub const PASSWORD_HASHES_AT_ONCE: usize = 2;
/// Password hashes that can wait for their turn. Further logins are refused with `unavailable`.
pub const PASSWORD_HASHES_WAITING_MAX: usize = 64;
/// Bytes of text in one page of a project's memory. A longer list continues on the next page.
pub const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Concurrent login attempts from one address, so that one address cannot block everyone else.
pub const LOGINS_PER_ADDRESS_AT_ONCE: usize = 4;
/// Shortest password. Shorter ones can be guessed.
pub const PASSWORD_CHARS_MIN: usize = 12;
/// Longest password. More characters add no security.
pub const PASSWORD_CHARS_MAX: usize = 1_000;
/// Longest email address. This is the limit of email itself.
pub const EMAIL_CHARS_MAX: usize = 254;
/// Longest path of a project's root. This is the limit of Linux.
pub const ROOT_CHARS_MAX: usize = 4_096;
/// How long `/readyz` caches its result. Anyone can call it, and each check writes to the disk.
pub const READINESS_KEPT_MS: u64 = 1_000;
/// Bytes that a readiness check writes. A call and its audit record need about as much, so a disk with less space does not count as
/// ready.
pub const PROBE_BYTES: usize = 64 * 1024;
/// Notifications of one call that can wait for a slow client.
pub const NOTIFICATION_QUEUE_MAX: usize = 256;
/// How long a client can cache a list (`ttlMs`).
pub const LIST_TTL_MS: u64 = 60_000;
/// Time that a client has to answer a question from a call. It may have to find a person first.
pub const REQUEST_STATE_TTL_MS: i64 = 15 * 60 * 1_000;
/// Largest body of a subscription. It stays in memory for as long as the subscription lasts.
pub const SUBSCRIPTION_BYTES_MAX: usize = 256 * 1024;
/// Resources that one subscription can watch.
pub const SUBSCRIPTION_URIS_MAX: usize = 1_000;
/// Largest body of a management call without a credential (a login), so that strangers cannot fill the memory.
pub const PUBLIC_BODY_BYTES_MAX: usize = 16 * 1024;
/// Bytes of a refused request's body that the server reads and discards, so that the client can read the refusal.
pub const LINGER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Time limit for reading such a body.
pub const LINGER_SECONDS: u64 = 10;
/// How long the client can pause while the server reads such a body.
pub const LINGER_IDLE_SECONDS: u64 = 1;
/// Events of one org that the relay processes at once. It bounds memory, and how long the org's writes wait for the relay's own writes.
pub const RELAY_EVENTS_MAX: u32 = 128;
/// How long the relay collects events before it reads them. Events of a busy org then share one read and one transaction.
pub const RELAY_GATHER_MS: u64 = 50;
/// How often the relay looks for events that it got no notice of, from a crashed node or from another node.
pub const RELAY_SWEEP_SECONDS: u64 = 30;
/// Orgs with new events that the relay remembers. The periodic check finds the rest.
pub const RELAY_ORGS_MAX: usize = 10_000;
/// Subscribers served at once. Each webhook holds a connection.
pub const RELAY_JOBS_MAX: usize = 64;
/// How long a node's claim on a webhook lasts before another node can take over. It is longer than any delivery takes.
pub const HOOK_LEASE_MS: i64 = 30 * 1_000;
/// Time that a receiver has to answer. Receivers should accept the event first and process it later.
pub const WEBHOOK_TIMEOUT_MS: u64 = 10 * 1_000;
/// Pause after the first failed delivery. Each further pause is three times as long.
pub const WEBHOOK_PAUSE_FIRST_MS: u64 = 1_000;
/// Longest pause between deliveries. A receiver that recovers is found within ten minutes.
pub const WEBHOOK_PAUSE_MAX_MS: u64 = 10 * 60 * 1_000;
/// Delivery attempts before an event becomes a dead letter and the next event is sent. They take a quarter of an hour in total.
pub const WEBHOOK_TRIES_MAX: u32 = 8;
/// Webhooks of one org. Each can see every event of the org.
pub const WEBHOOKS_MAX: usize = 20;
/// Event types that one webhook can list.
pub const WEBHOOK_EVENTS_MAX: usize = 50;
/// Longest URL of a webhook.
pub const WEBHOOK_URL_CHARS_MAX: usize = 2_000;
/// Bytes of a receiver's answer that the server reads before it reuses the connection.
pub const WEBHOOK_ANSWER_BYTES_MAX: usize = 16 * 1024;
/// Calls, newest first, whose durations one answer about performance covers.
pub const PERFORMANCE_CALLS_MAX: u64 = 200_000;
/// How long finished calls are listed. The audit trail and the cost figures are kept longer.
pub const TASKS_KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Longest observation, about thirty pages. Anything longer is a document.
pub const OBSERVATION_CHARS_MAX: usize = 100_000;
/// Longest type of an observation.
pub const OBSERVATION_TYPE_CHARS_MAX: usize = 64;
/// Longest query to memory or the graph. Anything longer is a text to remember, not a question.
pub const QUERY_CHARS_MAX: usize = 50_000;
/// Observations forgotten, or triplets retracted, in one transaction of a rollback. It limits how long the org's writes wait.
pub const FORGET_ROWS_MAX: u32 = 500;
/// Observations in one import. An import is one transaction, so this limits how long the org's writes wait.
pub const IMPORT_LINES_MAX: usize = 1_000;
/// Longest name of an observation's author or session, including prefixes such as `import:`.
pub const AUTHOR_CHARS_MAX: usize = 200;
/// Observations in a memory report, newest first. They are read in one query.
pub const REPORT_ROWS_MAX: u32 = 100_000;
/// Observations that a report compares with each other, newest first. The work grows with the square of this number.
pub const REPORT_COMPARED_MAX: i64 = 2_000;
/// Groups of near duplicates in a report.
pub const REPORT_GROUPS_MAX: usize = 10;
/// Hits of a search in memory or the graph when the caller sets no limit.
pub const HITS_DEFAULT: u32 = 10;
/// Most hits of a memory search on the management API.
pub const MEMORY_HITS_MAX: u32 = 200;
/// Longest `workType` of a recall.
pub const WORK_TYPE_CHARS_MAX: usize = 64;
/// Most facts in the answer to a recall.
pub const RECALL_TRIPLETS_MAX: usize = 10;
/// Facts extracted from one observation. Use `graph_ingest` for longer lists.
pub const OBSERVATION_FACTS_MAX: usize = 10;
/// Memory for search indexes on a node. Above this, the least used ones are dropped and loaded again on demand.
pub const INDEX_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Query vectors in the cache. Repeating a query needs no second embedding.
pub const QUERY_VECTOR_CACHE_MAX: usize = 2_000;
/// How often a server looks for texts that a crashed node left without a vector.
pub const EMBED_SWEEP_SECONDS: u64 = 10 * 60;
/// Triplets in one call. A call is one transaction, and the org's writes wait for it.
pub const TRIPLETS_PER_CALL_MAX: usize = 100;
/// Longest name, alias or type of an entity. Names are not sentences.
pub const ENTITY_NAME_CHARS_MAX: usize = 200;
/// Aliases for one entity in one call.
pub const ENTITY_ALIASES_MAX: usize = 20;
/// Entities that can be merged into one. A lookup of a fact queries each of them.
pub const ENTITY_MEMBERS_MAX: usize = 16;
/// Targets that one `functional` fact can supersede. A relationship with more does not have one value at a time.
pub const FUNCTIONAL_TARGETS_MAX: usize = 1_000;
/// Longest relationship as the caller writes it.
pub const RELATIONSHIP_WRITTEN_CHARS_MAX: usize = 200;
/// Longest relationship in its normalised form.
pub const RELATIONSHIP_CHARS_MAX: usize = 64;
/// Longest description of a triplet.
pub const TRIPLET_DESCRIPTION_CHARS_MAX: usize = 2_000;
/// Most triplets in the answer of `graph_query`.
pub const GRAPH_HITS_MAX: u32 = 100;
/// Hops of a graph search when the caller sets no depth.
pub const GRAPH_HOPS_DEFAULT: u32 = 2;
/// Most hops of a graph search.
pub const GRAPH_HOPS_MAX: u32 = 4;
/// Entities whose names are compared to suggest merges.
pub const SUGGESTION_ENTITIES_MAX: usize = 20_000;
/// Merge suggestions in one answer.
pub const SUGGESTIONS_MAX: usize = 100;
/// Most entities in the answer of `graph_neighbors`.
pub const NEIGHBOUR_ENTITIES_MAX: u32 = 1_000;
/// Most hops of `graph_neighbors`.
pub const NEIGHBOUR_HOPS_MAX: u32 = 5;
/// Most triplets in the answer of `graph_neighbors`. A few entities can have very many facts between them.
pub const NEIGHBOUR_TRIPLETS_MAX: usize = 1_000;
/// Triplets followed from one entity, heaviest first. A hub is connected to everything, so its links say little.
pub const GRAPH_FAN_OUT_MAX: usize = 200;
/// Current triplets of one entity that a query scans for the heaviest ones. A hub can have more.
pub const GRAPH_LOOK_MAX: usize = 10_000;
/// Longest path that `graph_path` looks for.
pub const GRAPH_PATH_TRIPLETS_MAX: u32 = 20;
/// Most ids in `conflictsWith`.
pub const CONFLICTS_MAX: usize = 10;
/// Memory for graphs on a node. Above this, the least used ones are dropped and loaded again on demand.
pub const GRAPH_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Characters of a text sent to an embedding endpoint, about 2,000 tokens. Texts usually say first what they are about, and most models
/// accept no more. A refused text is sent again, first cut to a quarter of this, then to a sixteenth.
pub const EMBED_CHARS_MAX: usize = 8_000;
/// Characters of the prefix that a model expects before queries or before texts. Instructions for models have one or two sentences.
pub const EMBED_PREFIX_CHARS_MAX: usize = 500;
/// Time that an embedding endpoint has for a query. After that, only keywords are compared.
pub const EMBED_QUERY_TIMEOUT_MS: u64 = 2 * 1_000;
/// Time that it has for texts in the background. Sixteen long texts keep a small machine busy.
pub const EMBED_BATCH_TIMEOUT_MS: u64 = 60 * 1_000;
/// How long the first start waits for the endpoint to report the dimension of its vectors. It may have to load its model.
pub const EMBED_START_TIMEOUT_MS: u64 = 20 * 1_000;
/// How long queries skip the endpoint after a failure. At most one query in that time waits in vain.
pub const EMBED_REST_SECONDS: u64 = 10;
/// Pause after a failure to embed texts. Each further pause is twice as long.
pub const EMBED_PAUSE_FIRST_MS: u64 = 1_000;
/// Longest pause between attempts. An embedder that recovers is found within a minute.
pub const EMBED_PAUSE_MAX_MS: u64 = 60 * 1_000;
/// Largest answer of an embedding endpoint. Sixteen vectors of the largest dimension take about three million bytes as text.
pub const EMBED_ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Largest dimension of a vector. No current model has more.
pub const EMBED_DIMENSION_MAX: usize = 8_192;
/// How often keyword caches are written to disk. Unwritten changes are read again from the database.
pub const INDEX_FLUSH_SECONDS: u64 = 10;
/// Largest row in a backup. No call can store a larger one.
pub const BACKUP_FRAME_BYTES_MAX: u32 = 1024 * 1024 * 1024;
