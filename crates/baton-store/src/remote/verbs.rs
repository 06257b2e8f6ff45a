//! Commands as the verbs of a server. What changes something is asked for in the words of its API: the server judges
//! documents, knows who asks, and says what follows. Nothing that only a driver does goes this way.

use baton_engine::failure::{Failure, FailureOutput, Transience};
use baton_engine::handoff::{Terms, WrittenDocument};
use baton_engine::lifecycle::{Accept, Acknowledge, Command, Decide, Fail, HandIn, Heartbeat};
use baton_engine::store::{ClaimRequest, StoreError, TransactionStep};
use baton_engine::{Fence, HandoffId, RunId};
use serde_json::{Value, json};

/// A verb of a server, with what it needs.
pub(super) struct Verb {
    pub(super) path: String,
    pub(super) body: Value,
    /// Whether it has no second effect, and says so.
    pub(super) is_repeatable: bool,
}

/// Returns the verb that a command is.
pub(super) fn of_command(id: &HandoffId, command: &Command) -> Result<Verb, StoreError> {
    // What a claimant says carries its fence, by which the server knows it again.
    let is_repeatable = command.is_of_claimant();
    let of_handoff =
        |word: &str, body: Value| Ok(Verb { path: format!("/api/v1/handoffs/{id}/{word}"), body, is_repeatable });
    match command {
        Command::Acknowledge(Acknowledge { fence, document, .. }) => {
            of_handoff("acknowledgment", with_document(*fence, document))
        }
        Command::Heartbeat(Heartbeat { fence, lease_ms, .. }) => {
            of_handoff("heartbeat", json!({ "fence": fence, "lease": lease_ms.map(duration) }))
        }
        Command::Report(report) => of_handoff("report", reported(report)),
        Command::Fail(Fail { fence, failure, document, .. }) => {
            let mut body =
                document.as_ref().map_or_else(|| json!({ "fence": fence }), |document| with_document(*fence, document));
            body["code"] = failure.code.as_str().into();
            match &failure.output {
                Some(FailureOutput::LastLines(output)) => {
                    body["message"] = failure.message.clone().into();
                    body["output"] = output.clone().into();
                }
                // Only output has a place of its own; findings are part of the message.
                Some(FailureOutput::Findings(_) | FailureOutput::Members(_)) | None => {
                    body["message"] = Failure { help: None, ..failure.clone() }.text().into();
                }
            }
            // An older server knows neither, so they are named only where they say something.
            failure.stream.iter().for_each(|stream| body["stream"] = json!(stream));
            failure.help.iter().for_each(|help| body["help"] = help.clone().into());
            body["transient"] = (failure.chance == Transience::Transient).into();
            of_handoff("failure", body)
        }
        Command::Decide(decide) => {
            Ok(Verb { path: format!("/api/v1/gates/{id}/decision"), body: decided(decide), is_repeatable })
        }
        Command::Cancel(cancel) => of_handoff("cancel", json!({ "reason": cancel.reason })),
        Command::Requeue(requeue) if requeue.from.is_none() && requeue.seen.is_none() => {
            of_handoff("requeue", json!({ "note": requeue.note }))
        }
        Command::Claim(_)
        | Command::Verify(_)
        | Command::Expire(_)
        | Command::Resume(_)
        | Command::Requeue(_)
        | Command::Release(_)
        | Command::Route(_) => Err(not_through_a_server("what the driver of a run does")),
    }
}

/// Returns the verb that several steps are: a report with what comes next, or calling off a whole run.
pub(super) fn of_steps(steps: &[TransactionStep]) -> Result<(HandoffId, Verb), StoreError> {
    let is_cancel = |step: &TransactionStep| matches!(step, TransactionStep::Apply(_, Command::Cancel(_)));
    match steps {
        [TransactionStep::Apply(id, Command::Report(report)), next @ ..] => {
            let mut body = reported(report);
            body["next"] = next.iter().map(following).collect::<Result<_, _>>()?;
            Ok((id.clone(), Verb { path: format!("/api/v1/handoffs/{id}/report"), body, is_repeatable: true }))
        }
        // The run itself was accepted first; the server calls off whatever is open in it.
        [TransactionStep::Apply(id, command @ Command::Cancel(_)), inside @ ..] if inside.iter().all(is_cancel) => {
            Ok((id.clone(), of_command(id, command)?))
        }
        _ => Err(not_through_a_server("several steps in one transaction")),
    }
}

fn following(step: &TransactionStep) -> Result<Value, StoreError> {
    match step {
        TransactionStep::Accept(accept) => Ok(sent(accept)),
        TransactionStep::Apply(..) | TransactionStep::Held { .. } => {
            Err(not_through_a_server("several steps in one transaction"))
        }
    }
}

/// Returns a request as it is sent.
pub(super) fn sent(accept: &Accept) -> Value {
    let Accept { id, run, terms, request, .. } = accept;
    let Terms { from, to, key, priority, not_before, deadline, returns_to, retry, .. } = terms;
    json!({
        "document": request.text,
        "dialect": request.dialect,
        "id": id,
        "run": Some(run).filter(|run| **run != RunId::alone(id)),
        "returns_to": returns_to,
        "key": key,
        "to": to,
        "from": from,
        "priority": priority.as_str(),
        "not_before": not_before,
        "deadline": deadline,
        "timeout": terms.timeout_ms.map(duration),
        "pick_up_within": terms.pick_up_within_ms.map(duration),
        "acknowledge_within": terms.acknowledge_within_ms.map(duration),
        "max_retries": retry.max_retries,
        "retry_delay": duration(retry.delay_ms),
        "backoff": retry.multiplier,
        "jitter": retry.jitter,
    })
}

/// Returns what is to be claimed.
pub(super) fn claimed(wish: &ClaimRequest) -> Value {
    /// The most that a server hands out at once.
    const COUNT_MAX: u32 = 100;
    json!({
        "agent": wish.agent,
        "claimant": wish.claimant,
        "lease": duration(wish.lease_ms),
        "count": wish.count.min(COUNT_MAX),
        "times_itself": wish.times_itself,
    })
}

fn reported(report: &HandIn) -> Value {
    with_document(report.fence, &report.document)
}

fn with_document(fence: Fence, document: &WrittenDocument) -> Value {
    json!({ "fence": fence, "document": document.text, "dialect": document.dialect })
}

fn decided(decide: &Decide) -> Value {
    json!({
        "decision": decide.decision.verb(),
        "text": decide.decision.words(),
        "shown": decide.shown,
        "note": decide.note,
        "as": decide.label,
        "signature": decide.known.signature().map(|signature| &signature.armoured),
    })
}

fn duration(milliseconds: u64) -> String {
    format!("{milliseconds}ms")
}

/// The error when something needs the database itself.
pub(super) fn not_through_a_server(what: &str) -> StoreError {
    StoreError::Declined {
        code: "not_through_a_server".to_owned(),
        message: format!("{what}: this needs the database itself, not a server"),
        hint: Some("run it where the server runs, with the store of the server".to_owned()),
    }
}
