//! Passwords: argon2id with its recommended memory, a few at a time, off the runtime's threads.

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash};
use base::{Error, Result};

use crate::guard::Guard;

const CHARS_MIN: usize = 12;
const CHARS_MAX: usize = 1_000;
const TURN_WAIT: std::time::Duration = std::time::Duration::from_secs(10);

/// A hash that no password has: what an unknown address is checked against, so that it costs the same.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$dG9vbGNyaWIgbm9ib2R5$uN0QwzGqZ0h9fYvYxHkqfC1qkQnN2b4hTn1q0s0m3dY";

impl Guard {
    /// The stored form of a new password.
    pub(crate) async fn hash_password(&self, password: String) -> Result<String> {
        let chars = password.chars().count();
        if !(CHARS_MIN..=CHARS_MAX).contains(&chars) {
            return Err(Error::invalid("password", format!("a password has {CHARS_MIN} to {CHARS_MAX} characters")));
        }
        self.off_the_runtime(move || {
            let salt = base::secret::random_bytes::<16>();
            let hash = Argon2::default().hash_password_with_salt(password.as_bytes(), &salt).map_err(Error::internal)?;
            Ok(hash.to_string())
        })
        .await
    }

    /// Whether `password` is the one `stored` was made from; without a stored one, the same work for nothing.
    pub(crate) async fn password_matches(&self, password: String, stored: Option<String>) -> Result<bool> {
        self.off_the_runtime(move || {
            let known = stored.is_some();
            let stored = stored.unwrap_or_else(|| NOBODY.to_owned());
            let hash = PasswordHash::new(&stored).map_err(Error::internal)?;
            Ok(Argon2::default().verify_password(password.as_bytes(), &hash).is_ok() && known)
        })
        .await
    }

    async fn off_the_runtime<T: Send + 'static>(&self, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
        // Whoever waits longer than this is one of very many, and most of those are guessing.
        let turn = tokio::time::timeout(TURN_WAIT, self.password_hashes.acquire()).await;
        let _turn = turn.map_err(|_| Error::unavailable("too many password checks wait"))?.map_err(Error::internal)?;
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
    }
}
