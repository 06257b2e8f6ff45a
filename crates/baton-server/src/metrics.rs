//! Figures for Prometheus. What the store can count is counted when somebody asks; what happens is counted as it happens,
//! from the journal, whoever has done it.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;

use axum::http::StatusCode;
use baton_engine::HandoffId;
use baton_engine::handoff::{Handoff, Terms};
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::{Command, Verdict};
use baton_engine::session::Spent;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::problem_json::ProblemJson;
use crate::server::Server;

/// The names and values by which a figure is told apart.
type Labels = Vec<(&'static str, String)>;

/// The upper ends of lengths of time, in seconds: from a moment to a weekend.
const SECONDS: [f64; 12] = [0.01, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 1_800.0, 7_200.0, 43_200.0, 259_200.0];

fn lengths() -> Histogram {
    Histogram::new(SECONDS)
}

/// The figures of a server.
pub(crate) struct ServerMetrics {
    registry: Mutex<Registry>,
    requests: Family<Labels, Counter>,
    handoffs: Family<Labels, Gauge>,
    runs_driven: Gauge,
    listeners: Gauge,
    events: Family<Labels, Counter>,
    time_to_claim: Family<Labels, Histogram>,
    finished: Family<Labels, Counter>,
    first_pass: Family<Labels, Counter>,
    refuted: Family<Labels, Counter>,
    retries: Family<Labels, Counter>,
    gate_wait: Histogram,
    tokens_spent: Family<Labels, Counter>,
    dollars_spent: Family<Labels, Counter<f64, AtomicU64>>,
    /// What attempts that go on have said they have spent so far, which is counted already.
    spent_so_far: Mutex<HashMap<HandoffId, Spent>>,
}

impl Default for ServerMetrics {
    fn default() -> ServerMetrics {
        let metrics = ServerMetrics {
            registry: Mutex::default(),
            requests: Family::default(),
            handoffs: Family::default(),
            runs_driven: Gauge::default(),
            listeners: Gauge::default(),
            events: Family::default(),
            time_to_claim: Family::new_with_constructor(lengths),
            finished: Family::default(),
            first_pass: Family::default(),
            refuted: Family::default(),
            retries: Family::default(),
            gate_wait: lengths(),
            tokens_spent: Family::default(),
            dollars_spent: Family::default(),
            spent_so_far: Mutex::default(),
        };
        metrics.register();
        metrics
    }
}

impl ServerMetrics {
    fn register(&self) {
        let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let registry = registry.sub_registry_with_prefix("baton");
        registry.register("http_requests", "Requests, by route, method and status", self.requests.clone());
        registry.register("handoffs", "Handoffs, by agent and state", self.handoffs.clone());
        registry.register("runs_driven", "Runs that this server drives", self.runs_driven.clone());
        registry.register(
            "listeners",
            "Requests that wait for something to happen: streams and long polls",
            self.listeners.clone(),
        );
        registry.register("events", "Events of the journal since this server started, by kind", self.events.clone());
        registry.register_with_unit(
            "time_to_claim",
            "From acceptance to the first claim, by agent",
            Unit::Seconds,
            self.time_to_claim.clone(),
        );
        registry.register("finished", "Finished handoffs, by agent and state", self.finished.clone());
        registry.register("first_pass", "Handoffs completed by their first attempt, by agent", self.first_pass.clone());
        registry.register("refuted", "Reports whose claims were refuted, by agent", self.refuted.clone());
        registry.register("retries", "Attempts after the first, by agent", self.retries.clone());
        registry.register_with_unit(
            "gate_wait",
            "From the question to the decision of a person",
            Unit::Seconds,
            self.gate_wait.clone(),
        );
        registry.register("tokens_spent", "Tokens that agents have spent, by agent", self.tokens_spent.clone());
        registry.register(
            "dollars_spent",
            "Money that agents have spent, in dollars, by agent",
            self.dollars_spent.clone(),
        );
    }

    /// Returns all figures as text.
    pub(crate) async fn text(&self, server: &Server) -> Result<String, ProblemJson> {
        self.handoffs.clear();
        for count in server.engine.store.census().await? {
            let agent = Terms::readable_queue(&count.agent).to_owned();
            let labels = vec![("agent", agent), ("state", count.state.as_str().to_owned())];
            self.handoffs.get_or_create(&labels).inc_by(i64::try_from(count.handoffs).unwrap_or(i64::MAX));
        }
        self.runs_driven.set(i64::try_from(server.driving.count()).unwrap_or(i64::MAX));
        self.listeners.set(i64::try_from(server.hub.listeners()).unwrap_or(i64::MAX));
        let mut text = String::new();
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing into a text does not fail.
        let _ = encode(&mut text, &registry);
        Ok(text)
    }
}

impl ServerMetrics {
    /// Counts a request that was answered.
    pub(crate) fn count_request(&self, route: String, method: String, status: StatusCode) {
        let labels = vec![("route", route), ("method", method), ("status", status.as_str().to_owned())];
        self.requests.get_or_create(&labels).inc();
    }

    /// Counts something that has happened; `handoff` is what became of it.
    pub(crate) async fn measure(&self, server: &Server, event: &Event, fact: Option<Fact>, handoff: Option<&Handoff>) {
        self.events.get_or_create(&vec![("kind", event.kind.clone())]).inc();
        let (Some(handoff), Some(Fact::Happened(command))) = (handoff, fact) else { return };
        let name = Terms::readable_queue(handoff.terms.queue());
        let agent = || vec![("agent", name.to_owned())];
        self.measure_spending(agent(), handoff, &command);
        match &command {
            Command::Claim(_) if handoff.is_run() => {}
            Command::Claim(_) if handoff.attempts <= 1 => {
                let waited = event.at.duration_since(handoff.accepted_at).as_secs_f64();
                self.time_to_claim.get_or_create(&agent()).observe(waited.max(0.0));
            }
            Command::Claim(_) => {
                self.retries.get_or_create(&agent()).inc();
            }
            Command::Verify(verify) if matches!(verify.verdict, Verdict::Refuted { .. }) => {
                self.refuted.get_or_create(&agent()).inc();
            }
            Command::Decide(_) => {
                let asked = server.engine.store.history_of(&event.handoff).await.unwrap_or_default();
                let asked = asked.iter().rev().find(|earlier| earlier.seq < event.seq);
                let waited = asked.map(|asked| event.at.duration_since(asked.at).as_secs_f64());
                waited.into_iter().for_each(|waited| self.gate_wait.observe(waited.max(0.0)));
            }
            _ => {}
        }
        let state = handoff.state.name();
        if state.is_finished() && handoff.version == event.version {
            let labels = vec![("agent", name.to_owned()), ("state", state.as_str().to_owned())];
            self.finished.get_or_create(&labels).inc();
            if handoff.was_accepted_first_time() {
                self.first_pass.get_or_create(&agent()).inc();
            }
        }
    }

    /// Counts what an attempt has spent: signs of life tell the sum so far, and how it ends tells its last word on it.
    fn measure_spending(&self, agent: Labels, handoff: &Handoff, command: &Command) {
        let sum = match command {
            Command::Heartbeat(heartbeat) => heartbeat.spent,
            Command::Report(report) => report.spent,
            Command::Fail(fail) => fail.spent,
            _ => None,
        };
        let mut so_far = self.spent_so_far.lock().unwrap_or_else(PoisonError::into_inner);
        let before = so_far.remove(&handoff.id).filter(|_| !matches!(command, Command::Claim(_)));
        if let Some(sum) = sum {
            let spent = sum - before.unwrap_or_default();
            self.tokens_spent.get_or_create(&agent).inc_by(spent.tokens());
            if let Some(micros) = spent.cost_micros {
                self.dollars_spent.get_or_create(&agent).inc_by(micros as f64 / 1_000_000.0);
            }
        }
        if let Some(latest) = sum.or(before).filter(|_| handoff.lease().is_some()) {
            so_far.insert(handoff.id.clone(), latest);
        }
    }
}
