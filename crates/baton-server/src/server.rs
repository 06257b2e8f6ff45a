//! What a server consists of, and its life: it listens, and when it is told to stop it finishes what it has begun.

use std::sync::Arc;
use std::time::Duration;

use baton_engine::engine::Problem;
use baton_engine::handoff::Handoff;
use baton_engine::{Engine, RunId};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::access::{Exposure, Principal, Transport};
use crate::claimed_work::ClaimedWork;
use crate::connections::{ServerLimits, accept_all};
use crate::event_hub::EventHub;
use crate::host::ServerHost;
use crate::metrics::ServerMetrics;
use crate::problem_json::ProblemJson;
use crate::router::router;
use crate::run_driving::RunDriving;
use crate::tls::TlsIdentity;
use crate::web::PageMemory;
use crate::wrong_tokens::WrongTokens;

/// How long requests that go on may take after the server was told to stop.
const DRAIN_MAX: Duration = Duration::from_secs(10);

/// What a server is made of.
pub struct ServerParts {
    /// The verbs.
    pub engine: Engine,
    /// The runs that it drives.
    pub driving: RunDriving,
    /// What the machine provides.
    pub host: Arc<dyn ServerHost>,
    /// Who can reach it.
    pub exposure: Exposure,
    /// How what is sent travels.
    pub transport: Transport,
    /// What callers may take of it.
    pub limits: ServerLimits,
}

/// A server. Copies share everything, and each request takes a dozen of them: a copy counts once.
#[derive(Clone)]
pub struct Server(Arc<ServerState>);

/// What the copies of a server share.
pub struct ServerState {
    parts: ServerParts,
    pub(crate) metrics: ServerMetrics,
    pub(crate) hub: EventHub,
    /// What pages need again and again.
    pub(crate) pages: PageMemory,
    pub(crate) wrong_tokens: WrongTokens,
    pub(crate) claimed: ClaimedWork,
    close: watch::Sender<bool>,
    /// Distinguishes this server from all others, and from itself before it was restarted.
    instance: String,
}

impl std::ops::Deref for Server {
    type Target = ServerState;

    fn deref(&self) -> &ServerState {
        &self.0
    }
}

impl std::ops::Deref for ServerState {
    type Target = ServerParts;

    fn deref(&self) -> &ServerParts {
        &self.parts
    }
}

impl Server {
    /// Makes a server; [`serve`] lets it listen.
    pub fn new(parts: ServerParts) -> Server {
        let instance = parts.engine.random.word();
        Server(Arc::new(ServerState {
            parts,
            metrics: ServerMetrics::default(),
            hub: EventHub::default(),
            pages: PageMemory::default(),
            wrong_tokens: WrongTokens::default(),
            claimed: ClaimedWork::default(),
            close: watch::Sender::new(false),
            instance,
        }))
    }

    /// Returns what tells this server from all others.
    pub(crate) fn instance(&self) -> &str {
        &self.instance
    }

    /// Waits until the server is about to end. Whatever waits for something else waits for this as well.
    pub(crate) async fn closing(&self) {
        let mut closing = self.close.subscribe();
        // The sender lives as long as this does.
        let _ = closing.wait_for(|closing| *closing).await;
    }

    /// Returns whether the server is about to end.
    pub(crate) fn is_closing(&self) -> bool {
        *self.close.borrow()
    }

    /// Finds a handoff that the caller may see; whatever they may not see does not exist for them.
    pub(crate) async fn visible(&self, principal: &Principal, id: &str) -> Result<Handoff, ProblemJson> {
        self.only_if_visible(principal, self.engine.resolve(id).await, id)
    }

    /// Finds a run that the caller may see.
    pub(crate) async fn visible_run(&self, principal: &Principal, id: &str) -> Result<Handoff, ProblemJson> {
        self.only_if_visible(principal, self.engine.resolve_run(id).await, id)
    }

    /// Finds the journal that an id means: that of a run, or of a handoff.
    pub(crate) async fn journal_named(&self, principal: &Principal, id: &str) -> Result<RunId, ProblemJson> {
        if let Some(handoffs) = self.engine.plain_run(id).await?
            && let Some(first) = handoffs.first()
        {
            return Ok(first.run.clone());
        }
        Ok(self.visible(principal, id).await?.run)
    }

    fn only_if_visible(
        &self,
        principal: &Principal,
        found: Result<Handoff, Problem>,
        id: &str,
    ) -> Result<Handoff, ProblemJson> {
        match found {
            Ok(handoff) if principal.sees(&handoff) => Ok(handoff),
            // What was probably meant, or begins alike, may be somebody else's.
            Ok(_) => Err(ProblemJson::unknown(id)),
            Err(Problem::Store(error)) => Err(Problem::Store(error).into()),
            Err(_) if principal.is_restricted() => Err(ProblemJson::unknown(id)),
            Err(problem) => Err(problem.into()),
        }
    }
}

/// Serves until `stop` is over, with TLS or without. Then nothing new is taken, requests and attempts that go on may end for a
/// limited time, and runs are given back.
pub async fn serve(
    listener: TcpListener,
    tls: Option<TlsIdentity>,
    server: Server,
    stop: impl Future<Output = ()> + Send,
) {
    // Before the first caller: whoever listens is told everything that happens from then on.
    let from = server.engine.store.last_position().await.ok();
    let background = [tokio::spawn(server.clone().keep_driving()), tokio::spawn(server.clone().keep_watching(from))];
    let connections = tokio::spawn(accept_all(listener, tls, server.clone(), router(server.clone())));
    stop.await;
    server.close.send_replace(true);
    // Those who only listen were told; whoever does not hang up is left behind.
    let _ = tokio::join!(tokio::time::timeout(DRAIN_MAX, connections), server.driving.give_back());
    background.iter().for_each(tokio::task::JoinHandle::abort);
}
