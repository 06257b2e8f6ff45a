//! The store as commands use it: found by option, environment, configuration or project, opened, with a clock beside it.

mod moving;
mod offer;
pub(crate) mod place;
mod runs;
mod server;
mod telling;
mod trouble;

pub(crate) use moving::{from_old_folder, from_project, untouched};
pub(crate) use place::{Place, Source};

use std::path::PathBuf;
use std::sync::Arc;

use baton_engine::evidence::KeptBytes;
use baton_engine::ledger_keeper::{LedgerAnchor, LedgerKeeper, LedgerTrouble};
use baton_engine::{Clock, Engine, StateFolder, Store};
use baton_host::quoted;
use baton_protocol::{Settings, printable};
use baton_store::Location;
use baton_store::remote::RemoteStore;
use clap::Args;
use tokio::runtime::Builder;

use crate::anchor::Anchor;
use crate::clock::SteadyClock;
use crate::command_error::CommandError;
use crate::config::{self, Approvers, Config, Notifications};
use crate::output::Output;
use crate::random::MachineRandom;
use crate::state;
use crate::telemetry::{SpanExporter, TelemetrySettings};

/// Which store a command works on.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StoreOptions {
    /// The store: a path, sqlite:PATH, postgres://… or https://… for a server [default: $BATON_STORE, `[store] url` in baton.toml, the project's
    /// folder in your state folder; `baton doctor` prints it]
    // Each has its heading: one for all of them would go on to whatever follows them in a command.
    #[arg(long, value_name = "URL", help_heading = "Store")]
    store: Option<String>,
    /// The configuration file [default: the nearest baton.toml]
    #[arg(long, value_name = "FILE", help_heading = "Store")]
    config: Option<PathBuf>,
    /// The file with the token for a server [default: $BATON_TOKEN, `[store] token_file` in baton.toml]
    #[arg(long, value_name = "FILE", help_heading = "Store")]
    token_file: Option<PathBuf>,
}

/// The variable with the token for a server.
pub(crate) const TOKEN_VARIABLE: &str = "BATON_TOKEN";

impl StoreOptions {
    /// Returns the options that other commands need in order to find the same store, with a space before each.
    pub(crate) fn repeated(&self) -> String {
        let file = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        // Whoever reads over somebody's shoulder, or a log, must not learn a password.
        let shown = |text: &String| match text.contains("://") {
            true => Location::Postgres(text.clone()).to_string(),
            false => text.clone(),
        };
        let given = [("--store", self.store.as_ref().map(shown)), ("--config", file(&self.config))];
        let given = given.into_iter().chain([("--token-file", file(&self.token_file))]);
        given.filter_map(|(name, value)| Some(format!(" {name} {}", quoted(&value?)))).collect()
    }

    /// Finds out where the store is, and what else the configuration says.
    pub(crate) fn place(&self) -> Result<(Place, Config), CommandError> {
        let mut config = config::read(self.config.as_deref())?;
        // What is given for this call goes before the variable, and that before the configuration.
        match &self.token_file {
            Some(file) => config.token_file = Some(file.clone()),
            None if std::env::var_os(TOKEN_VARIABLE).is_some() => config.token_file = None,
            None => {}
        }
        Ok((place::find(self.store.as_deref(), &config)?, config))
    }

    /// Returns whether the store is that of a server.
    pub(crate) fn is_server(&self) -> Result<bool, CommandError> {
        Ok(matches!(self.place()?.0.location, Location::Server(_)))
    }

    /// Returns what is configured; for what must be known before a store is made.
    pub(crate) fn configuration(&self) -> Result<Config, CommandError> {
        config::read(self.config.as_deref())
    }
}

/// What a command will do with the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Look only: there must be a store.
    Look,
    /// Change something: a store is made if there is none.
    Change,
}

/// An open store, with the engine over it.
pub(crate) struct Session {
    /// The verbs.
    pub engine: Engine,
    /// The store.
    pub store: Arc<dyn Store>,
    /// The server that has the store, if it is not ours.
    pub remote: Option<Arc<RemoteStore>>,
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
    /// Who is notified when a person is waited for.
    pub notifications: Notifications,
    telemetry: Option<Arc<SpanExporter>>,
    /// Why nobody gets spans, although somebody wants them.
    no_telemetry: Option<String>,
    /// The user's state folder, if the environment says where that is.
    pub state: Option<StateFolder>,
    ledger: Arc<LedgerKeeper>,
    /// Where trouble with the ledger is reported.
    output: Option<Output>,
    runtime: tokio::runtime::Runtime,
}

impl Session {
    /// Finds and opens the store, and tells if it should be elsewhere.
    pub(crate) fn open(options: &StoreOptions, access: Access, output: &Output) -> Result<Session, CommandError> {
        Session::open_with(options, access, output, Builder::new_current_thread())
    }

    /// Does the same for what needs the database itself. A server does not let anybody at it.
    pub(crate) fn open_database(
        options: &StoreOptions,
        access: Access,
        output: &Output,
    ) -> Result<Session, CommandError> {
        options.place()?.0.database()?;
        Session::open(options, access, output)
    }

    /// Does the same for a process that does many things at once, on all processors.
    pub(crate) fn open_to_serve(
        options: &StoreOptions,
        access: Access,
        output: &Output,
    ) -> Result<Session, CommandError> {
        options.place()?.0.database()?;
        Session::open_with(options, access, output, Builder::new_multi_thread())
    }

    fn open_with(
        options: &StoreOptions,
        access: Access,
        output: &Output,
        runtime: Builder,
    ) -> Result<Session, CommandError> {
        let (place, config) = options.place()?;
        let mut session = Session::on(runtime, offer::tell(place, access, output)?, access, config)?;
        // Where somebody watches what goes on it is told at the end.
        if !output.is_watched() {
            let output = *output;
            session.ledger.tells_at_once(move |trouble| tell_trouble(trouble, &output));
        }
        session.output = Some(*output);
        Ok(session)
    }

    /// Opens the store at a place.
    pub(crate) fn at(place: Place, access: Access, config: Config) -> Result<Session, CommandError> {
        Session::on(Builder::new_current_thread(), place, access, config)
    }

    fn on(mut runtime: Builder, place: Place, access: Access, config: Config) -> Result<Session, CommandError> {
        if let (Some(anchor), Location::Sqlite(path)) = (&config.anchor, &place.location)
            && anchor.is_at(path)
        {
            return Err(config::not_an_anchor("baton.toml", "the store"));
        }
        place.prepare(access)?;
        let Place { location, source, .. } = place;
        let runtime = runtime
            .enable_all()
            .build()
            .map_err(|error| CommandError::internal(format!("cannot start the runtime: {error}")))?;
        let token = if let Location::Server(_) = &location { server::token(&config)? } else { None };
        let opened = runtime.block_on(async {
            let (store, remote) = match &location {
                Location::Server(address) => {
                    let remote = Arc::new(server::reach(address, token, &config).await?);
                    (Arc::clone(&remote) as Arc<dyn Store>, Some(remote))
                }
                Location::Sqlite(_) | Location::Postgres(_) => (baton_store::open(&location).await?, None),
            };
            let time = store.time().await?;
            Ok((store, remote, time))
        });
        let (store, remote, time) = opened.map_err(|error| trouble::opening(&location, &source, error))?;
        let clock = Arc::new(SteadyClock::beside(&store));
        // A file knows only when it was changed last.
        time.into_iter().for_each(|time| clock.observe(time));
        // A server anchors its own ledger.
        let anchor = config.anchor.clone().filter(|_| remote.is_none());
        let anchor = anchor.map(|anchor| Arc::new(anchor) as Arc<dyn LedgerAnchor>);
        let ledger = Arc::new(LedgerKeeper::new(store, Arc::clone(&clock) as Arc<dyn Clock>, anchor));
        let store = Arc::clone(&ledger) as Arc<dyn Store>;
        let engine = Engine {
            store: Arc::clone(&store),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            random: Arc::new(MachineRandom::new(Arc::clone(&clock))),
            settings: Arc::new(config.settings.clone()),
            recent: Arc::default(),
        };
        let telemetry = TelemetrySettings::of(&config.telemetry, |name| std::env::var(name).ok());
        let no_telemetry = telemetry.as_ref().err().cloned();
        let start = |settings| Arc::new(SpanExporter::start(settings, runtime.handle()));
        let telemetry = telemetry.ok().flatten().map(start);
        Ok(Session {
            engine,
            store,
            remote,
            clock,
            settings: config.settings,
            kept: config.kept,
            location,
            config_file: config.file,
            approvers: config.approvers,
            anchor: config.anchor,
            notifications: config.notifications,
            telemetry,
            no_telemetry,
            state: state::folder().ok(),
            ledger,
            output: None,
            runtime,
        })
    }

    /// Returns the user's state folder, for what cannot do without.
    pub(crate) fn state(&self) -> Result<&StateFolder, CommandError> {
        self.state.as_ref().ok_or_else(state::unknown)
    }

    /// Returns where the spans of runs go, if somebody collects them.
    pub(crate) fn telemetry(&self) -> Option<&Arc<SpanExporter>> {
        self.telemetry.as_ref()
    }

    /// Returns why nobody gets spans, although somebody wants them.
    pub(crate) fn no_telemetry(&self) -> Option<&str> {
        self.no_telemetry.as_deref()
    }

    /// Sends the spans that are left, and tells how many nobody has taken.
    pub(crate) async fn finish_telemetry(&self, output: &Output) {
        let Some(telemetry) = &self.telemetry else { return };
        match telemetry.finish().await {
            0 => {}
            unsent => output.note(&format!("warning: {unsent} spans were not delivered to the OTLP collector")),
        }
    }

    /// Carries out something that waits. What was noted for the ledger meanwhile is entered before this returns.
    pub(crate) fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(async {
            let done = work.await;
            if let (Some(trouble), Some(output)) = (self.ledger.settle().await, &self.output) {
                tell_trouble(&trouble, output);
            }
            done
        })
    }

    /// Returns the time.
    pub(crate) fn now(&self) -> jiff::Timestamp {
        self.clock.now()
    }
}

/// Warns that heads are not where they should be.
fn tell_trouble(trouble: &LedgerTrouble, output: &Output) {
    let later = "this is tried again with the next entry, or by `baton audit anchor`";
    output.note(&format!("warning: {}; {later}", printable(&trouble.to_string())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_are_suggested_name_the_store_without_its_password() {
        let repeated = |store: &str| {
            let config = Some(PathBuf::from("my baton.toml"));
            let options = StoreOptions { store: Some(store.to_owned()), config, token_file: None };
            options.repeated()
        };
        assert_eq!(repeated("a.db"), " --store a.db --config 'my baton.toml'");
        for url in ["postgres://u:secret@h:5/d", "postgresql://h/d?user=u&password=secret&x=1"] {
            let repeated = repeated(url);
            assert!(!repeated.contains("secret") && repeated.contains("h") && repeated.contains("/d"), "{repeated}");
        }
    }
}
