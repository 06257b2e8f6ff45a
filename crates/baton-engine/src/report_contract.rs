//! What the report of an attempt is judged by beyond its request, for whoever looks at it before the driver does: a hook
//! inside of the agent's session. It lies beside the request, where the agent could change it, so nothing depends on it.

use std::path::PathBuf;

use baton_protocol::rules::Rule;
use baton_protocol::settings::{Level, Permission};
use baton_protocol::{Dialect, Settings};
use serde_json::{Map, Value, json};

/// What the report of an attempt is judged by beyond its request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReportContract {
    /// How the agent writes, where the workflow says so.
    pub dialect: Option<Dialect>,
    /// Skills that it must use.
    pub mandatory_skills: Vec<String>,
    /// Patterns of the files that it may change; `None` for all, or if others may work at the same time: whoever looks
    /// from inside of the session could not tell their files from those of the agent.
    pub writes: Option<Vec<String>>,
    /// Files and folders that Baton itself keeps in the workspace meanwhile.
    pub views: Vec<PathBuf>,
    /// The project's settings, with what the workflow says.
    pub settings: Settings,
}

/// The name of its file, in the folder of an attempt.
pub const CONTRACT_FILE: &str = "contract.json";

impl ReportContract {
    /// Writes it.
    pub fn json(&self) -> Value {
        let settings = &self.settings;
        let word = |level: &Level| match level {
            Level::Off => "off",
            Level::At(severity) => severity.as_str(),
        };
        let levels: Map<String, Value> =
            settings.levels.iter().map(|(rule, level)| ((*rule).to_owned(), word(level).into())).collect();
        let permission = |permission: &Permission| json!({ "rule": permission.rule, "reason": permission.reason });
        json!({
            "version": 1,
            "dialect": self.dialect.map(Dialect::as_str),
            "mandatory_skills": self.mandatory_skills,
            "writes": self.writes,
            "views": self.views,
            "levels": levels,
            "permissions": settings.permissions.iter().map(permission).collect::<Vec<_>>(),
            "reasons": settings.reasons,
            "phases": settings.phases,
            "summary_tokens": settings.summary_tokens,
        })
    }

    /// Reads it; what is not known is as usual.
    pub fn of_json(value: &Value) -> ReportContract {
        let texts = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let usual = Settings::default();
        let level = |(rule, word): (&String, &Value)| Some((Rule::find(rule)?.name, Level::parse(word.as_str()?)?));
        let permission = |given: &Value| {
            Some(Permission { rule: given["rule"].as_str()?.to_owned(), reason: given["reason"].as_str()?.to_owned() })
        };
        let tokens = value["summary_tokens"].as_u64().and_then(|tokens| usize::try_from(tokens).ok());
        let settings = Settings {
            levels: value["levels"].as_object().into_iter().flatten().filter_map(level).collect(),
            permissions: value["permissions"].as_array().into_iter().flatten().filter_map(permission).collect(),
            reasons: texts(&value["reasons"]),
            phases: texts(&value["phases"]),
            summary_tokens: tokens.unwrap_or(usual.summary_tokens),
            ..usual
        };
        let dialect = value["dialect"].as_str().and_then(Dialect::parse);
        ReportContract {
            dialect,
            mandatory_skills: texts(&value["mandatory_skills"]),
            writes: value["writes"].is_array().then(|| texts(&value["writes"])),
            views: texts(&value["views"]).into_iter().map(PathBuf::from).collect(),
            settings,
        }
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::Severity;

    use super::*;

    #[test]
    fn contract_is_read_as_it_was_written() {
        let permission = Permission { rule: "absolute-path".to_owned(), reason: "containers".to_owned() };
        let contract = ReportContract {
            dialect: Some(Dialect::PhaseBlock),
            mandatory_skills: vec!["designing".to_owned()],
            writes: Some(vec!["docs/**".to_owned()]),
            views: vec![PathBuf::from("PROGRESS.md")],
            settings: Settings {
                levels: [("vague-summary", Level::Off), ("vague-context", Level::At(Severity::Error))].into(),
                permissions: vec![permission],
                reasons: vec!["legal".to_owned()],
                summary_tokens: 200,
                ..Settings::default()
            },
        };
        assert_eq!(ReportContract::of_json(&contract.json()), contract);
        let nothing = ReportContract { writes: Some(Vec::new()), ..ReportContract::default() };
        assert_eq!(ReportContract::of_json(&nothing.json()), nothing);
        assert_eq!(ReportContract::of_json(&json!([])), ReportContract::default());
    }
}
