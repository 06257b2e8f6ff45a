//! What an agent does while it works: as JSON, in a line of a log, and in the one line that is kept about it while it goes
//! on.

use std::time::Duration;

use baton_engine::agent::{Activity, Job, ToolState};
use baton_engine::driver::Seen;
use baton_engine::session::{Spending, Spent};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::event::VERSION;
use crate::words::{cut, one_line, span, took};

/// The longest text of an activity that is shown.
const ABOUT_MAX: usize = 60;

/// After this long without a sign of life, the silence is mentioned.
const SILENCE: Duration = Duration::from_secs(60);

/// Returns the JSON form of what was seen.
pub fn json(job: &Job, seen: &Seen, at: Timestamp) -> Value {
    let detail = match seen {
        Seen::Activity(Activity::Says(text)) => json!({ "does": "says", "text": text }),
        Seen::Activity(Activity::Tool { name, about, state }) => {
            let state = match state {
                ToolState::Runs => "runs",
                ToolState::Done => "done",
                ToolState::Failed => "failed",
            };
            json!({ "does": "tool", "name": name, "about": about, "state": state })
        }
        Seen::Activity(Activity::Plan(steps)) => json!({ "does": "plan", "steps": steps }),
        Seen::Activity(Activity::Refused { what, help }) => json!({ "does": "refused", "what": what, "help": help }),
        Seen::Activity(Activity::Alive(text)) => json!({ "does": "alive", "text": text }),
        Seen::Spent(spent) => json!({ "does": "spends", "spent": spent_json(*spent) }),
    };
    json!({
        "version": VERSION,
        "run": job.run,
        "at": at,
        "handoff": job.handoff,
        "phase": job.phase,
        "event": "activity",
        "agent": job.agent,
        "detail": detail,
    })
}

/// Returns the JSON form of what was spent; an unknown price is `null`.
pub fn spent_json(spent: Spent) -> Value {
    json!({
        "input": spent.input,
        "cached": spent.cached,
        "output": spent.output,
        "cost_usd": spent.cost_micros.map(|micros| micros as f64 / 1e6),
    })
}

/// Returns the JSON form of what several turns spent.
pub fn spending_json(spending: &Spending) -> Value {
    let mut value = spent_json(spending.spent);
    value["turns_without_price"] = spending.unpriced.into();
    value
}

/// Describes an activity in one line, from its JSON form; `None` if it is not worth one.
pub fn told(activity: &Value) -> Option<String> {
    let detail = &activity["detail"];
    let text = |name: &str| detail[name].as_str().map(one_line).unwrap_or_default();
    match detail["does"].as_str()? {
        "says" => Some(format!("says: {}", text("text"))),
        "tool" => match detail["state"].as_str()? {
            "runs" => Some(format!("{} {}", text("name"), text("about")).trim_end().to_owned()),
            "failed" => Some(format!("{} {}: failed", text("name"), text("about"))),
            _ => None,
        },
        "plan" => {
            let steps = detail["steps"].as_array().into_iter().flatten().filter_map(Value::as_str);
            Some(format!("plans: {}", steps.map(one_line).collect::<Vec<_>>().join("; ")))
        }
        "refused" => match detail["help"].as_str() {
            Some(help) => Some(format!("was refused: {}; {}", text("what"), one_line(help))),
            None => Some(format!("was refused: {}", text("what"))),
        },
        "alive" => Some(text("text")),
        _ => None,
    }
}

/// What is known about an agent that works.
#[derive(Debug, Clone)]
pub struct Pulse {
    doing: Option<String>,
    runs: bool,
    tools: u64,
    spent: Option<Spent>,
    last: Timestamp,
}

impl Pulse {
    /// Begins to watch.
    pub fn since(at: Timestamp) -> Pulse {
        Pulse { doing: None, runs: false, tools: 0, spent: None, last: at }
    }

    /// Takes what was seen.
    pub fn take(&mut self, seen: &Seen, at: Timestamp) {
        self.last = at;
        match seen {
            Seen::Activity(Activity::Tool { name, about, state }) => {
                self.runs = *state == ToolState::Runs;
                // Some programs tell of a tool only when it has ended.
                let doing = cut(&one_line(&format!("{name} {about}")), ABOUT_MAX).trim_end().to_owned();
                self.tools += u64::from(self.runs || self.doing.as_ref() != Some(&doing));
                self.doing = Some(doing);
            }
            Seen::Activity(Activity::Refused { what, .. }) => {
                self.doing = Some(cut(&one_line(&format!("was refused: {what}")), ABOUT_MAX));
                self.runs = false;
            }
            Seen::Activity(Activity::Alive(text)) => {
                self.doing = Some(cut(&one_line(text), ABOUT_MAX));
                self.runs = false;
            }
            Seen::Activity(Activity::Says(_) | Activity::Plan(_)) => self.runs = false,
            Seen::Spent(spent) => self.spent = Some(*spent),
        }
    }

    /// Describes it in a few words: `Bash cargo test · 14 tools · 31k tokens · $0.42`, or how long nothing was heard.
    pub fn told(&self, now: Timestamp) -> String {
        let silent = span(self.last, now);
        let doing = match (&self.doing, silent >= SILENCE) {
            (doing, false) => doing.clone(),
            (Some(doing), true) if self.runs => {
                Some(format!("silent for {}: {doing} runs, and its process is alive", took(silent)))
            }
            (_, true) => Some(format!("silent for {}, and its process is alive", took(silent))),
        };
        let tools = (self.tools > 0).then(|| match self.tools {
            1 => "1 tool".to_owned(),
            tools => format!("{tools} tools"),
        });
        let tokens = self.spent.map(|spent| format!("{} tokens", thousands(spent.tokens())));
        let cost = self.spent.and_then(|spent| spent.cost_micros).map(baton_engine::session::dollars);
        [doing, tools, tokens, cost].into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

/// Writes a number as people say it: `748`, `31k`, `1.2M`.
pub fn thousands(number: u64) -> String {
    match number {
        0..=9_999 => number.to_string(),
        10_000..=999_999 => format!("{}k", number / 1_000),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).expect("a time")
    }

    fn tool(about: &str, state: ToolState) -> Seen {
        Seen::Activity(Activity::Tool { name: "Bash".to_owned(), about: about.to_owned(), state })
    }

    #[test]
    fn one_line_tells_what_an_agent_does_and_what_it_costs() {
        let mut pulse = Pulse::since(at(0));
        assert_eq!(pulse.told(at(1)), "");
        pulse.take(&tool("ls", ToolState::Runs), at(1));
        pulse.take(&tool("ls", ToolState::Done), at(1));
        pulse.take(&tool("cargo test", ToolState::Runs), at(2));
        pulse.take(&Seen::Spent(Spent { input: 31_000, cached: 9, output: 400, cost_micros: Some(420_000) }), at(3));
        assert_eq!(pulse.told(at(4)), "Bash cargo test · 2 tools · 31k tokens · $0.42");
    }

    #[test]
    fn silence_is_told_with_what_runs() {
        let mut pulse = Pulse::since(at(0));
        pulse.take(&tool("cargo test", ToolState::Runs), at(2));
        assert_eq!(pulse.told(at(242)), "silent for 4m: Bash cargo test runs, and its process is alive · 1 tool");
        pulse.take(&tool("cargo test", ToolState::Done), at(243));
        assert_eq!(pulse.told(at(303)), "silent for 1m, and its process is alive · 1 tool");
    }
}
