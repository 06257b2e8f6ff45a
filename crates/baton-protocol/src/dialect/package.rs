//! The package: YAML with a `handoff` or `acknowledgment` root, between agents and to people.

use schemars::Schema;
use serde_json::{Map, Value};

use super::{marks, schema_of};
use crate::model::acknowledgment::Understanding;
use crate::model::artifact::Artifact;
use crate::model::request::{self, DecisionMade, OpenQuestion, WorkflowState};
use crate::model::terms::{GateType, HandoffKind};
use crate::model::{Acknowledgment, Document, Kind, Request};
use crate::tree::Node;
use crate::wire::{Label, Reader, Wire, wire};

/// Where the canonical members of a request stand.
const REQUEST_POINTERS: &[(&str, &str)] = &[
    ("", "/handoff"),
    ("/workflow", "/handoff/workflow_state"),
    ("/gate/items", "/handoff/validation_request/items"),
    ("/gate/options", "/handoff/validation_request/options"),
];

/// Where the canonical members of an acknowledgment stand.
const ACKNOWLEDGMENT_POINTERS: &[(&str, &str)] = &[
    ("", "/acknowledgment"),
    ("/understanding", "/acknowledgment/understood"),
    ("/task", "/acknowledgment/understood/task"),
    ("/constraints", "/acknowledgment/understood/constraints"),
    ("/constraints/0", "/acknowledgment/understood/constraints/0"),
    ("/constraints/0", "/acknowledgment/understood/constraints"),
];

wire! {
    /// A structured transfer of context and responsibility.
    pub struct Package {
        /// The handoff.
        required handoff: Option<PackageHandoff>,
    }

    /// What is handed over, by whom, to whom.
    pub struct PackageHandoff {
        /// Identifier, such as `HO-2024-001`.
        optional id: Option<String>,
        /// When it was made, in ISO 8601.
        optional timestamp: Option<String>,
        /// Why it is handed over; told from the rest if it is not said.
        optional kind: Option<HandoffKind>,
        /// Who hands over.
        required from: Option<Sender>,
        /// Who is to receive.
        required to: Option<Receiver>,
        /// The transferred context.
        required context: Option<PackageContext>,
        /// What is wanted back.
        optional expectations: Option<PackageExpectations>,
        /// Where the workflow is.
        optional workflow_state: Option<WorkflowState>,
        /// The gate that was reached.
        optional gate: Option<PackageGate>,
        /// What a person is asked to validate.
        optional validation_request: Option<ValidationRequest>,
        /// A reviewer's verdict on somebody else's work: `APPROVED` or `CHANGES_REQUESTED`.
        optional verdict: Option<String>,
    }

    /// Who hands over.
    pub struct Sender {
        /// Name of the agent.
        required agent: Option<String>,
        /// Its step of the workflow; null outside of it.
        optional step: Option<Label>,
    }

    /// Who is to receive.
    pub struct Receiver {
        /// Name of the agent; `human` for a person.
        required agent: Option<String>,
        /// Why this one.
        optional reason: Option<String>,
    }

    /// The transferred context.
    pub struct PackageContext {
        /// What was done, in two or three sentences.
        required summary: Option<String>,
        /// What was decided.
        optional decisions: Vec<DecisionMade>,
        /// Every file that was made, with its exact path.
        optional artifacts: Vec<Artifact>,
        /// What is not settled.
        optional open_questions: Vec<OpenQuestion>,
    }

    /// What is wanted back.
    pub struct PackageExpectations {
        /// What to deliver.
        optional deliverable: Option<String>,
        /// What to respect.
        optional constraints: Vec<String>,
        /// How success is recognised; each measurable.
        optional success_criteria: Vec<String>,
    }

    /// A gate that was reached.
    pub struct PackageGate {
        /// How strictly it waits.
        optional r#type: Option<GateType>,
        /// Its name.
        optional name: Option<String>,
        /// The step that it guards.
        optional step: Option<Label>,
    }

    /// What a person is asked to validate.
    pub struct ValidationRequest {
        /// The points to validate.
        optional items: Vec<String>,
        /// What can be answered, and what each answer means.
        optional options: Map<String, Value>,
    }

    /// Receipt of a package.
    pub struct Receipt {
        /// The acknowledgment.
        required acknowledgment: Option<PackageAcknowledgment>,
    }

    /// "Understood, starting", or not.
    pub struct PackageAcknowledgment {
        /// Identifier of the handoff.
        optional id: Option<String>,
        /// Whether the package arrived.
        required received: Option<bool>,
        /// Who had sent it.
        optional from: Option<String>,
        /// What was understood: the task and constraints in own words, or just how far.
        required understood: Option<PackageUnderstanding>,
        /// What must be clarified.
        optional questions: Vec<String>,
        /// What is in the way.
        optional blockers: Vec<String>,
        /// What the receiver asks for.
        optional action: Option<String>,
        /// Whether the work begins.
        optional starting: Option<bool>,
    }

    /// The task and constraints in the receiver's own words.
    pub struct OwnWords {
        /// The task.
        optional task: Option<String>,
        /// The constraints.
        optional constraints: Option<Sentences>,
    }
}

/// One sentence or several.
#[derive(Debug, Clone, PartialEq)]
pub enum Sentences {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl Wire for Sentences {
    const EXPECTED: &'static str = "text or a list of texts";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        match node {
            Node::List(items) => {
                // A list of one would be written back as text.
                if let [only] = &items[..] {
                    reader.keep(Value::Array(vec![only.clone().into_json()]));
                }
                let mut sentences = Vec::new();
                crate::wire::Member::fill(&mut sentences, Node::List(items), reader);
                Some(Sentences::Several(sentences))
            }
            node => String::read(node, reader).map(Sentences::One),
        }
    }

    fn write(&self) -> Value {
        match self {
            Sentences::One(sentence) => sentence.as_str().into(),
            Sentences::Several(sentences) => sentences.clone().into(),
        }
    }
}

impl schemars::JsonSchema for Sentences {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sentences".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> Schema {
        schemars::json_schema!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
    }
}

/// What was understood.
#[derive(Debug, Clone, PartialEq)]
pub enum PackageUnderstanding {
    /// In own words.
    OwnWords(OwnWords),
    /// Just how far.
    Degree(Understanding),
}

impl Wire for PackageUnderstanding {
    const EXPECTED: &'static str = "an object, or full, partial or none";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        match node {
            Node::Object(_) => OwnWords::read(node, reader).map(PackageUnderstanding::OwnWords),
            Node::Bool(understood) => {
                reader.keep(Value::Bool(understood));
                Some(PackageUnderstanding::Degree(if understood { Understanding::Full } else { Understanding::None }))
            }
            node => Understanding::read(node, reader).map(PackageUnderstanding::Degree),
        }
    }

    fn write(&self) -> Value {
        match self {
            PackageUnderstanding::OwnWords(words) => words.write(),
            PackageUnderstanding::Degree(degree) => degree.write(),
        }
    }
}

impl schemars::JsonSchema for PackageUnderstanding {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Understood".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> Schema {
        let words = generator.subschema_for::<OwnWords>();
        let degree = generator.subschema_for::<Understanding>();
        schemars::json_schema!({ "anyOf": [words, degree, { "type": "boolean" }] })
    }
}

pub(super) fn pointers(kind: Kind) -> &'static [(&'static str, &'static str)] {
    match kind {
        Kind::Acknowledgment => ACKNOWLEDGMENT_POINTERS,
        Kind::Request | Kind::Report => REQUEST_POINTERS,
    }
}

pub(super) fn detect(node: &Node<'_>) -> bool {
    let handoff = node.get("handoff");
    node.get("acknowledgment").is_some_and(|receipt| receipt.has("received") || receipt.has("understood"))
        || handoff.is_some_and(|handoff| marks(handoff, &["from", "to", "gate", "expectations", "workflow_state"]) >= 1)
}

pub(super) fn read(node: Node<'_>, reader: &mut Reader) -> Option<Document> {
    if node.has("acknowledgment") && !node.has("handoff") {
        let receipt = Receipt::read(node, reader)?.acknowledgment?;
        return Some(Document::Acknowledgment(Box::new(receipt.into_acknowledgment())));
    }
    let handoff = node.get("handoff");
    let outside_workflow = handoff.and_then(|handoff| handoff.get("from")?.get("step")) == Some(&Node::Null);
    let mut request = Package::read(node, reader)?.handoff?.into_request();
    // A party that says it is outside the workflow hands back to the one inside.
    let inside = matches!(request.told_kind(), HandoffKind::Sequential | HandoffKind::Delegation);
    if outside_workflow && inside && request.kind.is_none() {
        request.kind = Some(HandoffKind::Return);
    }
    Some(Document::Request(Box::new(request)))
}

pub(super) fn write(document: &Document) -> Option<Value> {
    match document {
        Document::Request(request) => Some(Package { handoff: Some(PackageHandoff::of_request(request)) }.write()),
        Document::Acknowledgment(acknowledgment) => {
            Some(Receipt { acknowledgment: Some(PackageAcknowledgment::of(acknowledgment)) }.write())
        }
        Document::Report(_) => None,
    }
}

pub(super) fn schemas() -> Vec<(&'static str, Schema)> {
    vec![("package.request", schema_of::<Package>()), ("package.acknowledgment", schema_of::<Receipt>())]
}

impl PackageHandoff {
    fn into_request(self) -> Request {
        let gate = (self.gate.is_some() || self.validation_request.is_some()).then(|| {
            let (gate, asked) = (self.gate.unwrap_or_default(), self.validation_request.unwrap_or_default());
            request::Gate {
                r#type: gate.r#type,
                name: gate.name,
                step: gate.step,
                items: asked.items,
                options: asked.options,
            }
        });
        Request {
            id: self.id,
            timestamp: self.timestamp,
            kind: self.kind,
            from: self.from.map(|from| request::Party { agent: from.agent, step: from.step, ..Default::default() }),
            to: self.to.map(|to| request::Party { agent: to.agent, reason: to.reason, ..Default::default() }),
            context: self.context.map(|context| request::Context {
                summary: context.summary,
                decisions: context.decisions,
                artifacts: context.artifacts,
                open_questions: context.open_questions,
                ..Default::default()
            }),
            expectations: self.expectations.map(|expected| request::Expectations {
                deliverable: expected.deliverable,
                constraints: expected.constraints,
                success_criteria: expected.success_criteria,
                ..Default::default()
            }),
            workflow: self.workflow_state,
            verdict: self.verdict,
            gate,
            ..Request::default()
        }
    }

    fn of_request(request: &Request) -> Self {
        let mut package = PackageHandoff {
            id: request.id.clone(),
            timestamp: request.timestamp.clone(),
            kind: request.kind,
            from: request.from.as_ref().map(|from| Sender { agent: from.agent.clone(), step: from.step.clone() }),
            to: request.to.as_ref().map(|to| Receiver { agent: to.agent.clone(), reason: to.reason.clone() }),
            context: context_of(request),
            expectations: expectations_of(request),
            workflow_state: request.workflow.clone(),
            gate: None,
            validation_request: None,
            verdict: request.verdict.clone(),
        };
        if let Some(gate) = &request.gate {
            let own = PackageGate { r#type: gate.r#type, name: gate.name.clone(), step: gate.step.clone() };
            let asked = ValidationRequest { items: gate.items.clone(), options: gate.options.clone() };
            package.gate = (own != PackageGate::default()).then_some(own);
            package.validation_request = (asked != ValidationRequest::default()).then_some(asked);
        }
        package
    }
}

fn context_of(request: &Request) -> Option<PackageContext> {
    let context = request.context.clone().unwrap_or_default();
    let package = PackageContext {
        summary: context.summary.or_else(|| request.instructions.clone()),
        decisions: context.decisions,
        artifacts: context.artifacts,
        open_questions: context.open_questions,
    };
    (package != PackageContext::default()).then_some(package)
}

fn expectations_of(request: &Request) -> Option<PackageExpectations> {
    let expected = request.expectations.clone().unwrap_or_default();
    let has_own_summary = request.context.as_ref().is_some_and(|context| context.summary.is_some());
    let package = PackageExpectations {
        deliverable: expected.deliverable.or_else(|| request.instructions.clone().filter(|_| has_own_summary)),
        constraints: expected.constraints,
        success_criteria: expected.success_criteria,
    };
    (package != PackageExpectations::default()).then_some(package)
}

impl PackageAcknowledgment {
    fn into_acknowledgment(self) -> Acknowledgment {
        let (understanding, words) = match self.understood {
            Some(PackageUnderstanding::OwnWords(words)) => (None, words),
            Some(PackageUnderstanding::Degree(degree)) => (Some(degree), OwnWords::default()),
            None => (None, OwnWords::default()),
        };
        Acknowledgment {
            id: self.id,
            received: self.received,
            from: self.from,
            understanding,
            task: words.task,
            constraints: match words.constraints {
                Some(Sentences::One(sentence)) => vec![sentence],
                Some(Sentences::Several(sentences)) => sentences,
                None => Vec::new(),
            },
            questions: self.questions,
            blockers: self.blockers,
            action: self.action,
            starting: self.starting,
            extensions: Vec::new(),
        }
    }

    fn of(acknowledgment: &Acknowledgment) -> Self {
        let constraints = match &acknowledgment.constraints[..] {
            [] => None,
            [sentence] => Some(Sentences::One(sentence.clone())),
            sentences => Some(Sentences::Several(sentences.to_vec())),
        };
        let words = OwnWords { task: acknowledgment.task.clone(), constraints };
        let understood = match (words == OwnWords::default(), acknowledgment.understanding) {
            (true, Some(degree)) => Some(PackageUnderstanding::Degree(degree)),
            (true, None) => None,
            (false, _) => Some(PackageUnderstanding::OwnWords(words)),
        };
        PackageAcknowledgment {
            id: acknowledgment.id.clone(),
            received: acknowledgment.received,
            from: acknowledgment.from.clone(),
            understood,
            questions: acknowledgment.questions.clone(),
            blockers: acknowledgment.blockers.clone(),
            action: acknowledgment.action.clone(),
            starting: acknowledgment.starting,
        }
    }
}
