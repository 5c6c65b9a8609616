//! Passwords: argon2id with its recommended memory, a few at a time, not on runtime threads.

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash};
use base::limits::{PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN};
use base::{Error, Kind, Result};

use crate::guard::Guard;

/// A hash that matches no password. An unknown account is checked against it, so that it costs the same.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$dG9vbGNyaWIgbm9ib2R5$uN0QwzGqZ0h9fYvYxHkqfC1qkQnN2b4hTn1q0s0m3dY";

impl Guard {
    /// Hashes a new password.
    pub(crate) async fn hash_password(&self, password: String) -> Result<String> {
        let chars = password.chars().count();
        if !(PASSWORD_CHARS_MIN..=PASSWORD_CHARS_MAX).contains(&chars) {
            return Err(Error::new(
                Kind::InvalidParams,
                format!("a password must have {PASSWORD_CHARS_MIN} to {PASSWORD_CHARS_MAX} characters"),
            ));
        }
        let hash = move || {
            let salt = base::secret::random_bytes::<16>();
            let hash = Argon2::default().hash_password_with_salt(password.as_bytes(), &salt).map_err(Error::internal)?;
            Ok(hash.to_string())
        };
        self.password_hashes.run(hash).await?
    }

    /// Whether `password` matches `stored`. Without a stored hash, the same work is done and the result is false.
    pub(crate) async fn password_matches(&self, password: String, stored: Option<String>) -> Result<bool> {
        let verify = move || {
            let known = stored.is_some();
            let stored = stored.unwrap_or_else(|| NOBODY.to_owned());
            let hash = PasswordHash::new(&stored).map_err(Error::internal)?;
            Ok(Argon2::default().verify_password(password.as_bytes(), &hash).is_ok() && known)
        };
        self.password_hashes.run(verify).await?
    }
}
