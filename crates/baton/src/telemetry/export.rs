//! Sends spans in the background. The queue has an end: a collector that is away costs spans, which are counted, and nothing
//! else.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::otlp::{self, Span};
use super::settings::TelemetrySettings;
use crate::http_client::{self, Outgoing, Reach};

/// How many spans wait for the collector.
const WAITING_MAX: usize = 2_048;

/// How many spans are sent together.
const BATCH: usize = 512;

/// How long the first span of a batch waits for others.
const LINGER: Duration = Duration::from_secs(1);

/// How long a request may take.
const REQUEST_LIMIT: Duration = Duration::from_secs(5);

/// How long to wait before each further attempt.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];

/// How long the end of the program waits for the collector.
const FINISH_LIMIT: Duration = Duration::from_secs(5);

/// Sends spans in the background.
pub(crate) struct SpanExporter {
    queue: Mutex<Option<mpsc::Sender<Span>>>,
    /// How many spans nobody has taken.
    unsent: Arc<AtomicU64>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl SpanExporter {
    /// Starts to send on a runtime.
    pub(crate) fn start(settings: TelemetrySettings, runtime: &tokio::runtime::Handle) -> SpanExporter {
        let (queue, waiting) = mpsc::channel(WAITING_MAX);
        let unsent = Arc::<AtomicU64>::default();
        let task = runtime.spawn(keep_sending(settings, waiting, Arc::clone(&unsent)));
        SpanExporter { queue: Mutex::new(Some(queue)), unsent, task: Mutex::new(Some(task)) }
    }

    /// Hands a span over. It never waits.
    pub(super) fn send(&self, span: Span) {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        // Counted before it is handed over, and taken off when somebody has it: whatever becomes of it in between is unsent.
        self.unsent.fetch_add(1, Ordering::Relaxed);
        if let Some(queue) = queue.as_ref() {
            let _ = queue.try_send(span);
        }
    }

    /// Sends what is left, for a few seconds at most. Returns how many spans nobody has taken.
    pub(crate) async fn finish(&self) -> u64 {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut task) = task
            && tokio::time::timeout(FINISH_LIMIT, &mut task).await.is_err()
        {
            task.abort();
        }
        self.unsent.load(Ordering::Relaxed)
    }
}

async fn keep_sending(settings: TelemetrySettings, mut waiting: mpsc::Receiver<Span>, unsent: Arc<AtomicU64>) {
    loop {
        let mut batch = Vec::new();
        if waiting.recv_many(&mut batch, BATCH).await == 0 {
            return;
        }
        let until = Instant::now() + LINGER;
        while batch.len() < BATCH {
            let room = BATCH - batch.len();
            match tokio::time::timeout_at(until, waiting.recv_many(&mut batch, room)).await {
                // The end of the queue, or of the time.
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
        }
        if deliver(&settings, &batch).await {
            unsent.fetch_sub(batch.len() as u64, Ordering::Relaxed);
        }
    }
}

/// Sends a batch. Returns whether the collector has it.
async fn deliver(settings: &TelemetrySettings, batch: &[Span]) -> bool {
    let body = hyper::body::Bytes::from(otlp::body(&settings.resource, batch).to_string());
    let mut pauses = PAUSES.into_iter();
    loop {
        let mut headers = settings.headers.clone();
        headers.push((CONTENT_TYPE, HeaderValue::from_static("application/json")));
        let outgoing = Outgoing { headers, body: body.clone() };
        let may_pass = match http_client::post(&settings.address, Reach::Anywhere, outgoing, REQUEST_LIMIT).await {
            Ok(answered) if answered.status.is_success() => return true,
            Ok(answered) => matches!(
                answered.status,
                StatusCode::TOO_MANY_REQUESTS
                    | StatusCode::BAD_GATEWAY
                    | StatusCode::SERVICE_UNAVAILABLE
                    | StatusCode::GATEWAY_TIMEOUT
            ),
            Err(fault) => fault.may_pass(),
        };
        match pauses.next().filter(|_| may_pass) {
            Some(pause) => tokio::time::sleep(pause).await,
            None => return false,
        }
    }
}
