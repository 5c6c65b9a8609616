//! A person at the console.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::{Crib, Reply, Tenant};

const PASSWORD: &str = "correct horse battery";

/// A person with a login.
pub(crate) struct Person<'c> {
    crib: &'c Crib,
    pub(crate) id: String,
    pub(crate) email: String,
    /// The login, as the `Cookie` header carries it.
    pub(crate) cookie: String,
    pub(crate) csrf: String,
}

impl<'c> Tenant<'c> {
    /// Adds a person with this role and logs them in.
    pub(crate) async fn person(&self, role: &str) -> Person<'c> {
        let email = format!("{role}@{}.example", self.org.replace('_', "-"));
        let body = json!({"email": email, "role": role, "password": PASSWORD});
        let added = self.as_operator(Method::POST, "users", Some(body)).await.expect(201);
        let mut person = Person {
            crib: self.crib,
            id: added["user"]["id"].as_str().unwrap().to_owned(),
            email,
            cookie: String::new(),
            csrf: String::new(),
        };
        person.log_in(PASSWORD).await.expect(200);
        person
    }
}

impl Person<'_> {
    /// Logs in, and stores the login if it succeeds.
    pub(crate) async fn log_in(&mut self, password: &str) -> Reply {
        let body = json!({"email": self.email, "password": password});
        let reply = self.crib.send(self.crib.http.post(format!("{}/api/console/login", self.crib.url)).json(&body)).await;
        if reply.status == 200 {
            self.cookie = reply.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
            self.csrf = reply.json()["csrf"].as_str().unwrap().to_owned();
        }
        reply
    }

    /// Sends a request with the cookie and the CSRF token, like the console.
    pub(crate) async fn api(&self, method: Method, path: &str, body: Option<Value>) -> Reply {
        let request = self.request(method, path).header("x-csrf-token", &self.csrf);
        self.crib.send(with_body(request, body)).await
    }

    /// A request with only the cookie, as another site could cause it.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.crib.http.request(method, format!("{}{path}", self.crib.url)).header("cookie", &self.cookie)
    }
}

pub(crate) fn with_body(request: RequestBuilder, body: Option<Value>) -> RequestBuilder {
    match body {
        Some(body) => request.json(&body),
        None => request,
    }
}
