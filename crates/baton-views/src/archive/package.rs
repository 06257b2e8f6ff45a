//! A request as a package: the part of the archive that other readers of packages understand.

use baton_engine::handoff::{Handoff, WrittenDocument};
use baton_protocol::convert::convert;
use baton_protocol::model::request::{Party, Request};
use baton_protocol::{Dialect, Document, Hints};
use serde_json::{Value, json};

/// A request as a package.
pub(super) struct RequestPackage {
    /// The package.
    pub value: Value,
    /// What of the request a package cannot say, by pointer; the whole request if it cannot be read.
    pub losses: Vec<String>,
}

/// Writes the request of a handoff as a package. What the request leaves open comes from the handoff's terms.
pub(super) fn of(handoff: &Handoff, written: &WrittenDocument) -> RequestPackage {
    let dialect = Dialect::parse(&written.dialect);
    let reading = baton_protocol::read(written.text.as_bytes(), Hints { format: None, dialect });
    let converted = match (reading.document, reading.dialect) {
        (Some(Document::Request(request)), Some(dialect)) => {
            convert(&Document::Request(Box::new(completed(*request, handoff))), dialect, Dialect::Package).ok()
        }
        _ => None,
    };
    match converted {
        Some(conversion) => RequestPackage { value: conversion.value, losses: conversion.losses },
        None => RequestPackage { value: from_terms(handoff), losses: vec!["/".to_owned()] },
    }
}

/// Gives the request the id of the handoff, and what it does not say itself.
fn completed(mut request: Request, handoff: &Handoff) -> Request {
    request.id = Some(handoff.id.to_string());
    request.timestamp.get_or_insert_with(|| handoff.accepted_at.to_string());
    let name = |party: &mut Option<Party>, agent: &str| {
        party.get_or_insert_default().agent.get_or_insert_with(|| agent.to_owned());
    };
    name(&mut request.from, &handoff.terms.from);
    name(&mut request.to, &handoff.terms.to);
    // A package asks for its deliverable where others give instructions.
    if let Some(instructions) = &request.instructions {
        request.expectations.get_or_insert_default().deliverable.get_or_insert_with(|| instructions.clone());
    }
    request
}

fn from_terms(handoff: &Handoff) -> Value {
    json!({ "handoff": {
        "id": handoff.id.as_str(),
        "timestamp": handoff.accepted_at,
        "from": { "agent": handoff.terms.from },
        "to": { "agent": handoff.terms.to },
    } })
}
