//! What a request says about its own handoff: between whom, how urgent, how long, how often.
//!
//! Every door asks here, so that the same document becomes the same handoff wherever it comes in.

use std::time::Duration;

use baton_protocol::Dialect;
use baton_protocol::model::request::{Party, Request, RetryPolicy};
use baton_protocol::model::terms::Priority;

use crate::id::{HandoffId, UnsafeId};
use crate::retry::{self, RetryFault};

/// What a request says about its own handoff.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedTerms {
    /// The identifier that it wants to have.
    pub id: Option<HandoffId>,
    /// Who hands over.
    pub from: Option<String>,
    /// Who is to receive.
    pub to: Option<String>,
    /// How urgent it is.
    pub priority: Option<Priority>,
    /// How long one attempt may take.
    pub timeout_ms: Option<u64>,
    /// How often and when to try again; what is not said is as usual.
    pub retry: retry::Policy,
}

/// Terms in a request that cannot be accepted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AskedFault {
    /// The identifier that it wants to have is not safe.
    #[error(transparent)]
    Id(#[from] UnsafeId),
    /// A time cannot be read.
    #[error("the {0} is not a number of seconds")]
    Seconds(&'static str),
    /// The retries cannot be worked out.
    #[error(transparent)]
    Retry(#[from] RetryFault),
}

/// Takes the terms out of a request; the error says what cannot be agreed to.
pub fn of_request(request: &Request, dialect: Dialect) -> Result<AskedTerms, AskedFault> {
    let agent = |party: &Option<Party>| party.as_ref().and_then(|party| party.agent.clone());
    let timeout = request.timeout_seconds.as_ref().map(|seconds| milliseconds("timeout", seconds.as_f64()));
    Ok(AskedTerms {
        id: id(request, dialect).map(HandoffId::parse).transpose()?,
        from: agent(&request.from),
        to: agent(&request.to),
        priority: request.priority,
        timeout_ms: timeout.transpose()?,
        retry: request.retry.as_ref().map_or(Ok(retry::Policy::default()), policy)?,
    })
}

/// A task goes through several phases with one task id, and each phase is a handoff of its own.
fn id(request: &Request, dialect: Dialect) -> Option<String> {
    let id = request.id.clone()?;
    match (&request.phase, dialect) {
        (Some(phase), Dialect::Task) => Some(format!("{id}.{phase}")),
        _ => Some(id),
    }
}

fn policy(asked: &RetryPolicy) -> Result<retry::Policy, AskedFault> {
    let usual = retry::Policy::default();
    let delay = asked.retry_delay_seconds.as_ref().map(|delay| milliseconds("delay between attempts", delay.as_f64()));
    let policy = retry::Policy {
        max_retries: asked.max_retries.map_or(usual.max_retries, |times| u32::try_from(times).unwrap_or(u32::MAX)),
        delay_ms: delay.transpose()?.unwrap_or(usual.delay_ms),
        multiplier: asked.backoff_multiplier.as_ref().and_then(|factor| factor.as_f64()).unwrap_or(usual.multiplier),
        ..usual
    };
    policy.check()?;
    Ok(policy)
}

fn milliseconds(what: &'static str, seconds: Option<f64>) -> Result<u64, AskedFault> {
    let seconds = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let time = seconds.ok_or(AskedFault::Seconds(what))?;
    Ok(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use baton_protocol::wire::Label;
    use serde_json::Number;

    use super::*;

    #[test]
    fn terms_come_from_the_document() {
        let asked =
            RetryPolicy { max_retries: Some(5), retry_delay_seconds: Number::from_f64(1.5), ..RetryPolicy::default() };
        let request = Request {
            id: Some("hoff-1".to_owned()),
            to: Some(Party { agent: Some("b".to_owned()), ..Party::default() }),
            timeout_seconds: Some(Number::from(60)),
            retry: Some(asked),
            ..Request::default()
        };
        let asked = of_request(&request, Dialect::Mailbox).expect("sound");
        assert_eq!((asked.to.as_deref(), asked.from, asked.timeout_ms), (Some("b"), None, Some(60_000)));
        assert_eq!((asked.retry.max_retries, asked.retry.delay_ms, asked.retry.multiplier), (5, 1_500, 2.0));
    }

    #[test]
    fn each_phase_of_a_task_is_a_handoff_of_its_own() {
        let phase = Some(Label::Name("research".to_owned()));
        let request = Request { id: Some("csv-07".to_owned()), phase, ..Request::default() };
        let id = |dialect| of_request(&request, dialect).expect("sound").id.map(|id| id.to_string());
        assert_eq!(id(Dialect::Task).as_deref(), Some("csv-07.research"));
        assert_eq!(id(Dialect::Mailbox).as_deref(), Some("csv-07"));
    }

    #[test]
    fn what_is_beyond_the_limits_is_not_agreed_to() {
        let retry = |asked| of_request(&Request { retry: Some(asked), ..Request::default() }, Dialect::Mailbox);
        assert!(retry(RetryPolicy { max_retries: Some(u64::MAX), ..RetryPolicy::default() }).is_err());
        assert!(retry(RetryPolicy { retry_delay_seconds: Some(Number::from(-1)), ..RetryPolicy::default() }).is_err());
        let id = Some("../x".to_owned());
        assert!(of_request(&Request { id, ..Request::default() }, Dialect::Mailbox).is_err());
    }
}
