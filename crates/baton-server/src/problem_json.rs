//! Why a request had no effect, as `application/problem+json` (RFC 9457). The only place where a `Problem` becomes a status.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use baton_engine::Refusal;
use baton_engine::definition::InputFault;
use baton_engine::driver::{DriverProblem, WorkspaceProblem};
use baton_engine::engine::{JudgedDocument, Problem};
use baton_engine::flow::NoWayBack;
use baton_engine::lifecycle::readable_claimant;
use baton_engine::store::StoreError;
use baton_engine::stored::exchange::FaultRecord;
use baton_protocol::{Diagnostic, Severity};
use serde_json::{Value, json};

use crate::host::HostProblem;

/// The member that says after how many seconds to try again.
const RETRY_AFTER: &str = "retry_after_seconds";

/// Why a request had no effect.
#[derive(Debug, Clone)]
pub(crate) struct ProblemJson(Box<ProblemMembers>);

#[derive(Debug, Clone)]
struct ProblemMembers {
    status: StatusCode,
    /// Names the problem for programs; a promise.
    code: &'static str,
    detail: String,
    hint: Option<String>,
    /// Which value of the request is wrong.
    pointer: Option<String>,
    /// What the rules say about a document that is not valid.
    diagnostics: Vec<Diagnostic>,
    /// The same in the form of the store, for a program that uses the server as its own.
    fault: Option<FaultRecord>,
    /// Members that only some problems have.
    more: Vec<(&'static str, Value)>,
}

impl ProblemJson {
    /// Makes a problem.
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> ProblemJson {
        let detail = detail.into();
        let (hint, pointer, fault) = (None, None, None);
        let (diagnostics, more) = (Vec::new(), Vec::new());
        ProblemJson(Box::new(ProblemMembers { status, code, detail, hint, pointer, diagnostics, fault, more }))
    }

    /// What was asked for is not there, or not for the caller.
    pub(crate) fn unknown(id: &str) -> ProblemJson {
        ProblemJson::new(StatusCode::NOT_FOUND, "unknown", format!("there is no `{id}`"))
    }

    /// A key or an id belongs to a request that may be none of the caller's business.
    pub(crate) fn taken() -> ProblemJson {
        ProblemJson::new(StatusCode::CONFLICT, "taken", "this key or id belongs to another request")
    }

    /// Nobody knows who asks.
    pub(crate) fn unauthorized(detail: impl Into<String>) -> ProblemJson {
        ProblemJson::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
            .hint("send `Authorization: Bearer TOKEN`; `baton token create` makes a token")
    }

    /// The caller may not do this.
    pub(crate) fn forbidden(detail: impl Into<String>) -> ProblemJson {
        ProblemJson::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    /// A value of the request cannot be used.
    pub(crate) fn bad_value(pointer: impl Into<String>, detail: impl std::fmt::Display) -> ProblemJson {
        let mut problem = ProblemJson::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_value", detail.to_string());
        problem.0.pointer = Some(pointer.into());
        problem
    }

    /// A document is not valid.
    pub(crate) fn invalid_document(judged: JudgedDocument) -> ProblemJson {
        let detail = "the document is not valid; `diagnostics` say what is wrong";
        let mut json = ProblemJson::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_document", detail);
        let problem = &mut json.0;
        problem.diagnostics = judged.judgement.diagnostics;
        let first = problem.diagnostics.iter().find(|found| found.severity == Severity::Error);
        problem.pointer = first.map(|found| found.pointer.clone());
        let rule = first.map(|found| found.code);
        problem.hint = rule.map(|rule| format!("`baton explain {rule}` says more about the rule"));
        problem.more.extend(rule.map(|rule| ("rule", json!(rule))));
        json
    }

    /// Adds what to do about it.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> ProblemJson {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds which value of the request the problem is in.
    #[must_use]
    pub(crate) fn within(mut self, place: &str) -> ProblemJson {
        self.0.pointer = self.0.pointer.map(|pointer| format!("{place}{pointer}"));
        self
    }

    /// Adds the same in the form of the store. Only a program that asks for that form gets it.
    fn with_fault(mut self, error: StoreError) -> ProblemJson {
        self.0.fault = Some(error.into());
        self
    }

    /// Moves the form of the store into the answer.
    pub(crate) fn in_stored_form(mut self) -> ProblemJson {
        let fault = self.0.fault.take();
        self.0.more.extend(fault.map(|fault| ("fault", json!(fault))));
        self
    }

    /// Adds a member.
    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: Value) -> ProblemJson {
        self.0.more.push((name, value));
        self
    }

    /// Returns the status.
    pub(crate) fn status(&self) -> StatusCode {
        self.0.status
    }

    /// Returns what happened.
    pub(crate) fn detail(&self) -> &str {
        &self.0.detail
    }

    /// Returns what to do, if that is known.
    pub(crate) fn advice(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Returns after how many seconds the same may be tried again.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        let told = self.0.more.iter().find(|(name, _)| *name == RETRY_AFTER).and_then(|(_, value)| value.as_u64());
        told.or((self.0.status == StatusCode::SERVICE_UNAVAILABLE).then_some(1))
    }

    /// Somebody has tried something too often.
    pub(crate) fn too_often(detail: impl Into<String>, retry_after_seconds: u64) -> ProblemJson {
        ProblemJson::new(StatusCode::TOO_MANY_REQUESTS, "too_often", detail)
            .with(RETRY_AFTER, json!(retry_after_seconds))
    }
}

impl IntoResponse for ProblemJson {
    fn into_response(self) -> Response {
        let (problem, retry_after) = (self.clone(), self.retry_after());
        let ProblemMembers { status, code, detail, hint, pointer, diagnostics, more, fault: _ } = *self.0;
        let mut body = json!({
            "type": "about:blank",
            "title": status.canonical_reason().unwrap_or_default(),
            "status": status.as_u16(),
            "code": code,
            "detail": detail,
        });
        if let Some(hint) = hint {
            body["hint"] = hint.into();
        }
        if let Some(pointer) = pointer {
            body["pointer"] = pointer.into();
        }
        if !diagnostics.is_empty() {
            body["diagnostics"] = diagnostics.iter().map(baton_views::diagnostic::json).collect();
        }
        for (name, value) in more {
            body[name] = value;
        }
        let mut response = (status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"baton\""));
        }
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        // The page shows the same problem in its own form.
        response.extensions_mut().insert(problem);
        response
    }
}

impl From<Problem> for ProblemJson {
    fn from(problem: Problem) -> ProblemJson {
        let detail = problem.to_string();
        let of = |status, code| ProblemJson::new(status, code, detail.clone());
        match problem {
            Problem::Unknown { close: Some(close), .. } => {
                of(StatusCode::NOT_FOUND, "unknown").hint(format!("did you mean `{close}`?"))
            }
            Problem::Unknown { close: None, .. } => of(StatusCode::NOT_FOUND, "unknown"),
            Problem::Pruned { .. } => of(StatusCode::GONE, "pruned"),
            Problem::Ambiguous { .. } => of(StatusCode::CONFLICT, "ambiguous").hint("write more of the id"),
            Problem::Removed(_) => of(StatusCode::GONE, "removed"),
            Problem::NotOfARun(_) => of(StatusCode::NOT_FOUND, "not_a_run"),
            Problem::BrokenRun { run, .. } => {
                of(StatusCode::INTERNAL_SERVER_ERROR, "broken_run").hint(format!("baton audit verify {run}"))
            }
            Problem::Refused { refusal, state, .. } | Problem::AlreadyDecided { refusal, state, .. } => {
                let mut problem = ProblemJson::from(StoreError::Refused(refusal)).with("state", json!(state.as_str()));
                problem.0.detail = detail;
                problem
            }
            Problem::NothingAsked(_) => of(StatusCode::NOT_FOUND, "not_waiting"),
            Problem::SeveralAsked { questions, .. } => of(StatusCode::CONFLICT, "several_questions")
                .hint("decide about one of `questions`")
                .with("questions", json!(questions)),
            Problem::ShownTooShort { id, .. } => ProblemJson::bad_value("/shown", detail)
                .hint(format!("send the `digest` of GET /api/v1/gates/{id} as `shown`")),
            Problem::NotOffered { why, .. } => of(StatusCode::UNPROCESSABLE_ENTITY, "not_offered")
                .hint(why.suggestion())
                .with("choices", json!(why.choices)),
            Problem::NothingSaid { .. } => ProblemJson::bad_value("/text", detail),
            Problem::WrongKind { .. } => of(StatusCode::UNPROCESSABLE_ENTITY, "wrong_kind"),
            Problem::NoAnswer(_) => of(StatusCode::UNPROCESSABLE_ENTITY, "no_answer"),
            Problem::NotComplete => of(StatusCode::UNPROCESSABLE_ENTITY, "not_complete"),
            Problem::Terms(_) => of(StatusCode::UNPROCESSABLE_ENTITY, "bad_terms"),
            Problem::InsideWork(_) | Problem::NotAPerson(_) => {
                of(StatusCode::FORBIDDEN, "not_a_person").hint("use the token of an approver")
            }
            Problem::DriversWork { .. } => of(StatusCode::FORBIDDEN, "forbidden"),
            Problem::Contended(_) => of(StatusCode::SERVICE_UNAVAILABLE, "contended"),
            Problem::Store(error) => error.into(),
        }
    }
}

/// The problem when the lifecycle refuses something.
fn refused(refusal: &Refusal) -> ProblemJson {
    let (status, code) = match refusal {
        Refusal::Stale { .. } => (StatusCode::CONFLICT, "stale_fence"),
        Refusal::NeverGiven { .. } => (StatusCode::CONFLICT, "unknown_fence"),
        Refusal::TooLong { .. } => (StatusCode::CONFLICT, "too_long"),
        Refusal::NotAcknowledged { .. } => (StatusCode::CONFLICT, "not_acknowledged"),
        Refusal::Over { .. } => (StatusCode::CONFLICT, "claim_over"),
        Refusal::Repeated => (StatusCode::CONFLICT, "repeated"),
        Refusal::NotReady { .. } => (StatusCode::CONFLICT, "not_ready"),
        Refusal::Overdue => (StatusCode::CONFLICT, "overdue"),
        Refusal::NotAsSeen => (StatusCode::CONFLICT, "not_as_seen"),
        Refusal::NotExpired => (StatusCode::CONFLICT, "not_expired"),
        Refusal::Changed { .. } => (StatusCode::CONFLICT, "changed"),
        Refusal::OtherQuestion { .. } | Refusal::Unanswered => (StatusCode::UNPROCESSABLE_ENTITY, "other_question"),
        Refusal::NoChoice => (StatusCode::UNPROCESSABLE_ENTITY, "not_offered"),
        Refusal::NotNamed { .. } => (StatusCode::FORBIDDEN, "not_an_approver"),
        Refusal::Unknown { .. } => (StatusCode::FORBIDDEN, "unproven"),
        Refusal::Unsigned { .. } => (StatusCode::FORBIDDEN, "unsigned"),
        Refusal::Forged { .. } => (StatusCode::FORBIDDEN, "forged"),
        Refusal::Twice { .. } => (StatusCode::CONFLICT, "decided_already"),
        Refusal::PartOfRun => (StatusCode::CONFLICT, "part_of_run"),
        Refusal::WrongState { .. } => (StatusCode::CONFLICT, "wrong_state"),
    };
    let problem = ProblemJson::new(status, code, refusal.to_string());
    match refusal {
        Refusal::Stale { .. } => problem.hint("the lease was lost: stop working on it, and claim again"),
        Refusal::Changed { .. } => problem.hint("look at it again, and decide with the digest that is shown now"),
        Refusal::Unsigned { .. } => problem.hint("send a `signature`; baton approve ID --sign makes one"),
        _ => problem,
    }
}

impl From<StoreError> for ProblemJson {
    fn from(error: StoreError) -> ProblemJson {
        let detail = error.to_string();
        let of = |status, code| ProblemJson::new(status, code, detail.clone());
        let problem = match &error {
            StoreError::Refused(refusal) => refused(refusal),
            StoreError::NotFound(_) => of(StatusCode::NOT_FOUND, "unknown"),
            StoreError::Invalid(_) => of(StatusCode::UNPROCESSABLE_ENTITY, "not_within_limits"),
            StoreError::Taken { .. } => of(StatusCode::CONFLICT, "taken"),
            StoreError::Unreachable(_) => of(StatusCode::SERVICE_UNAVAILABLE, "store_unreachable"),
            StoreError::Unwritable(_) => of(StatusCode::SERVICE_UNAVAILABLE, "store_unwritable"),
            StoreError::TooNew { .. } | StoreError::Newer(_) => of(StatusCode::INTERNAL_SERVER_ERROR, "store_too_new"),
            StoreError::Gone(_) => of(StatusCode::SERVICE_UNAVAILABLE, "store_gone"),
            StoreError::Damaged(_) => of(StatusCode::INTERNAL_SERVER_ERROR, "store_damaged"),
            StoreError::Failed(_) | StoreError::Declined { .. } => {
                of(StatusCode::INTERNAL_SERVER_ERROR, "store_failed")
            }
        };
        problem.with_fault(error)
    }
}

impl From<DriverProblem> for ProblemJson {
    fn from(problem: DriverProblem) -> ProblemJson {
        let detail = problem.to_string();
        let of = |status, code| ProblemJson::new(status, code, detail.clone());
        match problem {
            DriverProblem::Store(error) => error.into(),
            DriverProblem::Driven(driver) => {
                let detail = format!("it is driven by {}", readable_claimant(&driver));
                ProblemJson::new(StatusCode::CONFLICT, "driven", detail)
            }
            DriverProblem::Workspace(WorkspaceProblem::Held { workspace, run, driver }) => {
                let (driver, workspace) = (readable_claimant(&driver), workspace.display());
                let detail = format!("run {run}, driven by {driver}, works in {workspace}");
                ProblemJson::new(StatusCode::CONFLICT, "workspace_held", detail)
                    .hint("give a `workspace` beside that folder, or wait until that run has ended")
                    .with("run", json!(run))
            }
            DriverProblem::Workspace(WorkspaceProblem::Missing(_) | WorkspaceProblem::Unusable(_)) => {
                of(StatusCode::CONFLICT, "no_workspace")
            }
            DriverProblem::NoWayBack(NoWayBack::Unknown { phases, .. }) => {
                let hint = format!("the phases are {}", phases.join(", "));
                of(StatusCode::UNPROCESSABLE_ENTITY, "unknown_phase").hint(hint).with("phases", json!(phases))
            }
            DriverProblem::NoWayBack(NoWayBack::NothingFailed { .. }) => of(StatusCode::CONFLICT, "nothing_failed")
                .hint("resume it, or decide; to do a phase again all the same, send its name as `from`"),
            DriverProblem::NoWayBack(NoWayBack::Input(fault)) => fault.into(),
            DriverProblem::NoWayBack(NoWayBack::Unseen { gate, .. }) => of(StatusCode::CONFLICT, "no_way_back")
                .hint(format!("give other inputs from `{gate}` or an earlier phase, so that a person sees them")),
            DriverProblem::NoWayBack(_) => of(StatusCode::CONFLICT, "no_way_back"),
        }
    }
}

impl From<InputFault> for ProblemJson {
    fn from(fault: InputFault) -> ProblemJson {
        let detail = fault.to_string();
        let (InputFault::Unknown(name) | InputFault::Missing(name)) = fault;
        ProblemJson::bad_value(format!("/inputs/{name}"), detail)
    }
}

impl From<HostProblem> for ProblemJson {
    fn from(problem: HostProblem) -> ProblemJson {
        let (status, code) = if problem.is_unknown {
            (StatusCode::NOT_FOUND, "unknown")
        } else {
            (StatusCode::UNPROCESSABLE_ENTITY, "bad_value")
        };
        let mut json = ProblemJson::new(status, code, problem.message);
        json.0.pointer = problem.pointer.map(str::to_owned);
        problem.hint.into_iter().fold(json, ProblemJson::hint)
    }
}
