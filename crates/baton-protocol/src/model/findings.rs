//! What the four phases of the task dialect find, as typed structures.

use serde_json::{Map, Number, Value};

use super::terms::TaskPhase;
use crate::tree::Node;
use crate::wire::{Reader, Wire, vocabulary, wire};

vocabulary! {
    /// How much an existing implementation matters.
    pub enum Relevance, "relevance", findings_shape {
        /// Directly.
        High = "high",
        /// Somewhat.
        Medium = "medium",
        /// Hardly.
        Low = "low",
    }

    /// What kind of conflict it is.
    pub enum ConflictType, "type of conflict", findings_shape {
        /// A name is taken, or means something else.
        Naming = "naming",
        /// Things are done in another way here.
        Pattern = "pattern",
        /// Something else is needed, or in the way.
        Dependency = "dependency",
    }

    /// How bad a conflict is.
    pub enum ConflictSeverity, "severity", findings_shape {
        /// Must be solved first.
        Critical = "critical",
        /// Should be solved.
        Warning = "warning",
        /// Good to know.
        Info = "info",
    }
}

wire! {
    /// What research found.
    pub struct Research {
        /// What is there already.
        optional existing_implementations: Vec<ExistingImplementation>,
        /// What is in the way.
        optional conflicts: Vec<Conflict>,
        /// How similar things are done.
        optional patterns_found: Vec<PatternFound>,
        /// What to do.
        optional recommendations: Vec<String>,
    }

    /// Something that is there already.
    pub struct ExistingImplementation {
        /// Where.
        required file: Option<String>,
        /// What it does.
        optional description: Option<String>,
        /// How much it matters.
        optional relevance: Option<Relevance>,
    }

    /// Something that stands in the way.
    pub struct Conflict {
        /// What kind.
        optional r#type: Option<ConflictType>,
        /// What it is.
        required description: Option<String>,
        /// How bad it is.
        optional severity: Option<ConflictSeverity>,
    }

    /// How a similar thing is done.
    pub struct PatternFound {
        /// Where.
        required file: Option<String>,
        /// What the pattern is.
        optional pattern: Option<String>,
        /// What to make of it.
        optional recommendation: Option<String>,
    }

    /// What writing changed.
    pub struct Write {
        /// New files.
        optional files_created: Vec<FileCreated>,
        /// Changed files.
        optional files_modified: Vec<FileModified>,
        /// New tests.
        optional tests_written: Vec<TestsWritten>,
        /// What the next one should know.
        optional implementation_notes: Vec<String>,
    }

    /// A new file.
    pub struct FileCreated {
        /// Where.
        required path: Option<String>,
        /// What for.
        optional purpose: Option<String>,
    }

    /// A changed file.
    pub struct FileModified {
        /// Where.
        required path: Option<String>,
        /// What changed.
        optional changes: Option<String>,
    }

    /// New tests.
    pub struct TestsWritten {
        /// Where.
        required path: Option<String>,
        /// How many.
        optional test_count: Option<u64>,
        /// What they cover.
        optional coverage_areas: Vec<String>,
    }

    /// What validation said.
    pub struct Validate {
        /// The checks.
        required checks: Option<Checks>,
        /// Whether all of them passed.
        required overall_passed: Option<bool>,
        /// What must be solved first.
        optional blocking_issues: Vec<String>,
        /// What should be solved.
        optional warnings: Vec<String>,
    }

    /// The checks of a validation.
    pub struct Checks {
        /// The type checker.
        optional types: Option<Check>,
        /// The linter.
        optional lint: Option<Check>,
        /// The tests.
        optional tests: Option<TestCheck>,
        /// The security check.
        optional security: Option<SecurityCheck>,
    }

    /// A check that passes or not.
    pub struct Check {
        /// Whether it passed.
        required passed: Option<bool>,
        /// What failed.
        optional errors: Vec<String>,
        /// What should be looked at.
        optional warnings: Vec<String>,
    }

    /// The result of running tests.
    pub struct TestCheck {
        /// Whether all passed.
        required passed: Option<bool>,
        /// How many ran.
        optional total: Option<u64>,
        /// How many passed.
        optional passed_count: Option<u64>,
        /// How many failed.
        optional failed_count: Option<u64>,
        /// How much they cover, in percent.
        optional coverage: Option<Number>,
        /// Which failed.
        optional failures: Vec<String>,
    }

    /// The result of a security check.
    pub struct SecurityCheck {
        /// Whether it passed.
        required passed: Option<bool>,
        /// What was found.
        optional issues: Vec<String>,
    }

    /// What several tasks said together.
    pub struct Parallel {
        /// What each said.
        required results: Vec<ParallelResult>,
        /// What that means together.
        required aggregation: Option<Aggregation>,
    }

    /// What one of several tasks said.
    pub struct ParallelResult {
        /// Which task.
        required task_id: Option<String>,
        /// What kind of task.
        optional r#type: Option<String>,
        /// Whether it passed.
        required passed: Option<bool>,
        /// What came out.
        optional summary: Option<String>,
        /// Everything else.
        optional details: Map<String, Value>,
    }

    /// What several results mean together.
    pub struct Aggregation {
        /// How many there are.
        optional total: Option<u64>,
        /// How many passed.
        optional passed: Option<u64>,
        /// How many failed.
        optional failed: Option<u64>,
        /// When the whole passes: `all_must_pass`, `any_pass`, `majority_pass`, `at_least: N`.
        optional rule: Option<String>,
        /// Whether the whole passes.
        required overall_passed: Option<bool>,
    }
}

/// The findings of one phase.
#[derive(Debug, Clone, PartialEq)]
pub enum PhaseFindings {
    /// Of research.
    Research(Research),
    /// Of writing.
    Write(Write),
    /// Of validation.
    Validate(Validate),
    /// Of several tasks.
    Parallel(Parallel),
}

impl PhaseFindings {
    /// Returns the phase that these belong to.
    pub fn phase(&self) -> TaskPhase {
        match self {
            PhaseFindings::Research(_) => TaskPhase::Research,
            PhaseFindings::Write(_) => TaskPhase::Write,
            PhaseFindings::Validate(_) => TaskPhase::Validate,
            PhaseFindings::Parallel(_) => TaskPhase::Parallel,
        }
    }

    /// Guesses from the members whose phase findings are; `None` if they could be anybody's.
    ///
    /// The phase that the report states wins if any member fits it.
    pub fn phase_of(node: &Node<'_>, stated: Option<TaskPhase>) -> Option<TaskPhase> {
        let fits = |phase: &TaskPhase| {
            let members = match phase {
                TaskPhase::Research => Research::MEMBERS,
                TaskPhase::Write => Write::MEMBERS,
                TaskPhase::Validate => Validate::MEMBERS,
                TaskPhase::Parallel => Parallel::MEMBERS,
            };
            members.iter().any(|name| node.has(name))
        };
        stated.filter(fits).or_else(|| TaskPhase::ALL.iter().copied().find(fits))
    }

    /// Reads the findings of a phase.
    pub fn read_phase(phase: TaskPhase, node: Node<'_>, reader: &mut Reader) -> Option<PhaseFindings> {
        Some(match phase {
            TaskPhase::Research => PhaseFindings::Research(Research::read(node, reader)?),
            TaskPhase::Write => PhaseFindings::Write(Write::read(node, reader)?),
            TaskPhase::Validate => PhaseFindings::Validate(Validate::read(node, reader)?),
            TaskPhase::Parallel => PhaseFindings::Parallel(Parallel::read(node, reader)?),
        })
    }
}

impl Wire for PhaseFindings {
    const EXPECTED: &'static str = "the findings of a phase";

    /// Reads findings whose phase only their members tell.
    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        match PhaseFindings::phase_of(&node, None) {
            Some(phase) => PhaseFindings::read_phase(phase, node, reader),
            None if matches!(node, Node::Object(_)) => {
                reader.keep(node.into_json());
                None
            }
            None => {
                reader.wrong_type(Self::EXPECTED, node);
                None
            }
        }
    }

    fn write(&self) -> Value {
        match self {
            PhaseFindings::Research(findings) => findings.write(),
            PhaseFindings::Write(findings) => findings.write(),
            PhaseFindings::Validate(findings) => findings.write(),
            PhaseFindings::Parallel(findings) => findings.write(),
        }
    }
}

impl schemars::JsonSchema for PhaseFindings {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Findings".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let phases = [
            generator.subschema_for::<Research>(),
            generator.subschema_for::<Write>(),
            generator.subschema_for::<Validate>(),
            generator.subschema_for::<Parallel>(),
        ];
        schemars::json_schema!({ "anyOf": phases, "description": "What a phase found." })
    }
}
