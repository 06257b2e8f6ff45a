//! Notifies people when a run waits for them, so that they need not watch: through a command of the user's, and
//! webhooks. Whatever goes wrong with that is reported and never stops a run.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_agents::Launcher;
use baton_agents::process::{Environment, GRACE, Launch, Mark};
use baton_engine::Clock;
use baton_engine::agent::Job;
use baton_engine::driver::{Audience, News, Seen};
use baton_engine::people::Question;
use baton_engine::run::Run;
use baton_protocol::printable;
use tokio::task::JoinSet;

use super::webhook::{self, ReadyWebhook};
use crate::command_error::CommandError;
use crate::config::{NotifyCommand, PublicUrl};
use crate::output::Output;
use crate::random;
use crate::store::Session;

/// How long the command may take.
const COMMAND_LIMIT: Duration = Duration::from_secs(10);

/// Stands between a driver and its audience.
pub(super) struct Notifier {
    audience: Arc<dyn Audience>,
    command: Option<NotifyCommand>,
    webhooks: Vec<ReadyWebhook>,
    public_url: Option<PublicUrl>,
    clock: Arc<dyn Clock>,
    /// Where failures are reported at once; without it, at the end.
    log: Option<Output>,
    /// What goes on; each says why it failed, if it did.
    running: Mutex<JoinSet<Option<String>>>,
}

impl Notifier {
    /// Passes everything on to an audience. It fails if a secret cannot be read: nobody would learn that they are waited for.
    pub(super) fn before(
        audience: Arc<dyn Audience>,
        session: &Session,
        log: Option<Output>,
    ) -> Result<Notifier, CommandError> {
        let notifications = &session.notifications;
        Ok(Notifier {
            audience,
            command: notifications.command.clone(),
            webhooks: notifications.webhooks.iter().map(ReadyWebhook::of).collect::<Result<_, _>>()?,
            public_url: notifications.public_url.clone(),
            clock: session.clock.clone(),
            log,
            running: Mutex::default(),
        })
    }

    /// Waits for what goes on; returns why it failed.
    pub(super) async fn finish(&self) -> Vec<String> {
        let running = std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        running.join_all().await.into_iter().flatten().collect()
    }

    fn spawn(&self, telling: impl Future<Output = Option<String>> + Send + 'static) {
        let log = self.log;
        let told = async move {
            let failure = telling.await?;
            match log {
                Some(log) => {
                    warn(&log, &failure);
                    None
                }
                None => Some(failure),
            }
        };
        self.running.lock().unwrap_or_else(PoisonError::into_inner).spawn(told);
    }
}

/// Warns that somebody was not notified.
pub(super) fn warn(output: &Output, failure: &str) {
    output.note(&format!("warning: {}", printable(failure)));
}

impl Audience for Notifier {
    fn hear(&self, run: &Run, news: &News<'_>) {
        self.audience.hear(run, news);
        let News::Asks(question) = news else { return };
        if let Some(command) = &self.command {
            self.spawn(tell(launch(command, run, question)));
        }
        for webhook in &self.webhooks {
            let body = webhook::body(run, question, self.public_url.as_ref());
            self.spawn(webhook.clone().deliver(body, Arc::clone(&self.clock)));
        }
    }

    fn see(&self, job: &Job, seen: &Seen) {
        self.audience.see(job, seen);
    }
}

fn launch(command: &NotifyCommand, run: &Run, question: &Question) -> Launch {
    let mut environment = Environment::inherited();
    // A program may show what it gets in its own way; what an agent wrote must not look like something else there.
    let variables = [
        ("BATON_RUN", question.run.to_string()),
        ("BATON_HANDOFF_ID", question.handoff.to_string()),
        ("BATON_PHASE", question.phase.clone()),
        ("BATON_QUESTION", printable(&question.title)),
    ];
    variables.into_iter().for_each(|(name, value)| environment.set(name, value));
    let asked = run.find(&question.handoff).map(|tracked| baton_views::question::json(&tracked.handoff, question));
    Launch {
        arguments: vec!["-c".to_owned(), command.command.clone()],
        folder: Some(command.folder.clone()),
        environment,
        mark: Mark::new([("BATON_NOTIFY", random::word())]),
        input: asked.map(|asked| format!("{asked}\n").into_bytes()).unwrap_or_default(),
        may_gain_privileges: true,
        ..Launch::new("sh")
    }
}

async fn tell(launch: Launch) -> Option<String> {
    let why = match Launcher::default().run(launch, Some(COMMAND_LIMIT), GRACE).await {
        Ok(ended) => ended.failure()?.message,
        Err(error) => format!("it cannot be started: {error}"),
    };
    Some(format!("the command under [notify] failed: {why}"))
}
