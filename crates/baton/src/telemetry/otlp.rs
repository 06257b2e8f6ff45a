//! Spans as OTLP writes them in JSON.

use jiff::Timestamp;
use serde_json::{Value, json};

/// Something that took a while.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    pub(super) trace: String,
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) name: String,
    pub(super) began: Timestamp,
    pub(super) ended: Timestamp,
    pub(super) attributes: Vec<(&'static str, Value)>,
    pub(super) events: Vec<SpanEvent>,
    /// Why it failed.
    pub(super) error: Option<String>,
}

/// Something that happened meanwhile.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SpanEvent {
    pub(super) at: Timestamp,
    pub(super) name: &'static str,
    pub(super) attributes: Vec<(&'static str, Value)>,
}

/// Returns the body that a collector takes.
pub(super) fn body(resource: &[(String, String)], spans: &[Span]) -> Value {
    let resource: Vec<Value> = resource.iter().map(|(key, text)| attribute(key, &json!(text))).collect();
    json!({ "resourceSpans": [{
        "resource": { "attributes": resource },
        "scopeSpans": [{
            "scope": { "name": "baton", "version": env!("CARGO_PKG_VERSION") },
            "spans": spans.iter().map(span).collect::<Vec<_>>(),
        }],
    }] })
}

fn span(span: &Span) -> Value {
    let events: Vec<Value> = span.events.iter().map(|event| {
        json!({ "timeUnixNano": time(event.at), "name": event.name, "attributes": attributes(&event.attributes) })
    }).collect();
    let mut written = json!({
        "traceId": span.trace,
        "spanId": span.id,
        "name": span.name,
        // Internal: Baton itself does it.
        "kind": 1,
        "startTimeUnixNano": time(span.began),
        "endTimeUnixNano": time(span.ended.max(span.began)),
        "attributes": attributes(&span.attributes),
        "events": events,
        "status": match &span.error {
            Some(why) => json!({ "code": 2, "message": why }),
            None => json!({}),
        },
    });
    if let Some(parent) = &span.parent {
        written["parentSpanId"] = json!(parent);
    }
    written
}

fn attributes(attributes: &[(&'static str, Value)]) -> Vec<Value> {
    attributes.iter().map(|(key, value)| attribute(key, value)).collect()
}

fn attribute(key: &str, value: &Value) -> Value {
    let value = match value {
        Value::Bool(value) => json!({ "boolValue": value }),
        // 64-bit numbers are text in the JSON of Protocol Buffers.
        Value::Number(number) if number.is_f64() => json!({ "doubleValue": number }),
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        Value::String(text) => json!({ "stringValue": text }),
        other => json!({ "stringValue": other.to_string() }),
    };
    json!({ "key": key, "value": value })
}

fn time(at: Timestamp) -> String {
    at.as_nanosecond().max(0).to_string()
}
