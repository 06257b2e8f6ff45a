//! Notifies others over HTTP that a run waits for a person: signed, retried, and never with the power to decide.

use std::sync::Arc;
use std::time::Duration;

use baton_engine::Clock;
use baton_engine::people::Question;
use baton_engine::run::Run;
use baton_protocol::printable;
use baton_views::question::QuestionKind;
use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use ring::hmac;
use serde_json::json;

use crate::command_error::CommandError;
use crate::config::{PublicUrl, Webhook};
use crate::http_client::{self, HttpAddress, HttpFault, Outgoing, Reach};

/// What proves who has sent it, and when.
const SIGNATURE: HeaderName = HeaderName::from_static("baton-signature");

/// How long to wait before each further attempt.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(3), Duration::from_secs(8)];

/// How long one attempt may take.
const ATTEMPT_LIMIT: Duration = Duration::from_secs(5);

/// Who is notified, with what it takes to sign.
#[derive(Clone)]
pub(super) struct ReadyWebhook {
    address: HttpAddress,
    reach: Reach,
    key: hmac::Key,
}

/// Why an attempt had no effect, and whether the next one may.
struct Undelivered {
    why: String,
    may_pass: bool,
}

impl ReadyWebhook {
    /// Reads what it takes to sign.
    pub(super) fn of(webhook: &Webhook) -> Result<ReadyWebhook, CommandError> {
        Ok(ReadyWebhook { address: webhook.address.clone(), reach: webhook.reach, key: webhook.key()? })
    }

    /// Sends something until somebody takes it. Returns why nobody did.
    pub(super) async fn deliver(self, body: Bytes, clock: Arc<dyn Clock>) -> Option<String> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let undelivered = self.attempt(body.clone(), clock.as_ref()).await.err()?;
            let Some(pause) = pauses.next().filter(|_| undelivered.may_pass) else {
                return Some(format!("the webhook {} failed: {}", self.address, undelivered.why));
            };
            tokio::time::sleep(pause).await;
        }
    }

    async fn attempt(&self, body: Bytes, clock: &dyn Clock) -> Result<(), Undelivered> {
        // Signed anew each time: whoever gets it refuses what is old.
        let signature = signature(&self.key, clock.now().as_second(), &body);
        let signature = HeaderValue::from_str(&signature);
        let signature = signature.map_err(|error| Undelivered { why: error.to_string(), may_pass: false })?;
        let headers = vec![(CONTENT_TYPE, HeaderValue::from_static("application/json")), (SIGNATURE, signature)];
        let answered = http_client::post(&self.address, self.reach, Outgoing { headers, body }, ATTEMPT_LIMIT).await;
        match answered {
            Ok(answered) if answered.status.is_success() => Ok(()),
            Ok(answered) => {
                let status = answered.status;
                let may_pass = status.is_server_error()
                    || [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(&status);
                Err(Undelivered { why: format!("it answered {status}"), may_pass })
            }
            Err(fault) => Err(Undelivered { may_pass: fault.may_pass(), why: told(&fault) }),
        }
    }
}

fn told(fault: &HttpFault) -> String {
    match fault {
        HttpFault::Private(_) => format!("{fault}; set allow_private = true if that is meant"),
        _ => fault.to_string(),
    }
}

/// Signs a body together with the time, so that nobody can send it again later.
fn signature(key: &hmac::Key, second: i64, body: &[u8]) -> String {
    let signed = [format!("{second}.").as_bytes(), body].concat();
    let tag: String = hmac::sign(key, &signed).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={second},v1={tag}")
}

/// Returns what is sent about a question. Whoever reads it learns where to decide, and cannot do it with that.
pub(super) fn body(run: &Run, question: &Question, public_url: Option<&PublicUrl>) -> Bytes {
    let kind = run.find(&question.handoff).map(|tracked| QuestionKind::of(&tracked.handoff, question.ask).as_str());
    let link = public_url.map(|url| url.of_question(question.handoff.as_str()));
    let body = json!({
        "version": 1,
        "event": "person_awaited",
        "run": question.run,
        "workflow": run.definition.name(),
        "handoff": question.handoff,
        "phase": question.phase,
        "kind": kind,
        // It may be shown as it is, and agents have written parts of it.
        "title": printable(&question.title),
        "digest": question.shown.0,
        "link": link,
    });
    body.to_string().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_that_of_the_time_and_the_body() {
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"key");
        let signature = signature(&key, 1_700_000_000, b"{}");
        // printf '1700000000.{}' | openssl dgst -sha256 -hmac key
        let (time, tag) = signature.split_once(",v1=").expect("both");
        assert_eq!((time, tag.len()), ("t=1700000000", 64));
        assert_eq!(tag, "9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae");
    }
}
