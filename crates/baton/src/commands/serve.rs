//! `baton serve`: the page and the HTTP API over a store, and the driving of runs.

use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use baton_server::{Exposure, RunDriving, Server, ServerLimits, ServerParts, TlsIdentity, Transport, serve};
use clap::Args;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::command_error::{CommandError, Exit};
use crate::config::PublicUrl;
use crate::output::Output;
use crate::serving::{ServedRuns, ServerMachine};
use crate::store::{Access, Session, StoreOptions};
use baton_engine::engine::parse_duration;

/// Serve the page and the HTTP API over a store, and drive runs
///
/// People see and decide in a browser, agents claim and report over HTTP, programs start runs and follow them live. Runs that are started through
/// the server are driven by it; several servers on one PostgreSQL store share the work, and take over the runs of one that
/// died. After SIGTERM or SIGINT it takes no new work, lets attempts that are under way end for up to --finish-within, stops those that
/// have not, and releases the runs; a second signal ends it at once.
///
/// On 127.0.0.1 nobody needs a token until the first one is created with `baton token create`; decisions always need the
/// token of an approver. On any other address the server only starts if there are tokens, and only with TLS: its own
/// (--tls-cert, --tls-key), or that of a proxy in front of it (--behind-proxy).
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton serve\n  baton serve --workflow examples/feature --workspace /srv/demo\n  \
baton token create --role approver && baton serve --listen 0.0.0.0:4848 --tls-cert chain.pem --tls-key key.pem")]
pub(crate) struct Options {
    /// The address to listen on; port 0 means any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4848", value_parser = address)]
    listen: SocketAddr,
    /// A workflow that runs can be started from, or its folder; may be given several times [default: this folder, if it has
    /// one]
    #[arg(long = "workflow", value_name = "PATH")]
    workflows: Vec<PathBuf>,
    /// Where the agents of runs work
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,
    /// Others reach it through a proxy that adds TLS
    #[arg(long, conflicts_with = "tls_cert")]
    behind_proxy: bool,
    /// Speak TLS with this certificate and those above it, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// How long attempts that are under way may go on after SIGTERM or SIGINT; 0s stops them at once
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = parse_duration)]
    finish_within: Duration,
    /// Where people find this server, for links in notifications [default: `public_url` under `[server]`]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// How long to wait for a handshake, the head of a request and its body, for tests
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, hide = true)]
    patience: Option<Duration>,
    /// How many connections there are at once, for tests
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), hide = true)]
    connections: Option<u32>,
    /// How many wrong tokens of one address are simply refused in a minute, for tests
    #[arg(long, value_name = "N", hide = true)]
    wrong_tokens: Option<u32>,
    /// Print the address as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let config = options.store.configuration()?;
    if !options.workspace.is_dir() {
        let message = format!("--workspace: there is no folder {}", options.workspace.display());
        return Err(CommandError::usage(message).hint("make the folder, or name another one"));
    }
    let mut session = Session::open_to_serve(&options.store, Access::Change, output)?;
    if let Some(url) = &options.public_url {
        let wrong = |error: CommandError| CommandError::usage(format!("--public-url: {}", error.message));
        session.notifications.public_url = Some(PublicUrl::parse(url).map_err(wrong)?);
    }
    // Nobody would be told later that a run waits.
    session.notifications.webhooks.iter().try_for_each(|webhook| webhook.key().map(drop))?;
    if let Some(why) = session.no_telemetry() {
        output.note(&format!("warning: no spans are sent: {why}"));
    }
    let session = Arc::new(session);
    let exposure = exposure(options, &session)?;
    let workflows = match options.workflows.is_empty() {
        true => vec![PathBuf::from(".")],
        false => options.workflows.clone(),
    };
    let machine = ServerMachine::new(Arc::clone(&session), config, workflows, options.workspace.clone(), *output);
    machine.check(&options.workflows)?;
    let parts = ServerParts {
        engine: session.engine.clone(),
        driving: RunDriving::through(Arc::new(ServedRuns::new(Arc::clone(&session), options.finish_within, *output))),
        host: Arc::new(machine),
        exposure,
        transport: transport(options),
        limits: limits(options),
    };
    session.run(async {
        let signals = signals()?;
        let unusable = |error| cannot_listen(options.listen, &error);
        let listener = TcpListener::bind(options.listen).await.map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        let tls = tls(options)?;
        let url = format!("{}://{address}", if tls.is_some() { "https" } else { "http" });
        match options.json {
            true => output.data(&format!("{}\n", json!({ "version": 1, "url": url })))?,
            false => output.data(&format!("listening on {url}\n"))?,
        }
        let hurry = told(signals.clone(), 2);
        let served = serve(listener, tls, Server::new(parts), told(signals, 1));
        tokio::select! {
            () = served => {}
            // Whoever asks twice does not want to wait: what runs is ended by whoever takes the runs over.
            () = hurry => return Err(CommandError::no("stopped before everything was given back")),
        }
        session.finish_telemetry(output).await;
        output.note("stopped");
        Ok(Exit::Done)
    })
}

/// Reads an address to listen on. Only one name is known without asking anybody.
fn address(text: &str) -> Result<SocketAddr, String> {
    let numbers = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    numbers.parse().map_err(|_| "write ADDRESS:PORT, such as 127.0.0.1:4848, localhost:4848 or [::1]:4848".to_owned())
}

fn cannot_listen(address: SocketAddr, error: &io::Error) -> CommandError {
    match error.kind() {
        io::ErrorKind::AddrInUse => CommandError::usage(format!(
            "cannot listen on {address}: another program listens there"
        ))
        .hint(format!("name another port: --listen {}, where 0 means any free one", SocketAddr::new(address.ip(), 0))),
        _ => CommandError::usage(format!("cannot listen on {address}: {error}")),
    }
}

/// Returns who can reach the server; refuses what would let in strangers.
fn exposure(options: &Options, session: &Session) -> Result<Exposure, CommandError> {
    if options.listen.ip().to_canonical().is_loopback() && !options.behind_proxy {
        return Ok(Exposure::Loopback);
    }
    let (tokens, now) = (session.run(session.store.tokens())?, session.now());
    if !tokens.iter().any(|token| token.opened_by().is_none() && token.is_valid_at(now)) {
        let message = format!("{} can be reached by others, and there is no token", shown(options.listen.ip()));
        return Err(CommandError::usage(message).hint("create one first: baton token create --role approver"));
    }
    if !options.behind_proxy && options.tls_cert.is_none() {
        let message =
            format!("{} can be reached by others, and tokens would travel unencrypted", shown(options.listen.ip()));
        return Err(CommandError::usage(message)
            .hint("give --tls-cert and --tls-key, put a proxy with TLS in front of it and say --behind-proxy, or listen on 127.0.0.1"));
    }
    Ok(Exposure::Network)
}

fn transport(options: &Options) -> Transport {
    match (options.behind_proxy, &options.tls_cert) {
        (true, _) => Transport::Proxy,
        (false, Some(_)) => Transport::Tls,
        (false, None) => Transport::Plain,
    }
}

/// Reads the certificate and its key, if TLS is wanted.
fn tls(options: &Options) -> Result<Option<TlsIdentity>, CommandError> {
    let (Some(certificate), Some(key)) = (&options.tls_cert, &options.tls_key) else { return Ok(None) };
    let read = |path: &PathBuf| {
        fs::read(path).map_err(|error| CommandError::usage(format!("cannot read {}: {error}", path.display())))
    };
    TlsIdentity::of(&read(certificate)?, &read(key)?).map(Some).map_err(CommandError::usage)
}

/// Returns what callers may take of the server.
fn limits(options: &Options) -> ServerLimits {
    let usual = ServerLimits::default();
    let connections = options.connections.unwrap_or(usual.connections);
    let wrong_tokens = options.wrong_tokens.unwrap_or(usual.wrong_tokens);
    let limits = ServerLimits { connections, wrong_tokens, ..usual };
    match options.patience {
        Some(patience) => ServerLimits { handshake: patience, head: patience, body: patience, ..limits },
        None => limits,
    }
}

fn shown(address: IpAddr) -> String {
    if address.is_unspecified() { format!("{address} (every address of this machine)") } else { address.to_string() }
}

/// Counts how often this process was asked to end.
fn signals() -> Result<watch::Receiver<u32>, CommandError> {
    let failed = |error| CommandError::internal(format!("cannot listen to signals: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let (count, counted) = watch::channel(0);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            count.send_modify(|count| *count += 1);
        }
    });
    Ok(counted)
}

/// Waits until this process was asked so often to end.
async fn told(mut signals: watch::Receiver<u32>, times: u32) {
    if signals.wait_for(|count| *count >= times).await.is_err() {
        std::future::pending::<()>().await;
    }
}
