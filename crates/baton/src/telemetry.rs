//! OpenTelemetry: what happens in a run becomes spans, which go to a collector over OTLP. Without a collector nothing here is
//! made; one that is away never slows or stops a run.

mod export;
mod otlp;
mod settings;
mod spans;

use std::sync::Arc;

use baton_engine::driver::Audience;

pub(crate) use export::SpanExporter;
pub(crate) use settings::{TelemetrySettings, TelemetryTable};
pub(crate) use spans::Tracer;

/// Lets an exporter see what an audience hears, if there is one.
pub(crate) fn traced(audience: Arc<dyn Audience>, exporter: Option<&Arc<SpanExporter>>) -> Arc<dyn Audience> {
    match exporter {
        Some(exporter) => Arc::new(Tracer::before(audience, Arc::clone(exporter))),
        None => audience,
    }
}
