//! The canonical form of the three documents of a handoff.
//!
//! Every dialect is read into this and written from it. Members are optional because a broken document is
//! still looked at as a whole; what must be there is said by the dialects and the rules.

pub mod acknowledgment;
pub mod artifact;
pub mod findings;
pub mod report;
pub mod request;
pub mod terms;

pub use acknowledgment::Acknowledgment;
pub use artifact::{Artifact, SourceRange};
pub use findings::PhaseFindings;
pub use report::Report;
pub use request::Request;

use serde_json::{Map, Value};

use crate::wire::wire;

/// One of the three documents of a handoff.
#[derive(Debug, Clone, PartialEq)]
pub enum Document {
    /// What is asked.
    Request(Box<Request>),
    /// "Understood, starting", or not.
    Acknowledgment(Box<Acknowledgment>),
    /// What came back.
    Report(Box<Report>),
}

/// Which of the three documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// What is asked.
    Request,
    /// "Understood, starting", or not.
    Acknowledgment,
    /// What came back.
    Report,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 3] = [Kind::Request, Kind::Acknowledgment, Kind::Report];

    /// Returns the word used in every output.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Request => "request",
            Kind::Acknowledgment => "acknowledgment",
            Kind::Report => "report",
        }
    }
}

impl Document {
    /// Returns which document this is.
    pub fn kind(&self) -> Kind {
        match self {
            Document::Request(_) => Kind::Request,
            Document::Acknowledgment(_) => Kind::Acknowledgment,
            Document::Report(_) => Kind::Report,
        }
    }

    /// Returns what dialects said beyond the canonical form.
    pub fn extensions(&self) -> &[Extensions] {
        match self {
            Document::Request(request) => &request.extensions,
            Document::Acknowledgment(acknowledgment) => &acknowledgment.extensions,
            Document::Report(report) => &report.extensions,
        }
    }

    /// Returns what dialects said beyond the canonical form, to be changed.
    pub fn extensions_mut(&mut self) -> &mut Vec<Extensions> {
        match self {
            Document::Request(request) => &mut request.extensions,
            Document::Acknowledgment(acknowledgment) => &mut acknowledgment.extensions,
            Document::Report(report) => &mut report.extensions,
        }
    }
}

wire! {
    /// What a document said in its own dialect beyond the canonical form.
    pub struct Extensions {
        /// The dialect that the document was written in.
        required dialect: Option<String>,
        /// The values, by JSON pointer into the document as it was written.
        required fields: Map<String, Value>,
    }
}
