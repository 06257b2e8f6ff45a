//! What a run journalled, as `--json` prints it, and the questions that cases ask about it.

use serde_json::Value;

use super::stage::Ended;

/// The events of a run, and how the command ended that printed them.
#[derive(Debug)]
pub(crate) struct Journal {
    events: Vec<Value>,
    pub(crate) ended: Ended,
}

/// How an attempt failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) follows: Follows,
}

/// What follows a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follows {
    /// Nothing is tried again.
    Nothing,
    /// Another attempt, some time later.
    Retry,
    /// The report is repaired in its session.
    Repair,
    /// The same attempt in a fresh session.
    FreshSession,
    /// It waits until a limit ends.
    Wait,
}

impl Journal {
    pub(crate) fn read(ended: Ended) -> Self {
        let events = ended.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Self { events, ended }
    }

    /// Returns the details of every event of this name in a phase.
    pub(crate) fn of<'a>(&'a self, name: &'a str, phase: &'a str) -> impl Iterator<Item = &'a Value> {
        let wanted = move |event: &&Value| event["event"] == name && event["phase"] == phase;
        self.events.iter().filter(wanted).map(|event| &event["detail"])
    }

    /// Returns how often an agent was given a turn in a phase.
    pub(crate) fn turns(&self, phase: &str) -> usize {
        self.of("claimed", phase).count()
    }

    /// Returns how many attempts these turns are, but for repairs: one whose session was lost begins again in a fresh one.
    pub(crate) fn attempts(&self, phase: &str) -> usize {
        let lost = self.failures(phase).iter().filter(|failed| failed.follows == Follows::FreshSession).count();
        self.turns(phase) - lost
    }

    /// Returns how many of these turns repaired a report.
    pub(crate) fn repairs(&self, phase: &str) -> usize {
        self.of("claimed", phase).filter(|claim| claim["session"]["repairs"] == true).count()
    }

    /// Returns how many of these turns went on in a session.
    pub(crate) fn resumed(&self, phase: &str) -> usize {
        self.of("claimed", phase).filter(|claim| claim["session"]["goes_on"] == true).count()
    }

    /// Returns how the attempts of a phase failed.
    pub(crate) fn failures(&self, phase: &str) -> Vec<Failed> {
        self.of("failed", phase).map(failed).collect()
    }

    /// Returns what the reports and failures of a phase say was spent, in tokens.
    pub(crate) fn tokens(&self, phase: &str) -> u64 {
        let ends = self.of("reported", phase).chain(self.of("failed", phase));
        let sum =
            |spent: &Value| ["input", "cached", "output"].iter().filter_map(|kind| spent[*kind].as_u64()).sum::<u64>();
        ends.map(|end| sum(&end["spent"])).sum()
    }

    /// Returns the claims about a word in the evidence of a phase, each with its verdict.
    pub(crate) fn verdicts(&self, phase: &str, about: &str) -> Vec<String> {
        let claims = self.of("verified", phase).filter_map(|verified| verified["examined"].as_array()).flatten();
        let told = claims.filter(|claim| claim.to_string().contains(about));
        told.filter_map(|claim| claim["verdict"].as_str().map(str::to_owned)).collect()
    }

    /// Returns everything that was journalled and printed, for a look at its words.
    pub(crate) fn text(&self) -> String {
        format!("{}\n{}", self.ended.stdout, self.ended.stderr)
    }
}

fn failed(detail: &Value) -> Failed {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let failure = &detail["failure"];
    let follows = match &detail["again"] {
        Value::String(again) if again == "repair" => Follows::Repair,
        Value::String(again) if again == "fresh" => Follows::FreshSession,
        Value::Object(_) => Follows::Wait,
        _ if failure["chance"] == "permanent" => Follows::Nothing,
        _ => Follows::Retry,
    };
    Failed { code: text(&failure["code"]), message: text(&failure["message"]), follows }
}
