//! Talking with a server: a question or a verb goes out as JSON, and comes back as a value or as why it had no effect.

use std::time::Duration;

use baton_engine::store::StoreError;
use baton_engine::stored::exchange::FaultRecord;
use baton_engine::token::TokenSecret;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, StatusCode};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::connection::{Connections, NoReply};
use super::{ServerAccess, ServerAddress};
use crate::boot_time;
use crate::server_clock::ServerClock;

/// Asks for answers in the forms of the store.
const STORED: &str = "application/vnd.baton.stored+json";

/// How long an answer may take that does not wait for anything.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// What to do without a token that counts.
const TOKEN_HINT: &str = "give a token of this server in BATON_TOKEN, or its file with --token-file; \
                          `baton token create` makes one where the server runs";

/// Somebody who talks with a server.
pub(super) struct Talk {
    connections: Connections,
    address: ServerAddress,
    authority: HeaderValue,
    /// What is sent as proof of who asks; it never appears in messages.
    authorization: Option<HeaderValue>,
    pub(super) clock: ServerClock,
}

/// The frame of an answer in the forms of the store.
#[derive(Deserialize)]
struct Frame<T> {
    time: Timestamp,
    answer: T,
}

/// Why a request had no effect.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Refused {
    code: String,
    detail: String,
    hint: Option<String>,
    fault: Option<Value>,
    diagnostics: Vec<Found>,
}

/// What a rule says about a document.
#[derive(Deserialize)]
struct Found {
    code: String,
    severity: String,
    line: u64,
    column: u64,
    message: String,
}

impl Talk {
    pub(super) fn with(access: ServerAccess) -> Result<Talk, StoreError> {
        let ServerAccess { address, token, authorities } = access;
        let unusable = |_| StoreError::Invalid(format!("{address} cannot be asked by this name"));
        Ok(Talk {
            authority: HeaderValue::from_str(&address.authority()).map_err(unusable)?,
            authorization: token.as_ref().map(bearer).transpose()?,
            connections: Connections::to(address.clone(), authorities.as_deref())?,
            address,
            clock: ServerClock::default(),
        })
    }

    /// Reads something. Asking twice changes nothing, so a lost answer is asked for once more.
    pub(super) async fn read<T: DeserializeOwned>(&self, query: &Value) -> Result<T, StoreError> {
        self.read_within(query, ANSWER_MAX).await
    }

    /// Reads something that may take a while.
    pub(super) async fn read_within<T: DeserializeOwned>(
        &self,
        query: &Value,
        limit: Duration,
    ) -> Result<T, StoreError> {
        let first = self.framed(Method::POST, "/api/v1/queries", query, limit).await;
        match first {
            Err(NoReply::Lost(StoreError::Unreachable(_))) => {
                Ok(self.framed(Method::POST, "/api/v1/queries", query, limit).await?)
            }
            answer => Ok(answer?),
        }
    }

    /// Asks for a verb, whose answer has the form of the store.
    pub(super) async fn ask<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, NoReply> {
        self.framed(Method::POST, path, body, ANSWER_MAX).await
    }

    /// Asks for a verb that has no second effect: if its answer is lost, it is asked for once more. Returns whether it was.
    pub(super) async fn ask_again_if_lost<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
    ) -> Result<(T, bool), NoReply> {
        match self.ask(path, body).await {
            Err(NoReply::Lost(StoreError::Unreachable(_))) => Ok((self.ask(path, body).await?, true)),
            answer => Ok((answer?, false)),
        }
    }

    /// Asks for something whose answer has a form of its own.
    pub(super) async fn plainly(&self, method: Method, path: &str, body: &Value) -> Result<Value, StoreError> {
        let bytes = self.answer(method, path, body, ANSWER_MAX).await?;
        serde_json::from_slice(&bytes).map_err(|error| self.strange(&error.to_string()))
    }

    async fn framed<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &Value,
        limit: Duration,
    ) -> Result<T, NoReply> {
        let asked = boot_time();
        let bytes = self.answer(method, path, body, limit).await?;
        let Frame { time, answer } =
            serde_json::from_slice(&bytes).map_err(|error| NoReply::Lost(self.strange(&error.to_string())))?;
        self.clock.hear(time, asked);
        Ok(answer)
    }

    async fn answer(&self, method: Method, path: &str, body: &Value, limit: Duration) -> Result<Bytes, NoReply> {
        let mut request = Request::new(Full::new(Bytes::from(body.to_string())));
        *request.method_mut() = method;
        let target = format!("{}{path}", self.address.prefix);
        let unusable = |_| NoReply::Unsent(StoreError::Invalid(format!("{target} cannot be asked for")));
        *request.uri_mut() = target.parse().map_err(unusable)?;
        let headers = request.headers_mut();
        headers.insert(HOST, self.authority.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static(STORED));
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        let (status, bytes) = self.connections.send(request, limit).await?;
        if status.is_success() { Ok(bytes) } else { Err(NoReply::Unsent(self.refused(status, &bytes))) }
    }

    /// Makes the error of it that a store of our own would give.
    fn refused(&self, status: StatusCode, bytes: &[u8]) -> StoreError {
        let told: Option<Refused> = serde_json::from_slice(bytes).ok();
        let Some(told) = told.filter(|told| !told.code.is_empty()) else {
            // What stands in front of the server answers for it while it is away.
            return match status {
                StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => {
                    StoreError::Unreachable(format!("{}: {status}", self.address))
                }
                _ => self.strange(&format!("status {status}")),
            };
        };
        let fault = told.fault.and_then(|fault| serde_json::from_value::<FaultRecord>(fault).ok()?.error());
        if let Some(error) = fault {
            return error;
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            return StoreError::Unreachable(format!("{}: {}", self.address, told.detail));
        }
        let errors = told.diagnostics.iter().filter(|found| found.severity == "error");
        let lines: Vec<String> = errors
            .map(|found| format!("\n  {}:{} {}: {}", found.line, found.column, found.code, found.message))
            .collect();
        let (message, hint) = match (status, lines.is_empty()) {
            (StatusCode::UNAUTHORIZED | StatusCode::TOO_MANY_REQUESTS, _) => {
                (format!("{}: {}", self.address, told.detail), Some(TOKEN_HINT.to_owned()))
            }
            (_, true) => (told.detail, told.hint),
            (_, false) => (format!("the server does not accept the document:{}", lines.concat()), told.hint),
        };
        StoreError::Declined { code: told.code, message, hint }
    }

    /// The error when something else answers there.
    fn strange(&self, why: &str) -> StoreError {
        StoreError::Declined {
            code: "not_baton".to_owned(),
            message: format!("{} does not answer like a Baton server of this version: {why}", self.address),
            hint: Some("check the address; `baton serve` prints it when it starts".to_owned()),
        }
    }
}

fn bearer(token: &TokenSecret) -> Result<HeaderValue, StoreError> {
    let unusable = |_| StoreError::Invalid("the token has letters that no token has".to_owned());
    let mut value = HeaderValue::from_str(&format!("Bearer {}", token.text())).map_err(unusable)?;
    // Whatever prints headers leaves it out.
    value.set_sensitive(true);
    Ok(value)
}
