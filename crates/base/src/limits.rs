//! Every limit of the product, in one place, with its reason.
//!
//! Those an operator may change stand in [`Limits`]; the rest are constants.

/// The limits an operator may change (`toolcrib.toml`, section `[limits]`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest request body. Whole source files travel in one call; more than this is a mistake or an attack.
    pub body_bytes_max: usize,
    /// Most messages in one legacy batch. Each costs a rate-limit token, so this only bounds the parse.
    pub batch_messages_max: usize,
    /// Deepest nesting of JSON. Recursive readers downstream must never meet more.
    pub json_depth_max: usize,
    /// Calls an agent's tokens may make in a minute, unless the agent says otherwise.
    pub agent_calls_per_minute: u32,
    /// Calls an agent may make at once before the minute's rate applies.
    pub agent_calls_burst: u32,
    /// Calls a key may make in a minute; its sessions share it.
    pub key_calls_per_minute: u32,
    /// Calls a key may make at once: a full batch passes when the key has been quiet.
    pub key_calls_burst: u32,
    /// Calls all of an org's callers may make in a minute: one tenant's fleet must not starve the others.
    pub org_calls_per_minute: u32,
    /// Calls an org may make at once before the minute's rate applies.
    pub org_calls_burst: u32,
    /// Calls that one key or agent may have under way at a node: beyond it is a client that does not wait for answers.
    pub caller_calls_at_once: u32,
    /// Calls that one org may have under way at a node.
    pub org_calls_at_once: u32,
    /// Bytes of request bodies and answers that one key or agent may have in memory at a node: four of the largest.
    pub caller_bytes_at_once: usize,
    /// Bytes of request bodies and answers that one org may have in memory at a node.
    pub org_bytes_at_once: usize,
    /// Bytes of request bodies and answers that all callers together may have in memory at a node: what its memory must bear.
    pub bytes_at_once: usize,
    /// How long a tool may work on one call. What a peer or a person is waited for has limits of its own.
    pub call_seconds_max: u64,
    /// Largest result of a tool, and of all answers to one batch. Models read results; one of this size is a mistake, and paging is
    /// the way.
    pub result_bytes_max: usize,
    /// Failed attempts in a minute: with one agent key, from one address at agents' authentication, and at one account from one
    /// address.
    pub login_failures_per_minute: u32,
    /// How long a session lives when its opener does not say.
    pub session_ttl_seconds: u64,
    /// Most connections at once; beyond it new ones wait in the kernel's queue.
    pub connections_max: usize,
    /// Most connections of one address (IPv6: of one /64 network). Trusted proxies are exempt.
    pub connections_per_address_max: usize,
    /// How long a client may take to send its request head, and then each next piece of its body.
    pub client_idle_seconds: u64,
    /// How long a client may take none of an answer that waits for it.
    pub client_write_seconds: u64,
    /// How long a stop waits for calls under way.
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

/// Connections that may wait in the kernel's queue to be accepted: a fleet that starts at once fits in.
pub const LISTEN_BACKLOG: u32 = 1_024;
/// Bytes that a connection buffers in each direction: bounds what strangers make the server hold. A request's head fits in.
pub const CONNECTION_BUFFER_BYTES: usize = 32 * 1024;
/// An answer of at most this size is always sent, so that a caller learns what came of an effect although its budget is spent.
pub const SMALL_ANSWER_BYTES: usize = 16 * 1024;
/// JSON values in one request: each takes many times its text in memory.
pub const JSON_VALUES_MAX: usize = 250_000;
/// Computations that wait for a processor: beyond it callers are told to come back.
pub const COMPUTATIONS_WAITING_MAX: usize = 1_024;
/// How long a computation waits for a processor.
pub const COMPUTATION_WAIT_SECONDS: u64 = 10;
/// How long an agent's access token lives; there is no refresh.
pub const AGENT_TOKEN_TTL_MS: i64 = 15 * 60 * 1_000;
/// The longest session: a forgotten one must end some day.
pub const SESSION_TTL_SECONDS_MAX: u64 = 30 * 24 * 60 * 60;
/// How many times the failed logins of one address an account may have from all addresses together: guesses from many addresses
/// stop, and one stranger does not lock a person out.
pub const LOGIN_FAILURES_PER_ACCOUNT_FACTOR: u32 = 10;
/// How long a console login lasts.
pub const LOGIN_TTL_MS: i64 = 12 * 60 * 60 * 1_000;
/// How long the key of a session that is over is remembered, so that an operator can still see which key did what.
pub const DEAD_SESSION_KEYS_KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Dead rows removed in one transaction: the org's writes wait no longer than that takes.
pub const SWEEP_ROWS_MAX: u32 = 500;
/// How long after its start, and then how often, a server clears dead credentials away.
pub const SWEEP_SECONDS: (u64, u64) = (60, 60 * 60);
/// `subscriptions/listen` streams that one credential may hold open: each costs a connection and a task.
pub const LISTENERS_PER_CALLER_MAX: u32 = 16;
/// Rows in a page of a list when the caller does not say.
pub const PAGE_ROWS_DEFAULT: u32 = 50;
/// Most rows in a page of a list: bounds one answer's memory.
pub const PAGE_ROWS_MAX: u32 = 200;
/// Tools in a page of `tools/list`. Most clients never ask for a second page, so one page should hold a usual list.
pub const TOOLS_PER_PAGE: usize = 200;
/// Longest name of an org, project, key, agent, brick or kit, in Unicode scalar values.
pub const NAME_CHARS_MAX: usize = 120;
/// Longest description of a brick or kit, and notes of a kit version.
pub const DESCRIPTION_CHARS_MAX: usize = 500;
/// Longest evaluation prompt of a brick.
pub const EVALUATION_PROMPT_CHARS_MAX: usize = 10_000;
/// Most bricks in one kit: a kit is read whole.
pub const KIT_BRICKS_MAX: usize = 500;
/// Most entries of an allowlist or a scope list in one request.
pub const ALLOWLIST_ENTRIES_MAX: usize = 1_000;
/// Most writes that share one commit: bounds how long the first of them waits.
pub const COMMIT_JOBS_MAX: usize = 256;
/// Writes that may wait for the writer; beyond it callers are told to come back.
pub const WRITE_QUEUE_MAX: usize = 4_096;
/// Most policy statements in force or on trial in one org: each costs every decision that it might concern.
pub const POLICY_STATEMENTS_MAX: i64 = 10_000;
/// Longest text of one policy.
pub const POLICY_CHARS_MAX: usize = 1_000_000;
/// Longest text of all policies of an org together: it is read and compiled as one.
pub const POLICIES_CHARS_MAX: i64 = 2_000_000;
/// Text of the compiled policy sets that are kept; orgs with the same policies share one.
pub const POLICY_SET_CACHE_BYTES_MAX: u64 = 20_000_000;
/// Long questions answered at once (checking a policy, trying one out, verifying a trail, reporting on a memory): each keeps a
/// processor busy.
pub const QUESTIONS_AT_ONCE: usize = 2;
/// How long such a question waits for its turn.
pub const QUESTION_WAIT_SECONDS: u64 = 10;
/// Pages of rows kept in memory until their org is written to; each is some kilobytes.
pub const KEPT_ANSWERS_MAX: usize = 256;
/// Signing keys kept opened between records; each is some hundred bytes.
pub const SIGNING_KEY_CACHE_MAX: usize = 10_000;
/// Refusals (403) of one credential that a minute puts on an org's record; the rest of that minute is one entry with their number.
pub const FORBIDDEN_A_MINUTE: u32 = 10;
/// Records of calls that wait to be written after their callers went away.
pub const LATE_RECORDS_MAX: usize = 10_000;
/// Lines that the log has in a minute about refusals with one status at one door; the rest is counted.
pub const REFUSAL_LINES_A_MINUTE: u32 = 30;
/// How soon the record of a read is on disk. The read itself does not wait for it.
pub const NOTE_SYNC_MS_MAX: u64 = 50;
/// Credentials remembered between requests; each is a few hundred bytes.
pub const PRINCIPAL_CACHE_MAX: usize = 20_000;
/// Rate limiters remembered between requests. Beyond it the least used start afresh.
pub const LIMITER_CACHE_MAX: usize = 100_000;
/// Password hashes computed at once: argon2 takes 19 MiB each.
pub const PASSWORD_HASHES_AT_ONCE: usize = 2;
/// How long `/readyz` answers what it found out last: anyone may ask, and finding out writes to the disk.
pub const READINESS_KEPT_MS: u64 = 1_000;
/// What is written to find out whether the store takes writes: about as much as a call and its record do, so that a disk with
/// room for less is not called ready.
pub const PROBE_BYTES: usize = 64 * 1024;
/// Notifications of one call that may wait for a slow client.
pub const NOTIFICATION_QUEUE_MAX: usize = 256;
/// How long a client may keep a listed answer (`ttlMs`).
pub const LIST_TTL_MS: u64 = 60_000;
/// How long a client may take to answer what a call asked back: a person may have to be found.
pub const REQUEST_STATE_TTL_MS: i64 = 15 * 60 * 1_000;
/// Resources that one subscription may watch.
pub const SUBSCRIPTION_URIS_MAX: usize = 1_000;
/// Largest body of a management call that anyone may make (a login): strangers must not fill the memory.
pub const PUBLIC_BODY_BYTES_MAX: usize = 16 * 1024;
/// Most of a refused request's body that is read and thrown away, so that the client reads why it was refused.
pub const LINGER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How long that may take in all.
pub const LINGER_SECONDS: u64 = 10;
/// How long the client may say nothing meanwhile.
pub const LINGER_IDLE_SECONDS: u64 = 1;
/// Events of one org that are read from the trail and handed on at once: bounds memory, and how long the org's writes wait for
/// the rows that follow from them.
pub const RELAY_EVENTS_MAX: u32 = 128;
/// How long the relay lets events gather before it reads them: a busy org's cost one look and one transaction together.
pub const RELAY_GATHER_MS: u64 = 50;
/// How often the relay looks for events that nobody told it of: those of a node that crashed, or that another node wrote.
pub const RELAY_SWEEP_SECONDS: u64 = 30;
/// Orgs with news that are remembered; beyond it the sweep finds them.
pub const RELAY_ORGS_MAX: usize = 10_000;
/// Subscribers served at once: each webhook among them holds a connection.
pub const RELAY_JOBS_MAX: usize = 64;
/// How long a node may serve a webhook before another takes over: longer than any one delivery takes.
pub const HOOK_LEASE_MS: i64 = 30 * 1_000;
/// How long a receiver may take to answer: it should take the event and work on it later.
pub const WEBHOOK_TIMEOUT_MS: u64 = 10 * 1_000;
/// The pause after a first failed delivery; each further one is three times as long.
pub const WEBHOOK_PAUSE_FIRST_MS: u64 = 1_000;
/// The longest pause: a receiver that is back is found within ten minutes.
pub const WEBHOOK_PAUSE_MAX_MS: u64 = 10 * 60 * 1_000;
/// Deliveries of one event before it becomes a dead letter and the next one has its turn: a quarter of an hour in all.
pub const WEBHOOK_TRIES_MAX: u32 = 8;
/// Webhooks of one org: each sees every event of it.
pub const WEBHOOKS_MAX: usize = 20;
/// Event types that one webhook names.
pub const WEBHOOK_EVENTS_MAX: usize = 50;
/// Longest address of a webhook.
pub const WEBHOOK_URL_CHARS_MAX: usize = 2_000;
/// Most of a receiver's answer that is read, so that its connection can be used again.
pub const WEBHOOK_ANSWER_BYTES_MAX: usize = 16 * 1024;
/// How long finished calls are listed. The audit trail keeps them for good, and cost figures stay.
pub const TASKS_KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Longest observation: some thirty pages. More is a document.
pub const OBSERVATION_CHARS_MAX: usize = 100_000;
/// Longest name of an observation's type.
pub const OBSERVATION_TYPE_CHARS_MAX: usize = 64;
/// Longest question to memory: what is longer is a text to remember, not a question.
pub const QUERY_CHARS_MAX: usize = 50_000;
/// Observations forgotten, or triplets retracted, in one transaction when everything of an author is: the org's writes wait no longer than
/// that takes.
pub const FORGET_ROWS_MAX: u32 = 500;
/// Observations in one import: they are kept in one transaction, and the org's writes wait no longer than that takes.
pub const IMPORT_LINES_MAX: usize = 1_000;
/// Longest name of an observation's author or session: a label, and what is put before it.
pub const AUTHOR_CHARS_MAX: usize = 200;
/// Observations that a report on memory looks at, the newest: it is read in one go.
pub const REPORT_ROWS_MAX: u32 = 100_000;
/// Memory that search indexes may take at a node before the least used are dropped; they are read again when they are asked for.
pub const INDEX_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Vectors of queries that are remembered: asking again costs no second embedding.
pub const QUERY_VECTOR_CACHE_MAX: usize = 2_000;
/// How often a server looks for texts that wait to be embedded and that nobody told it of: those of a node that crashed.
pub const EMBED_SWEEP_SECONDS: u64 = 10 * 60;
/// Triplets in one call: a call is one transaction, and the org's writes wait for it.
pub const TRIPLETS_PER_CALL_MAX: usize = 100;
/// Longest name or alias of an entity, and of its type: names are names, not sentences.
pub const ENTITY_NAME_CHARS_MAX: usize = 200;
/// Aliases that one call gives an entity.
pub const ENTITY_ALIASES_MAX: usize = 20;
/// Entities that are one, by merging: facts name any of them, and every look for a fact asks for each.
pub const ENTITY_MEMBERS_MAX: usize = 16;
/// Targets that one `functional` fact takes the place of: a relationship with more has not one value at a time.
pub const FUNCTIONAL_TARGETS_MAX: usize = 1_000;
/// Longest relationship.
pub const RELATIONSHIP_CHARS_MAX: usize = 64;
/// Longest description of a triplet.
pub const TRIPLET_DESCRIPTION_CHARS_MAX: usize = 2_000;
/// Most triplets that `graph_query` gives.
pub const GRAPH_HITS_MAX: u32 = 100;
/// Most entities that `graph_neighbors` gives.
pub const NEIGHBOUR_ENTITIES_MAX: u32 = 1_000;
/// Most triplets that `graph_neighbors` gives: between many entities there may be very many.
pub const NEIGHBOUR_TRIPLETS_MAX: usize = 1_000;
/// Triplets of one entity that are walked, heaviest first: a hub leads everywhere, and what leads everywhere says little.
pub const GRAPH_FAN_OUT_MAX: usize = 200;
/// Standing triplets of one entity among which a question looks for the heaviest: a hub has more.
pub const GRAPH_LOOK_MAX: usize = 10_000;
/// Longest path that is looked for.
pub const GRAPH_PATH_TRIPLETS_MAX: u32 = 20;
/// Other facts that a triplet is said to conflict with.
pub const CONFLICTS_MAX: usize = 10;
/// Memory that graphs may take at a node before the least used are dropped; they are read again when they are asked for.
pub const GRAPH_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Characters of a text that an embedding endpoint is sent, some 2,000 tokens: what a text is about stands at its beginning, and the
/// windows of most models end there. A text that is refused is sent shorter: a quarter, then a sixteenth.
pub const EMBED_CHARS_MAX: usize = 8_000;
/// How long an embedding endpoint may take for a question. Then the question is answered by its words.
pub const EMBED_QUERY_TIMEOUT_MS: u64 = 2 * 1_000;
/// How long it may take for texts that nobody waits for: sixteen long ones keep a small machine busy.
pub const EMBED_BATCH_TIMEOUT_MS: u64 = 60 * 1_000;
/// How long a first start waits for it to say how many numbers its vectors have: it may have to load its model.
pub const EMBED_START_TIMEOUT_MS: u64 = 20 * 1_000;
/// How long questions leave it alone after a failure: at most one in that time waits for nothing.
pub const EMBED_REST_SECONDS: u64 = 10;
/// The pause after texts could not be embedded; each further one is twice as long.
pub const EMBED_PAUSE_FIRST_MS: u64 = 1_000;
/// The longest pause: an embedder that is back is found within a minute.
pub const EMBED_PAUSE_MAX_MS: u64 = 60 * 1_000;
/// Largest answer of an embedding endpoint: sixteen vectors of the largest dimension, written out, are three million bytes.
pub const EMBED_ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Most numbers in a vector: no model in use has more.
pub const EMBED_DIMENSION_MAX: usize = 8_192;
/// How often word caches are written. What was not written is read from the rows again.
pub const INDEX_FLUSH_SECONDS: u64 = 10;
/// Largest row in a backup: more than any call can bring in.
pub const BACKUP_FRAME_BYTES_MAX: u32 = 1024 * 1024 * 1024;
