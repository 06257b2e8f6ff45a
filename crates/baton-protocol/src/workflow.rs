//! The workflow file: which agents there are, which phases they work in, and what follows from their reports.
//!
//! Declared once with `wire!`, like the documents of a handoff: that gives its reader, its writer and its JSON Schema.
//! What the parts mean to each other is judged in `workflow/rules.rs`; what runs is the engine's business.

mod acknowledge;
mod advice;
mod approver_names;
mod cage;
mod choice;
mod default_routes;
pub mod expression;
mod files;
mod flow;
mod named;
mod reading;
mod rules;
mod schema;
mod skill;
mod view;
mod written;

pub use crate::duration::Duration;
pub use acknowledge::AcknowledgeChoice;
pub use approver_names::ApproverNames;
pub use cage::{CageFields, Confinement, PathPatterns, Sandbox};
pub use choice::{CommandLine, PassWhen, Review};
pub use default_routes::{COMMON_REASONS, DEFAULT_ROUTES, DefaultRoute, HUMAN, REASONS, SCHEMA_DISCOVERY_FAILED};
pub use files::{Files, NestedWorkflow, is_interpreter, meant};
pub use flow::{Flow, FlowStep, PhaseKind, Way, Within};
pub use named::NamedList;
pub use reading::{WorkflowReading, read};
pub use rules::{WorkflowCase, judge};
pub use schema::schema;
pub use skill::Skill;
pub use view::{PlacedView, View};
pub use written::{Spot, WorkedText};

use serde_json::{Map, Number, Value};

use crate::model::terms::{GateType, Outcome};
use crate::wire::{vocabulary, wire};

vocabulary! {
    /// How an agent is given its prompt.
    pub enum PromptBy, "way to give a prompt", unknown_kind {
        /// On standard input.
        Stdin = "stdin",
        /// As the last argument.
        Argument = "argument",
    }

    /// Where the report of a command agent is found.
    pub enum ReportFrom, "place of a report", unknown_kind {
        /// In the file named by `BATON_REPORT_FILE`, or else on standard output.
        Auto = "auto",
        /// In the file named by `BATON_REPORT_FILE`.
        File = "file",
        /// On standard output.
        Stdout = "stdout",
    }

    /// A coding agent whose flags and output are known.
    pub enum Profile, "profile", unknown_kind {
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// Gemini CLI.
        Gemini = "gemini",
        /// OpenCode.
        Opencode = "opencode",
    }
}

wire! {
    /// How a team of agents works: who they are, in which phases they work, and what follows from their reports.
    pub struct Workflow {
        /// Its name.
        required name: Option<String>,
        /// What it is for.
        optional description: Option<String>,
        /// What must or may be given to a run, by name.
        optional inputs: NamedList<InputDeclaration>,
        /// Where agents put their output, relative to the workspace; a template over `run`, `inputs` and the items of lists.
        optional output_directory: Option<String>,
        /// Variables of the environment that all agents and commands inherit, by name or by a pattern such as `AWS_*`.
        optional env: Vec<String>,
        /// The agents, by name.
        optional agents: NamedList<AgentFields>,
        /// The phases, in their order.
        required phases: Vec<Phase>,
        /// What follows from a report; the first row that fits counts, before the built-in table.
        optional routes: Vec<RouteFields>,
        /// When a person must look.
        optional limits: Option<Limits>,
        /// Reasons for being blocked beyond the usual ones.
        optional reasons: Vec<String>,
        /// Rules that reports of this workflow may break, with the reason.
        optional allow: Vec<Allowance>,
        /// Files that a run keeps current while it goes on, for people and tools that read folders.
        optional views: Vec<PlacedView>,
        /// Whether agents and commands are caged; default: `on`.
        optional sandbox: Option<Sandbox>,
        /// What agents and commands may see, change and use up.
        optional cage: Option<CageFields>,
    }

    /// Something that is given to a run.
    pub struct InputDeclaration {
        /// What it is.
        optional description: Option<String>,
        /// The default value.
        optional default: Option<Value>,
        /// Whether a run cannot start without it.
        optional required: Option<bool>,
    }

    /// An agent: how it is reached and what is expected of it. One of `command`, `profile`, `directory` and `queue`.
    pub struct AgentFields {
        /// A program and its arguments; `./` is beside the workflow file.
        optional command: Option<CommandLine>,
        /// A coding agent whose flags and output are known.
        optional profile: Option<Profile>,
        /// Further arguments of a profile's program.
        optional arguments: Vec<String>,
        /// A folder with `pending/`, `in-progress/`, `completed/` and `failed/`.
        optional directory: Option<String>,
        /// Whether it claims its work itself, from the queue.
        optional queue: Option<bool>,
        /// How its documents are written.
        optional dialect: Option<String>,
        /// What it is for; part of its prompt.
        optional role: Option<String>,
        /// How it is given its prompt.
        optional prompt: Option<PromptBy>,
        /// A template file that takes the place of the built-in prompt.
        optional template: Option<String>,
        /// The most tokens that its prompt may have.
        optional prompt_tokens: Option<u64>,
        /// Where its report is found.
        optional report: Option<ReportFrom>,
        /// Variables of the environment that it inherits, by name or by a pattern such as `AWS_*`.
        optional env: Vec<String>,
        /// Variables that are set for it.
        optional set_env: Map<String, Value>,
        /// Skills that it must use, each with its purpose or without.
        optional mandatory_skills: Vec<Skill>,
        /// Whether it must say that it understood before its report counts, and how soon.
        optional acknowledge: Option<AcknowledgeChoice>,
        /// How long an attempt may take.
        optional timeout: Option<Duration>,
        /// How long it may write nothing before it is ended; `0` for ever.
        optional silence: Option<Duration>,
        /// How long its work may wait in the queue or in the folder until somebody takes it.
        optional pick_up_within: Option<Duration>,
        /// How often and when to try again.
        optional retry: Option<RetryFields>,
        /// A folder with the JSON Schemas that its documents name.
        optional schemas: Option<String>,
        /// The JSON Schema of what it is given, in `schemas`.
        optional input_schema: Option<String>,
        /// The JSON Schema of what it makes, in `schemas`.
        optional output_schema: Option<String>,
        /// Whether it is caged; default: as the workflow says.
        optional sandbox: Option<Sandbox>,
        /// What it may see, change and use up, beyond what the workflow says.
        optional cage: Option<CageFields>,
    }

    /// How often and when to try again.
    pub struct RetryFields {
        /// How many attempts may follow the first.
        optional max_retries: Option<u64>,
        /// How long to wait before the first of them.
        optional delay: Option<Duration>,
        /// How the wait grows.
        optional multiplier: Option<Number>,
    }

    /// A step of the workflow. One of `agent`, `check`, `parallel`, `foreach`, `workflow` and `gate`.
    pub struct Phase {
        /// Its name, unique among its neighbours.
        required id: Option<String>,
        /// What it is for, in a few words.
        optional title: Option<String>,
        /// The agent that works.
        optional agent: Option<String>,
        /// A command that passes or fails.
        optional check: Option<CommandLine>,
        /// Variables of the environment that the command of `check` inherits, by name or by a pattern.
        optional env: Vec<String>,
        /// Variables that are set for the command of `check`.
        optional set_env: Map<String, Value>,
        /// Phases that run at the same time.
        optional parallel: Vec<Phase>,
        /// An expression that gives a list; `phases` run once for each item.
        optional foreach: Option<String>,
        /// The name of the item in expressions and templates; default: `item`.
        optional r#as: Option<String>,
        /// What runs for each item.
        optional phases: Vec<Phase>,
        /// How many items are worked on at the same time; default: 8; 0 for all of them.
        optional at_once: Option<u64>,
        /// How often it may be visited before a person is asked; default: `limits.visits_per_phase`.
        optional visits: Option<u64>,
        /// Another workflow file that runs as this phase.
        optional workflow: Option<String>,
        /// A decision that is asked of a person.
        optional gate: Option<GateFields>,
        /// When several belong to it: how many must pass.
        optional pass_when: Option<PassWhen>,
        /// What to do, as a template.
        optional task: Option<String>,
        /// What it is given: names and the expressions that give their values.
        optional inputs: Map<String, Value>,
        /// What is wanted back.
        optional deliverable: Option<String>,
        /// What to respect.
        optional constraints: Vec<String>,
        /// How success is recognised.
        optional success_criteria: Vec<String>,
        /// What kind of work: `research`, `write`, `validate` or `parallel`, as in the task dialect, or `review`, which must say
        /// `verdict`.
        optional kind: Option<String>,
        /// An expression; the phase is left out when it is false.
        optional when: Option<String>,
        /// Whether a person must approve what came out.
        optional review: Option<Review>,
        /// Commands that must pass before the report counts.
        optional verify: Vec<CheckFields>,
        /// Patterns of the files that it may change; default: none of them if the list is empty, all of them.
        optional writes: Option<PathPatterns>,
        /// Skills that must be used in this phase, beyond those of the agent.
        optional mandatory_skills: Vec<Skill>,
        /// How long an attempt may take.
        optional timeout: Option<Duration>,
        /// How often and when to try again.
        optional retry: Option<RetryFields>,
        /// What happens when it fails: `gate`, `stop` or the phase that it goes back to.
        optional on_failure: Option<String>,
        /// The phase that follows; `end` for none.
        optional next: Option<String>,
    }

    /// A command that Baton runs itself.
    pub struct CheckFields {
        /// Its name; what a report says under this name is compared with it.
        required name: Option<String>,
        /// The command.
        required run: Option<CommandLine>,
        /// Variables of the environment that it inherits, by name or by a pattern such as `AWS_*`.
        optional env: Vec<String>,
        /// Variables that are set for it.
        optional set_env: Map<String, Value>,
        /// How long it may take.
        optional timeout: Option<Duration>,
    }

    /// A decision that is asked of a person.
    pub struct GateFields {
        /// How strictly it waits.
        optional r#type: Option<GateType>,
        /// Its name.
        optional name: Option<String>,
        /// What to look at.
        optional items: Vec<String>,
        /// What can be chosen instead of approving or rejecting, and the phase that follows each; `next`, `stop`.
        optional choices: Map<String, Value>,
        /// When an advisory gate goes on without an answer.
        optional after: Option<Duration>,
        /// The commands that decide an auto gate.
        optional checks: Vec<CheckFields>,
        /// Who may decide: principals that `baton.toml` names, or accounts of the operating system; default: everybody.
        optional approvers: Option<ApproverNames>,
        /// How many people must approve, or choose the same; default: 1.
        optional at_least: Option<u64>,
        /// Whether only signed decisions count.
        optional signed: Option<bool>,
    }

    /// What follows from a report.
    pub struct RouteFields {
        /// Of which agent; `*` for all, `frontend-*` for those whose names begin so.
        optional agent: Option<String>,
        /// With which status; default: `blocked`.
        optional status: Option<Outcome>,
        /// With which reason, or a pattern such as `security*`; default: any.
        optional reason: Option<String>,
        /// With which verdict of a reviewer; default: any.
        optional verdict: Option<String>,
        /// The agent that it goes to, or `human`.
        optional to: Option<String>,
        /// The phase that it goes to.
        optional phase: Option<String>,
    }

    /// When a person must look. Zero means without limit.
    pub struct Limits {
        /// Handoffs of a run; default: 50.
        optional handoffs: Option<u64>,
        /// Visits of the same phase; default: 3.
        optional visits_per_phase: Option<u64>,
        /// The same failure in the same phase; default: 3.
        optional same_failure: Option<u64>,
        /// Times that two agents hand work to each other; default: 3.
        optional ping_pong: Option<u64>,
        /// How long the run may take.
        optional wall_clock: Option<Duration>,
        /// Tokens of all prompts and answers; those that a model had read before and that come from a cache do not count.
        optional tokens: Option<u64>,
        /// What all of it may cost in US dollars, as far as the agents' programs tell a price.
        optional cost: Option<Number>,
        /// Tokens of a summary; default: 500.
        optional summary_tokens: Option<u64>,
        /// Tokens of a prompt, unless the agent says otherwise.
        optional prompt_tokens: Option<u64>,
    }

    /// A rule that may be broken.
    pub struct Allowance {
        /// Its name.
        required rule: Option<String>,
        /// Why.
        required reason: Option<String>,
    }
}

/// Returns whether a variable is Baton's own. The address of the store is one; those that an attempt gets are set for it.
pub fn is_own_variable(name: &str) -> bool {
    name.starts_with("BATON_")
}

/// Returns whether a variable is meant by a name or by a pattern with one `*`; Baton's own are meant by none.
pub fn is_variable(pattern: &str, name: &str) -> bool {
    if is_own_variable(name) {
        return false;
    }
    match pattern.split_once('*') {
        None => pattern == name,
        Some((begin, end)) => name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end),
    }
}

impl Profile {
    /// Returns the variables in which its program looks for a key.
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            Profile::Claude => &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
            Profile::Codex => &["CODEX_API_KEY", "OPENAI_API_KEY"],
            Profile::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Profile::Opencode => &["OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"],
        }
    }
}

impl AgentFields {
    /// Returns the keys of its profile that are set, but that its program does not get; none if it gets one of them.
    pub fn withheld_keys(&self, is_set: impl Fn(&str) -> bool) -> Vec<&'static str> {
        let keys = self.profile.map(Profile::keys).unwrap_or_default();
        let is_given = |key: &str| {
            self.set_env.contains_key(key) || self.env.iter().any(|pattern| is_variable(pattern, key) && is_set(key))
        };
        if keys.iter().any(|key| is_given(key)) {
            return Vec::new();
        }
        keys.iter().copied().filter(|key| is_set(key)).collect()
    }

    /// Returns whether it must say that it understood before its report counts.
    pub fn must_acknowledge(&self) -> bool {
        self.acknowledge.is_some_and(|acknowledge| acknowledge.asked)
    }

    /// Returns how soon it must say so.
    pub fn acknowledge_within(&self) -> Option<Duration> {
        self.acknowledge.and_then(|acknowledge| acknowledge.within)
    }
}

impl Workflow {
    /// Returns an agent with the variables that all agents of the workflow inherit.
    pub fn agent_with_env(&self, name: &str) -> Option<AgentFields> {
        let agent = self.agent(name)?;
        Some(AgentFields { env: self.env.iter().chain(&agent.env).cloned().collect(), ..agent.clone() })
    }
}

impl Phase {
    /// Returns the name, empty if it is missing.
    pub fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }
}

impl Workflow {
    /// Finds an agent by its name.
    pub fn agent(&self, name: &str) -> Option<&AgentFields> {
        self.agents.get(name)
    }
}
