//! The forms of answers in the description. `baton-views` writes them; a test compares real answers with what stands here, so that
//! neither says what the other does not.

use utoipa::openapi::schema::{AnyOfBuilder, ArrayBuilder, SchemaType};
use utoipa::openapi::{ObjectBuilder, Ref, RefOr, Schema, Type};

/// What a member of an answer is.
enum Member {
    /// One of these types.
    Plain(&'static [Type]),
    /// An object of this form.
    Form(&'static str),
    /// An object of this form, or nothing.
    FormOrNull(&'static str),
    /// A list of objects of this form.
    Forms(&'static str),
    /// A list of texts.
    Texts,
    /// A list of anything.
    List,
    /// Anything.
    Any,
}

use Member::{Any, Form, FormOrNull, Forms, List, Plain, Texts};

const TEXT: Member = Plain(&[Type::String]);
const TEXT_OR_NULL: Member = Plain(&[Type::String, Type::Null]);
const COUNT: Member = Plain(&[Type::Integer]);
const COUNT_OR_NULL: Member = Plain(&[Type::Integer, Type::Null]);
const NUMBER: Member = Plain(&[Type::Number]);
const NUMBER_OR_NULL: Member = Plain(&[Type::Number, Type::Null]);
const FLAG: Member = Plain(&[Type::Boolean]);
const OBJECT: Member = Plain(&[Type::Object]);

/// A form: its name, its members, and those that are not always there.
type AnswerShape = (&'static str, &'static [(&'static str, Member)], &'static [(&'static str, Member)]);

/// The forms of answers and of what is in them.
const SHAPES: &[AnswerShape] = &[
    (
        "Handoff",
        &[
            ("id", TEXT),
            ("run", TEXT),
            ("from", TEXT),
            ("to", TEXT),
            ("queue", TEXT),
            ("state", TEXT),
            ("priority", TEXT),
            ("attempts", COUNT),
            ("fence", COUNT),
            ("version", COUNT),
            ("ready_at", TEXT_OR_NULL),
            ("lease", FormOrNull("Lease")),
            ("blocked_reason", TEXT_OR_NULL),
            ("ask", TEXT_OR_NULL),
            ("choices", Texts),
            ("phase", TEXT_OR_NULL),
            ("not_before", TEXT_OR_NULL),
            ("deadline", TEXT_OR_NULL),
            ("timeout_seconds", NUMBER_OR_NULL),
            ("acknowledge", FLAG),
            ("acknowledge_within_seconds", NUMBER_OR_NULL),
            ("pick_up_within_seconds", NUMBER_OR_NULL),
            ("retry", OBJECT),
            ("key", TEXT_OR_NULL),
            ("returns_to", TEXT_OR_NULL),
            ("notes", Forms("Note")),
            ("failure", FormOrNull("Failure")),
            ("request_digest", TEXT),
            ("report_digest", TEXT_OR_NULL),
            ("accepted_at", TEXT),
            ("changed_at", TEXT),
            ("finished_at", TEXT_OR_NULL),
        ],
        &[],
    ),
    (
        "Lease",
        &[
            ("claimant", TEXT),
            ("since", TEXT),
            ("until", TEXT),
            ("length_seconds", NUMBER),
            ("acknowledged", FLAG),
            ("acknowledge_by", TEXT_OR_NULL),
        ],
        &[],
    ),
    ("Note", &[("about", TEXT), ("from", TEXT), ("text", TEXT), ("question", TEXT_OR_NULL)], &[]),
    (
        "Failure",
        &[("code", TEXT), ("message", TEXT), ("output", TEXT_OR_NULL), ("help", TEXT_OR_NULL), ("transient", FLAG)],
        &[],
    ),
    ("WrittenDocument", &[("dialect", TEXT), ("text", TEXT), ("document", Any), ("warnings", Texts)], &[]),
    (
        "JournalEvent",
        &[
            ("version", COUNT),
            ("run", TEXT),
            ("seq", COUNT),
            ("at", TEXT),
            ("handoff", TEXT),
            ("handoff_version", COUNT),
            ("phase", TEXT_OR_NULL),
            ("event", TEXT),
            ("detail", Any),
            ("hash", TEXT),
        ],
        &[],
    ),
    (
        "ExaminedClaim",
        &[("rule", TEXT), ("claim", TEXT), ("verdict", TEXT), ("seen", TEXT)],
        &[("path", TEXT), ("sha256", TEXT), ("mark", TEXT), ("allowed", TEXT), ("asks_person", FLAG)],
    ),
    (
        "Gate",
        &[
            ("id", TEXT),
            ("run", TEXT),
            ("phase", TEXT_OR_NULL),
            ("ask", TEXT),
            ("agent", TEXT),
            ("since", TEXT),
            ("title", TEXT),
            ("items", Texts),
            ("questions", Texts),
            ("options", List),
            ("choices", List),
            ("trouble", Plain(&[Type::Object, Type::Null])),
            ("examined", Forms("ExaminedClaim")),
            ("not_caged", Texts),
            ("inputs", OBJECT),
            ("decided_before", Texts),
            ("approval", Plain(&[Type::Object, Type::Null])),
            ("approvals", List),
            ("lapses_at", TEXT_OR_NULL),
            ("document", FormOrNull("WrittenDocument")),
            ("digest", TEXT),
        ],
        &[],
    ),
    (
        "Claim",
        &[
            ("handoff", Form("Handoff")),
            ("fence", COUNT),
            ("attempt", COUNT),
            ("acknowledge_by", TEXT_OR_NULL),
            ("notes", Forms("Note")),
            ("request", Form("WrittenDocument")),
            ("prompt", TEXT_OR_NULL),
            ("no_prompt", TEXT_OR_NULL),
            ("missing_artifacts", Texts),
            ("artifacts", List),
            ("traceparent", TEXT_OR_NULL),
        ],
        &[],
    ),
    (
        "ListedRun",
        &[
            ("run", TEXT),
            ("workflow", TEXT),
            ("state", TEXT),
            ("driven_by", TEXT_OR_NULL),
            ("last_heard_of_at", TEXT_OR_NULL),
            ("phases", Texts),
            ("waits_for", TEXT_OR_NULL),
            ("waiting", List),
            ("started_at", TEXT),
            ("finished_at", TEXT_OR_NULL),
            ("seconds", NUMBER),
            ("handoffs", COUNT),
            ("failure", TEXT_OR_NULL),
        ],
        &[],
    ),
    (
        "PhaseFigures",
        &[
            ("phase", TEXT),
            ("agent", TEXT),
            ("visits", COUNT),
            ("attempts", COUNT),
            ("seconds", NUMBER),
            ("tokens", COUNT),
            ("spent", OBJECT),
            ("evidence", OBJECT),
            ("outcome", TEXT),
        ],
        &[],
    ),
    (
        "Run",
        &[
            ("version", COUNT),
            ("run", TEXT),
            ("workflow", TEXT),
            ("state", TEXT),
            ("driven_by", TEXT_OR_NULL),
            ("failure", TEXT_OR_NULL),
            ("inputs", OBJECT),
            ("workspace", TEXT),
            ("started_at", TEXT),
            ("finished_at", TEXT_OR_NULL),
            ("handoff", Form("Handoff")),
            ("phases", Forms("PhaseFigures")),
            ("totals", Form("PhaseFigures")),
            ("going_on", List),
            ("waiting", Forms("Gate")),
        ],
        &[],
    ),
    (
        "Agent",
        &[("agent", TEXT), ("paused", FLAG), ("limit", COUNT_OR_NULL), ("handoffs", OBJECT)],
        &[("recent", OBJECT)],
    ),
    ("AgentSettings", &[("agent", TEXT), ("paused", FLAG), ("limit", COUNT_OR_NULL)], &[]),
    (
        "Workflow",
        &[("name", TEXT), ("description", TEXT_OR_NULL), ("inputs", OBJECT), ("phases", Texts), ("agents", Texts)],
        &[],
    ),
    (
        "Diagnostic",
        &[
            ("code", TEXT),
            ("severity", TEXT),
            ("message", TEXT),
            ("pointer", TEXT),
            ("line", COUNT),
            ("column", COUNT),
            ("help", TEXT_OR_NULL),
        ],
        &[("reason", TEXT)],
    ),
    ("HandoffList", &[("version", COUNT), ("handoffs", Forms("Handoff")), ("next", TEXT_OR_NULL)], &[]),
    ("SentHandoff", &[("version", COUNT), ("existing", FLAG), ("handoff", Form("Handoff"))], &[]),
    (
        "HandoffDetails",
        &[
            ("version", COUNT),
            ("handoff", Form("Handoff")),
            ("request", Form("WrittenDocument")),
            ("report", FormOrNull("WrittenDocument")),
            ("examined", Forms("ExaminedClaim")),
            ("question", FormOrNull("Gate")),
            ("events", Forms("JournalEvent")),
        ],
        &[],
    ),
    ("ClaimList", &[("version", COUNT), ("claims", Forms("Claim")), ("held", TEXT_OR_NULL)], &[]),
    ("ChangedHandoff", &[("version", COUNT), ("handoff", Form("Handoff"))], &[("repeated", FLAG)]),
    ("GateList", &[("version", COUNT), ("waiting", Forms("Gate")), ("next", TEXT_OR_NULL), ("more", COUNT)], &[]),
    ("ShownGate", &[("version", COUNT), ("gate", Form("Gate"))], &[]),
    ("RunList", &[("version", COUNT), ("runs", Forms("ListedRun")), ("next", TEXT_OR_NULL)], &[]),
    ("StartedRun", &[("version", COUNT), ("run", TEXT)], &[("existing", FLAG), ("handoff", Form("Handoff"))]),
    (
        "JournalPage",
        &[("version", COUNT), ("run", TEXT), ("events", Forms("JournalEvent")), ("next", COUNT_OR_NULL)],
        &[],
    ),
    ("AgentList", &[("version", COUNT), ("agents", Forms("Agent"))], &[]),
    ("ShownAgent", &[("version", COUNT), ("agent", Form("Agent"))], &[]),
    ("ChangedAgent", &[("version", COUNT), ("agent", Form("AgentSettings"))], &[]),
    ("WorkflowList", &[("version", COUNT), ("workflows", Forms("Workflow"))], &[]),
    ("ShownWorkflow", &[("version", COUNT), ("workflow", Form("Workflow"))], &[]),
    (
        "CheckedDocument",
        &[
            ("version", COUNT),
            ("dialect", TEXT_OR_NULL),
            ("document", TEXT_OR_NULL),
            ("valid", FLAG),
            ("diagnostics", Forms("Diagnostic")),
            ("allowed", Forms("Diagnostic")),
        ],
        &[],
    ),
];

/// Which form an operation answers with when it had an effect.
const ANSWERS: &[(&str, &str)] = &[
    ("handoffs_list", "HandoffList"),
    ("handoffs_send", "SentHandoff"),
    ("handoffs_show", "HandoffDetails"),
    ("work_claim", "ClaimList"),
    ("work_acknowledge", "ChangedHandoff"),
    ("work_heartbeat", "ChangedHandoff"),
    ("work_report", "ChangedHandoff"),
    ("work_fail", "ChangedHandoff"),
    ("handoffs_cancel", "ChangedHandoff"),
    ("handoffs_requeue", "ChangedHandoff"),
    ("gates_list", "GateList"),
    ("gates_show", "ShownGate"),
    ("gates_decide", "ChangedHandoff"),
    ("runs_list", "RunList"),
    ("runs_start", "StartedRun"),
    ("runs_show", "Run"),
    ("runs_cancel", "ChangedHandoff"),
    ("runs_resume", "StartedRun"),
    ("runs_retry", "StartedRun"),
    ("runs_journal", "JournalPage"),
    ("agents_list", "AgentList"),
    ("agents_show", "ShownAgent"),
    ("agents_set", "ChangedAgent"),
    ("workflows_list", "WorkflowList"),
    ("workflows_show", "ShownWorkflow"),
    ("check_check", "CheckedDocument"),
];

/// Returns all forms, each with its name.
pub(super) fn forms() -> impl Iterator<Item = (String, RefOr<Schema>)> {
    SHAPES.iter().map(|(name, members, sometimes)| {
        let mut object = ObjectBuilder::new().schema_type(Type::Object);
        for (member, what) in *members {
            object = object.property(*member, what.schema()).required(*member);
        }
        for (member, what) in *sometimes {
            object = object.property(*member, what.schema());
        }
        ((*name).to_owned(), RefOr::T(Schema::Object(object.build())))
    })
}

/// Returns the form that an operation answers with, if it is described.
pub(super) fn of_operation(operation: &str) -> Option<Ref> {
    let (_, form) = ANSWERS.iter().find(|(name, _)| *name == operation)?;
    Some(Ref::from_schema_name(*form))
}

impl Member {
    fn schema(&self) -> RefOr<Schema> {
        let plain = |types: &[Type]| match types {
            [only] => ObjectBuilder::new().schema_type(only.clone()).build(),
            several => ObjectBuilder::new().schema_type(SchemaType::from_iter(several.iter().cloned())).build(),
        };
        let list = |items: RefOr<Schema>| RefOr::T(Schema::Array(ArrayBuilder::new().items(items).build()));
        let anything = || ObjectBuilder::new().schema_type(SchemaType::AnyValue).build();
        match self {
            Plain(types) => RefOr::T(Schema::Object(plain(types))),
            Form(name) => RefOr::Ref(Ref::from_schema_name(*name)),
            FormOrNull(name) => RefOr::T(Schema::AnyOf(
                AnyOfBuilder::new().item(Ref::from_schema_name(*name)).item(plain(&[Type::Null])).build(),
            )),
            Forms(name) => list(RefOr::Ref(Ref::from_schema_name(*name))),
            Texts => list(RefOr::T(Schema::Object(plain(&[Type::String])))),
            List => list(RefOr::T(Schema::Object(anything()))),
            Any => RefOr::T(Schema::Object(anything())),
        }
    }
}
