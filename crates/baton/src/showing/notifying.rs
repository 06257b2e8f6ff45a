//! Runs a command of the user's when a person is waited for, so that they need not watch.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_agents::Launcher;
use baton_agents::process::{Environment, GRACE, Launch, Mark};
use baton_engine::agent::Job;
use baton_engine::driver::{Audience, News, Seen};
use baton_engine::people::Question;
use baton_engine::run::Run;
use baton_protocol::printable;
use tokio::task::JoinSet;

use crate::config::Notification;
use crate::random;

/// How long the command may take.
const COMMAND_LIMIT: Duration = Duration::from_secs(10);

/// Stands between a driver and its audience.
pub(super) struct Notifier {
    audience: Arc<dyn Audience>,
    notification: Option<Notification>,
    /// The commands that go on; each says why it failed, if it did.
    running: Mutex<JoinSet<Option<String>>>,
}

impl Notifier {
    /// Passes everything on to an audience.
    pub(super) fn before(audience: Arc<dyn Audience>, notification: Option<Notification>) -> Notifier {
        Notifier { audience, notification, running: Mutex::default() }
    }

    /// Waits for the commands that go on; returns why they failed.
    pub(super) async fn finish(&self) -> Vec<String> {
        let running = std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        running.join_all().await.into_iter().flatten().collect()
    }
}

impl Audience for Notifier {
    fn hear(&self, run: &Run, news: &News<'_>) {
        self.audience.hear(run, news);
        if let (News::Asks(question), Some(notification)) = (news, &self.notification) {
            let told = tell(launch(notification, run, question));
            self.running.lock().unwrap_or_else(PoisonError::into_inner).spawn(told);
        }
    }

    fn see(&self, job: &Job, seen: &Seen) {
        self.audience.see(job, seen);
    }
}

fn launch(notification: &Notification, run: &Run, question: &Question) -> Launch {
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
        arguments: vec!["-c".to_owned(), notification.command.clone()],
        folder: Some(notification.folder.clone()),
        environment,
        mark: Mark::new([("BATON_NOTIFY", random::word())]),
        input: asked.map(|asked| format!("{asked}\n").into_bytes()).unwrap_or_default(),
        ..Launch::new("sh")
    }
}

async fn tell(launch: Launch) -> Option<String> {
    match Launcher::default().run(launch, Some(COMMAND_LIMIT), GRACE).await {
        Ok(ended) => ended.failure().map(|failure| failure.message),
        Err(error) => Some(format!("it cannot be started: {error}")),
    }
}
