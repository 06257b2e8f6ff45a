//! From the events of a run to spans: run, phase, attempt. Names are those of OpenTelemetry's conventions for generative AI.
//! Prompts, reports and other texts of agents stay here.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_engine::agent::Job;
use baton_engine::driver::{Audience, News, Seen};
use baton_engine::handoff::State;
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::{Command, Verdict};
use baton_engine::run::{Run, TrackedHandoff};
use baton_engine::session::Spent;
use baton_engine::step::Role;
use baton_engine::trace::TraceIds;
use baton_engine::{Fence, HandoffId};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::export::SpanExporter;
use super::otlp::{Span, SpanEvent};

/// Stands before an audience, and makes spans of what it hears.
pub(crate) struct Tracer {
    audience: Arc<dyn Audience>,
    exporter: Arc<SpanExporter>,
    open: Mutex<Open>,
}

/// What has begun. Whoever takes a run over has missed the beginning of some; the journal knows roughly when it was.
#[derive(Default)]
struct Open {
    attempts: BTreeMap<HandoffId, OpenAttempt>,
    /// What happened to handoffs that are not finished.
    events: BTreeMap<HandoffId, Vec<SpanEvent>>,
    /// When handoffs have ended whose spans were made: several events of one transaction find the same end.
    ended: BTreeMap<HandoffId, Timestamp>,
}

#[derive(Clone, Copy)]
struct OpenAttempt {
    fence: Fence,
    began: Timestamp,
    repairs: bool,
}

/// How an attempt ended.
struct AttemptEnd<'a> {
    spent: Option<&'a Spent>,
    /// Its kind, and what happened.
    error: Option<(String, String)>,
}

impl Tracer {
    /// Passes everything on to an audience.
    pub(crate) fn before(audience: Arc<dyn Audience>, exporter: Arc<SpanExporter>) -> Tracer {
        Tracer { audience, exporter, open: Mutex::default() }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trace(&self, run: &Run, event: &Event) {
        let (Some(tracked), Ok(fact)) = (run.find(&event.handoff), event.fact()) else { return };
        let Fact::Happened(command) = fact else { return };
        match &command {
            Command::Claim(claim) => {
                let repairs = claim.session.as_ref().is_some_and(|turn| turn.repairs);
                let attempt = OpenAttempt { fence: tracked.handoff.fence, began: event.at, repairs };
                self.open().attempts.insert(event.handoff.clone(), attempt);
            }
            Command::Report(report) => {
                let end = AttemptEnd { spent: report.spent.as_ref(), error: None };
                self.end_attempt(run, tracked, event, report.fence, &end);
            }
            Command::Fail(fail) => {
                let error = Some((fail.failure.code.to_string(), fail.failure.text()));
                self.end_attempt(run, tracked, event, fail.fence, &AttemptEnd { spent: fail.spent.as_ref(), error });
            }
            Command::Expire(_) | Command::Release(_) | Command::Cancel(_) => {
                let fence = self.open().attempts.get(&event.handoff).map(|attempt| attempt.fence);
                if let Some(fence) = fence {
                    let error = Some((command.name().to_owned(), format!("the attempt ended: {}", command.name())));
                    self.end_attempt(run, tracked, event, fence, &AttemptEnd { spent: None, error });
                }
            }
            Command::Verify(verify) if matches!(verify.verdict, Verdict::Refuted { .. }) => {
                self.note(event, "baton.report_refuted", Vec::new());
            }
            Command::Decide(decide) => {
                let attributes =
                    vec![("baton.decision", json!(decide.decision.verb())), ("baton.decided_by", json!(decide.by))];
                self.note(event, "baton.decision", attributes);
            }
            _ => {}
        }
        let finished = match tracked.handoff.state {
            State::Completed { at } | State::Failed { at } | State::Cancelled { at } => Some(at),
            _ => None,
        };
        // What ended earlier had its span when it did, perhaps by another driver.
        if let Some(at) = finished.filter(|at| *at == event.at)
            && self.open().ended.insert(event.handoff.clone(), at) != Some(at)
        {
            self.end_handoff(run, tracked, at);
        }
    }

    fn note(&self, event: &Event, name: &'static str, attributes: Vec<(&'static str, Value)>) {
        let noted = SpanEvent { at: event.at, name, attributes };
        self.open().events.entry(event.handoff.clone()).or_default().push(noted);
    }

    fn end_attempt(&self, run: &Run, tracked: &TrackedHandoff, event: &Event, fence: Fence, end: &AttemptEnd<'_>) {
        let open = self.open().attempts.remove(&event.handoff).filter(|attempt| attempt.fence == fence);
        // Drivers claim what they lead or ask themselves; nobody works then.
        if !matches!(tracked.step.role, Role::Work | Role::Delegation) {
            return;
        }
        let (ids, handoff) = (TraceIds::of(run), &tracked.handoff);
        let agent = handoff.terms.to.as_str();
        let mut attributes = vec![
            ("gen_ai.operation.name", json!("invoke_agent")),
            ("gen_ai.agent.name", json!(agent)),
            ("baton.run", json!(run.id)),
            ("baton.handoff", json!(handoff.id)),
            ("baton.fence", json!(fence.0)),
            ("baton.attempt", json!(tracked.attempts)),
            ("baton.repair", json!(open.is_some_and(|attempt| attempt.repairs))),
        ];
        if let Some(session) = tracked.session.as_ref().and_then(|session| session.id.as_ref()) {
            attributes.push(("gen_ai.conversation.id", json!(session)));
        }
        if let Some(spent) = end.spent {
            // By the convention, what came from a cache is part of the input.
            attributes.push(("gen_ai.usage.input_tokens", json!(spent.input.saturating_add(spent.cached))));
            attributes.push(("gen_ai.usage.cache_read.input_tokens", json!(spent.cached)));
            attributes.push(("gen_ai.usage.output_tokens", json!(spent.output)));
            let cost = spent.cost_micros.map(|micros| ("baton.cost.usd", json!(micros as f64 / 1_000_000.0)));
            attributes.extend(cost);
        }
        attributes.extend(end.error.as_ref().map(|(kind, _)| ("error.type", json!(kind))));
        self.exporter.send(Span {
            trace: ids.trace(),
            id: ids.attempt(&handoff.id, fence),
            parent: Some(ids.handoff(&handoff.id)),
            name: format!("invoke_agent {agent}"),
            began: open.map(|attempt| attempt.began).or(tracked.begun_at).unwrap_or(handoff.accepted_at),
            ended: event.at,
            attributes,
            events: Vec::new(),
            error: end.error.as_ref().map(|(_, message)| first_line(message)),
        });
    }

    fn end_handoff(&self, run: &Run, tracked: &TrackedHandoff, at: Timestamp) {
        let (ids, handoff, step) = (TraceIds::of(run), &tracked.handoff, &tracked.step);
        let is_run = step.role == Role::Run;
        let root = &run.root().handoff.id;
        let parent = step.within.as_ref().or(step.about.as_ref()).unwrap_or(root);
        let workflow = run.definition.name();
        let mut attributes = vec![
            ("baton.run", json!(run.id)),
            ("baton.handoff", json!(handoff.id)),
            ("baton.state", json!(handoff.state.name().as_str())),
        ];
        if is_run {
            attributes.push(("gen_ai.operation.name", json!("invoke_workflow")));
            attributes.push(("gen_ai.workflow.name", json!(workflow)));
        } else {
            attributes.push(("baton.phase", json!(step.phase)));
            attributes.push(("baton.visit", json!(step.visit)));
            attributes.push(("baton.role", json!(step.role)));
        }
        let error = match handoff.state {
            State::Failed { .. } => {
                let failure = handoff.last_failure.as_ref();
                attributes.extend(failure.map(|failure| ("error.type", json!(failure.code.to_string()))));
                Some(failure.map_or_else(|| "failed".to_owned(), |failure| first_line(&failure.message)))
            }
            _ => None,
        };
        self.exporter.send(Span {
            trace: ids.trace(),
            id: ids.handoff(&handoff.id),
            parent: (!is_run).then(|| ids.handoff(parent)),
            name: if is_run { format!("invoke_workflow {workflow}") } else { format!("phase {}", step.phase) },
            began: handoff.accepted_at,
            ended: at,
            attributes,
            events: self.open().events.remove(&handoff.id).unwrap_or_default(),
            error,
        });
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

impl Audience for Tracer {
    fn hear(&self, run: &Run, news: &News<'_>) {
        self.audience.hear(run, news);
        match news {
            News::Event(event) => self.trace(run, event),
            News::Asks(question) => {
                let Some(tracked) = run.find(&question.handoff) else { return };
                let attributes = vec![("baton.phase", json!(question.phase))];
                let asked = SpanEvent { at: tracked.since, name: "baton.question", attributes };
                self.open().events.entry(question.handoff.clone()).or_default().push(asked);
            }
            News::Begins(_) | News::Examines(_) | News::Note(_) => {}
        }
    }

    fn see(&self, job: &Job, seen: &Seen) {
        self.audience.see(job, seen);
    }
}
