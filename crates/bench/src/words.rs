//! Generates texts that resemble developers' notes, the same in every run.

/// An xorshift generator.
pub(crate) struct Words(u64);

const THINGS: [&str; 24] = [
    "payment gateway",
    "search index",
    "login page",
    "invoice job",
    "message queue",
    "cache layer",
    "mobile client",
    "rate limiter",
    "build pipeline",
    "migration script",
    "session store",
    "email worker",
    "report exporter",
    "feature flag",
    "audit log",
    "webhook sender",
    "image resizer",
    "price engine",
    "order service",
    "stock importer",
    "health check",
    "load balancer",
    "access policy",
    "backup task",
];
const EVENTS: [&str; 16] = [
    "fails when",
    "retries after",
    "waits until",
    "is rebuilt before",
    "drops events if",
    "must be restarted when",
    "locks the table while",
    "returns stale data after",
    "doubles its memory while",
    "rejects requests if",
    "is skipped when",
    "leaks connections until",
    "rounds wrongly once",
    "times out whenever",
    "is called twice because",
    "blocks the release until",
];
const CAUSES: [&str; 20] = [
    "the clock is set back",
    "a tenant has no currency",
    "the certificate expires",
    "two nodes start together",
    "the header is missing",
    "the disk is nearly full",
    "a customer name holds an emoji",
    "the nightly import runs",
    "the token was rotated",
    "the schema is being migrated",
    "a retry meets the first attempt",
    "daylight saving begins",
    "the queue holds a million jobs",
    "the proxy strips cookies",
    "an upload is larger than a gigabyte",
    "the replica lags behind",
    "the flag is off in staging",
    "a page has no locale",
    "the pool is exhausted",
    "someone edits the config by hand",
];

impl Words {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn one<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let place = self.next() as usize % words.len().max(1);
        words.get(place).copied().unwrap_or_default()
    }

    /// A unique note.
    pub(crate) fn note(&mut self, number: usize) -> String {
        let (thing, event, cause) = (self.one(&THINGS), self.one(&EVENTS), self.one(&CAUSES));
        let (other, second) = (self.one(&THINGS), self.one(&CAUSES));
        format!("The {thing} {event} {cause}; the {other} shows the same when {second} (ticket {number})")
    }

    /// Question number `number`, about nine words. Numbers below 7,680 give different questions.
    pub(crate) fn question(number: usize) -> String {
        let word = |words: &[&'static str], place: usize| words.get(place % words.len().max(1)).copied().unwrap_or_default();
        let (thing, event) = (word(&THINGS, number), word(&EVENTS, number / (THINGS.len() * CAUSES.len())));
        let cause = word(&CAUSES, number / THINGS.len() + number);
        format!("{thing} {event} {cause}")
    }

    /// One of the things that notes are about.
    pub(crate) fn thing(number: usize) -> &'static str {
        THINGS.get(number % THINGS.len()).copied().unwrap_or_default()
    }

    /// One of the centres, which have length one, plus noise of the given length.
    pub(crate) fn near_unit(&mut self, centres: &[Vec<f32>], noise: f32) -> Vec<f32> {
        let place = self.next() as usize % centres.len().max(1);
        let centre = centres.get(place).map(Vec::as_slice).unwrap_or_default();
        // Evenly distributed around zero: its length is the root of a third of the components' number.
        let scale = noise * (3.0 / centre.len().max(1) as f32).sqrt() / 32_768.0;
        let component = |centre: &f32| centre + scale * f32::from((self.next() >> 8) as i16);
        let vector: Vec<f32> = centre.iter().map(component).collect();
        let length = vector.iter().map(|component| component * component).sum::<f32>().sqrt();
        vector.into_iter().map(|component| component / length).collect()
    }

    /// A random unit vector near one of the centres.
    pub(crate) fn near(&mut self, centres: &[Vec<f32>]) -> Vec<f32> {
        let place = self.next() as usize % centres.len().max(1);
        let centre = centres.get(place).cloned().unwrap_or_default();
        let noise = self.vector(centre.len());
        let vector: Vec<f32> = centre.iter().zip(noise).map(|(centre, noise)| centre + 0.7 * noise).collect();
        let length = vector.iter().map(|component| component * component).sum::<f32>().sqrt();
        vector.into_iter().map(|component| component / length).collect()
    }

    /// A random vector of numbers around zero.
    pub(crate) fn vector(&mut self, dimension: usize) -> Vec<f32> {
        (0..dimension).map(|_| (0..4).map(|_| (self.next() % 2_001) as f32 / 1_000.0 - 1.0).sum()).collect()
    }

    /// A random number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit.max(1)
    }
}
