//! The store as commands use it: found by option, environment, configuration or project, opened, with a clock beside it.

mod anchor;
mod applying;
mod history;
mod ledger_keeper;
mod moving;
mod offer;
pub(crate) mod place;
mod runs;
mod trouble;

pub(crate) use anchor::{Anchor, AnchorLine, lines as anchor_lines};
pub(crate) use applying::Applied;
pub(crate) use history::{accepted_request, reported_document, shown_document};
pub(crate) use moving::{from_old_folder, from_project, untouched};
pub(crate) use place::{Place, Source};
pub(crate) use runs::is_run;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use baton_engine::evidence::KeptBytes;
use baton_engine::handoff::StateName;
use baton_engine::ledger::{LedgerEntry, Occasion};
use baton_engine::store::{Filter, Store};
use baton_engine::{Clock, Handoff, HandoffId, RunId, StateFolder};
use baton_host::quoted;
use baton_protocol::Settings;
use baton_protocol::wire::closest;
use baton_store::Location;
use clap::Args;
use jiff::Timestamp;
use uuid::{ContextV7, Uuid};

use crate::clock::SteadyClock;
use crate::command_error::CommandError;
use crate::config::{self, Approvers, Config};
use crate::output::Output;
use crate::state;
use ledger_keeper::LedgerKeeper;

/// Which store a command works on.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Store")]
pub(crate) struct StoreOptions {
    /// The store: a path, sqlite:PATH or postgres://… [default: $BATON_STORE, `[store] url` in baton.toml, the project's
    /// folder in your state folder; `baton doctor` prints it]
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// The configuration file [default: the nearest baton.toml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl StoreOptions {
    /// Returns the options that other commands need in order to find the same store, with a space before each.
    pub(crate) fn repeated(&self) -> String {
        let config = self.config.as_ref().map(|config| config.display().to_string());
        // Whoever reads over somebody's shoulder, or a log, must not learn a password.
        let shown = |text: &String| match text.contains("://") {
            true => Location::Postgres(text.clone()).to_string(),
            false => text.clone(),
        };
        let given = [("--store", self.store.as_ref().map(shown)), ("--config", config)];
        given.into_iter().filter_map(|(name, value)| Some(format!(" {name} {}", quoted(&value?)))).collect()
    }

    /// Finds out where the store is, and what else the configuration says.
    pub(crate) fn place(&self) -> Result<(Place, Config), CommandError> {
        let config = config::read(self.config.as_deref())?;
        Ok((place::find(self.store.as_deref(), &config)?, config))
    }

    /// Returns what is configured; for what must be known before a store is made.
    pub(crate) fn configuration(&self) -> Result<Config, CommandError> {
        config::read(self.config.as_deref())
    }
}

/// How many ids that begin alike are looked at.
const IDS_MAX: u32 = 1_000;

/// So much of what waits is looked at to find other queues.
const OTHERS_MAX: u32 = 100;

/// What a command will do with the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Look only: there must be a store.
    Look,
    /// Change something: a store is made if there is none.
    Change,
}

/// An open store, with the clock and the settings that go with it.
pub(crate) struct Session {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The time; not earlier than what the store has seen.
    pub clock: Arc<SteadyClock>,
    /// The settings for judging documents.
    pub settings: Settings,
    /// How much of the files that reports name is kept.
    pub kept: KeptBytes,
    /// Where the store is.
    pub location: Location,
    /// Who can sign decisions.
    pub approvers: Approvers,
    /// The configuration file, if there is one.
    pub config_file: Option<PathBuf>,
    /// Where the heads of runs are kept beside the store.
    pub anchor: Option<Anchor>,
    /// The user's state folder, if the environment says where that is.
    pub state: Option<StateFolder>,
    ledger: Arc<LedgerKeeper>,
    runtime: tokio::runtime::Runtime,
    order: Mutex<ContextV7>,
}

impl Session {
    /// Finds and opens the store, and tells if it should be elsewhere.
    pub(crate) fn open(options: &StoreOptions, access: Access, output: &Output) -> Result<Session, CommandError> {
        let (place, config) = options.place()?;
        let session = Session::at(offer::tell(place, access, output)?, access, config)?;
        session.ledger.tells(*output);
        Ok(session)
    }

    /// Opens the store at a place.
    pub(crate) fn at(place: Place, access: Access, config: Config) -> Result<Session, CommandError> {
        if let (Some(anchor), Location::Sqlite(path)) = (&config.anchor, &place.location)
            && anchor.is_at(path)
        {
            return Err(config::not_an_anchor("baton.toml", "the store"));
        }
        place.prepare(access)?;
        let Place { location, source, .. } = place;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| CommandError::internal(format!("cannot start the runtime: {error}")))?;
        let opened = runtime.block_on(async {
            let store = baton_store::open(&location).await?;
            let time = store.time().await?;
            Ok((store, time))
        });
        let (store, time) = opened.map_err(|error| trouble::opening(&location, &source, error))?;
        let clock = Arc::new(SteadyClock::beside(&store));
        // A file knows only when it was changed last.
        time.into_iter().for_each(|time| clock.observe(time));
        let order = Mutex::new(ContextV7::new());
        let ledger = Arc::new(LedgerKeeper::new(store, Arc::clone(&clock), config.anchor.clone()));
        Ok(Session {
            store: Arc::clone(&ledger) as Arc<dyn Store>,
            clock,
            settings: config.settings,
            kept: config.kept,
            location,
            config_file: config.file,
            approvers: config.approvers,
            anchor: config.anchor,
            state: state::folder().ok(),
            ledger,
            runtime,
            order,
        })
    }

    /// Returns the user's state folder, for what cannot do without.
    pub(crate) fn state(&self) -> Result<&StateFolder, CommandError> {
        self.state.as_ref().ok_or_else(state::unknown)
    }

    /// Carries out something that waits. What was noted for the ledger meanwhile is entered before this returns.
    pub(crate) fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(async {
            let done = work.await;
            self.ledger.settle().await;
            done
        })
    }

    /// Returns the time.
    pub(crate) fn now(&self) -> jiff::Timestamp {
        self.clock.now()
    }

    /// Makes an id that sorts after those made before.
    pub(crate) fn new_id(&self) -> HandoffId {
        let now = self.now();
        let (seconds, nanoseconds) = (now.as_second().max(0) as u64, now.subsec_nanosecond().max(0) as u32);
        let order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        HandoffId::from_unique(Uuid::new_v7(uuid::Timestamp::from_unix(&*order, seconds, nanoseconds)))
    }

    /// Tells somebody who finds nothing in the queue of an agent that an agent of a workflow has this name, too.
    pub(crate) async fn other_queues(&self, agent: &str) -> Result<Option<String>, CommandError> {
        let states = vec![StateName::Pending];
        let filter = Filter { agent: Some(agent.to_owned()), states, after: None, limit: OTHERS_MAX };
        let waiting = self.store.list(&filter).await?;
        let mut others: Vec<&str> = waiting.iter().map(|handoff| handoff.terms.queue()).collect();
        others.sort_unstable();
        others.dedup();
        let hidden = others.contains(&agent);
        others.retain(|queue| !queue.starts_with('@'));
        let told = || format!("work of a workflow waits in a queue of its own: --agent {}", others.join(", --agent "));
        Ok((!others.is_empty() && !hidden).then(told))
    }

    /// Finds the handoff that an id, or a unique beginning of one, means.
    pub(crate) async fn resolve(&self, given: &str) -> Result<Handoff, CommandError> {
        match self.named(given).await? {
            Some(handoff) => Ok(handoff),
            None => Err(self.unknown("handoff", "baton list", given).await),
        }
    }

    /// Finds the handoff that an id, or a beginning of one, means; `None` if there is none.
    async fn named(&self, given: &str) -> Result<Option<Handoff>, CommandError> {
        if let Ok(id) = HandoffId::parse(given)
            && let Some(handoff) = self.store.find(&id).await?
        {
            return Ok(Some(handoff));
        }
        let mut beginnings = vec![given.to_owned()];
        // Nobody wants to type what all made ids have in common.
        if !given.starts_with("hoff-") {
            beginnings.push(format!("hoff-{given}"));
        }
        for beginning in beginnings.iter().filter(|_| !given.is_empty()) {
            let ids = self.store.ids_beginning_with(beginning, 2).await?;
            match &ids[..] {
                [] => {}
                [id] => {
                    let found = self.store.find(id).await?;
                    let gone = || CommandError::no(format!("the handoff `{id}` was removed just now"));
                    return found.ok_or_else(gone).map(Some);
                }
                _ => {
                    let ids = self.store.ids_beginning_with(beginning, IDS_MAX).await?;
                    return self.only_run(given, ids).await.map(Some);
                }
            }
        }
        Ok(None)
    }

    /// Takes a run for what is in it, which is called after it; there must be one thing only.
    async fn only_run(&self, given: &str, ids: Vec<HandoffId>) -> Result<Handoff, CommandError> {
        let mut runs: Vec<Handoff> = Vec::new();
        let mut others: Vec<HandoffId> = Vec::new();
        for id in ids {
            let is_inside =
                |run: &Handoff| id.as_str().strip_prefix(run.id.as_str()).is_some_and(|rest| rest.starts_with('.'));
            if runs.iter().any(is_inside) {
                continue;
            }
            match self.store.find(&id).await?.filter(is_run) {
                Some(run) => runs.push(run),
                None => others.push(id),
            }
            if runs.len() + others.len() > 3 {
                break;
            }
        }
        match (runs.pop(), runs.is_empty() && others.is_empty()) {
            (Some(run), true) => Ok(run),
            (last, _) => {
                let ids = runs.into_iter().chain(last).map(|run| run.id).chain(others);
                Err(ambiguous(given, &ids.collect::<Vec<_>>()))
            }
        }
    }

    /// Returns the entry of the ledger that says that a run was pruned, whose id or one of whose handoffs this is.
    async fn removal(&self, given: &str) -> Option<LedgerEntry> {
        let ends = given.match_indices('.').map(|(at, _)| at).chain([given.len()]);
        for run in ends.filter_map(|end| RunId::parse(&given[..end]).ok()) {
            let entries = self.store.ledger_of(&run).await.unwrap_or_default();
            if let Some(last) = entries.into_iter().next_back().filter(|last| last.occasion == Occasion::Removed) {
                return Some(last);
            }
        }
        None
    }

    /// Tells that there is no such thing; `listing` is the command that shows what there is.
    async fn unknown(&self, what: &str, listing: &str, given: &str) -> CommandError {
        if let Some(entry) = self.removal(given).await {
            let when = Timestamp::from_second(entry.at.as_second()).unwrap_or(entry.at);
            return CommandError::usage(format!("the run {} was pruned at {when}", entry.run))
                .hint("what was archived lies where `baton prune --to` wrote it");
        }
        let error = CommandError::usage(format!("there is no {what} `{given}`"));
        let filter = Filter { agent: None, states: Vec::new(), after: None, limit: 200 };
        let recent = self.store.list(&filter).await.unwrap_or_default();
        let ids: Vec<&str> = recent.iter().map(|handoff| handoff.id.as_str()).collect();
        match closest(given, &ids) {
            Some(close) => error.hint(format!("did you mean `{close}`?")),
            None => error.hint(format!("`{listing}` shows what is there")),
        }
    }
}

fn ambiguous(given: &str, ids: &[HandoffId]) -> CommandError {
    let shown: Vec<&str> = ids.iter().take(3).map(HandoffId::as_str).collect();
    let more = if ids.len() > 3 { ", …" } else { "" };
    CommandError::usage(format!("several ids begin with `{given}`: {}{more}", shown.join(", ")))
        .hint("write more of the id")
}

/// Returns a word that nobody can foresee, for the fences of a prompt.
pub(crate) fn unforeseeable_word() -> String {
    let random = Uuid::now_v7().simple().to_string();
    // The first half of such an id is mostly the time.
    random[14..].to_owned()
}

/// Returns a random number between 0 and 1, for the jitter of retries.
pub(crate) fn dice() -> f64 {
    const BITS: u32 = 53;
    // The last bits of such an id are random; the time in its first bits does not matter here.
    let random = Uuid::now_v7().as_u128() & ((1 << BITS) - 1);
    random as f64 / (1_u64 << BITS) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_are_suggested_name_the_store_without_its_password() {
        let repeated = |store: &str| {
            let options = StoreOptions { store: Some(store.to_owned()), config: Some(PathBuf::from("my baton.toml")) };
            options.repeated()
        };
        assert_eq!(repeated("a.db"), " --store a.db --config 'my baton.toml'");
        for url in ["postgres://u:secret@h:5/d", "postgresql://h/d?user=u&password=secret&x=1"] {
            let repeated = repeated(url);
            assert!(!repeated.contains("secret") && repeated.contains("h") && repeated.contains("/d"), "{repeated}");
        }
    }
}
