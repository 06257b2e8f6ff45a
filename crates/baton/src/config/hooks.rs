//! `[hooks]`: what agents are held to in sessions that Baton does not drive.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_engine::evidence::CheckCommand;
use baton_protocol::Dialect;
use baton_protocol::wire::{same_word, suggest};
use serde::Deserialize;
use toml::Spanned;

use super::located;
use crate::command_error::CommandError;
use baton_engine::engine::parse_duration;

/// How long a command of `verify` may take unless it says otherwise.
const VERIFY_TIME: Duration = Duration::from_secs(10 * 60);

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HooksTable {
    main: Option<ContractTable>,
    #[serde(default)]
    agents: BTreeMap<String, ContractTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContractTable {
    dialect: Option<Spanned<String>>,
    #[serde(default)]
    mandatory_skills: Vec<String>,
    writes: Option<Vec<String>>,
    #[serde(default)]
    verify: Vec<Spanned<VerifyEntry>>,
}

/// A command for the shell, alone or with a name.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a command such as \"cargo test\", or { name = \"tests\", run = \"cargo test\" }"
)]
enum VerifyEntry {
    Command(String),
    Named(NamedCommand),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedCommand {
    name: Option<String>,
    run: String,
    timeout: Option<String>,
}

/// What agents are held to in sessions that Baton does not drive.
#[derive(Debug, Default, Clone)]
pub(crate) struct HookContracts {
    main: Option<HookContract>,
    agents: BTreeMap<String, HookContract>,
}

/// What one agent is held to.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct HookContract {
    /// How it writes its report; recognised if it is not said.
    pub dialect: Option<Dialect>,
    /// Skills that it must use.
    pub mandatory_skills: Vec<String>,
    /// Patterns of the files that it may change; `None` for all.
    pub writes: Option<Vec<String>>,
    /// Commands that must pass.
    pub checks: Vec<CheckCommand>,
}

impl HookContracts {
    /// Reads the table.
    pub(super) fn read(table: HooksTable, text: &str, name: &str) -> Result<HookContracts, CommandError> {
        let read = |contract: ContractTable| contract.read(text, name);
        let main = table.main.map(read).transpose()?;
        let agents = table.agents.into_iter().map(|(agent, contract)| Ok((agent, read(contract)?)));
        Ok(HookContracts { main, agents: agents.collect::<Result<_, CommandError>>()? })
    }

    /// Returns whether nobody is held to anything.
    pub(crate) fn are_none(&self) -> bool {
        self.main.is_none() && self.agents.is_empty()
    }

    /// Returns what a subagent is held to, or the main session; `None` if nobody has said anything.
    pub(crate) fn of(&self, subagent: Option<&str>) -> Option<&HookContract> {
        let Some(kind) = subagent else { return self.main.as_ref() };
        // What comes from a plugin is called after it: `plugin:agent`.
        let own = kind.rsplit(':').next().unwrap_or(kind);
        let is_meant = |(name, _): &(&String, &HookContract)| same_word(name, kind) || same_word(name, own);
        self.agents.get(kind).or_else(|| self.agents.iter().find(is_meant).map(|(_, contract)| contract))
    }
}

impl ContractTable {
    fn read(self, text: &str, name: &str) -> Result<HookContract, CommandError> {
        let dialect = self.dialect.map(|given| {
            let known: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.as_str()).collect();
            Dialect::parse(given.get_ref()).ok_or_else(|| {
                let message = format!("unknown dialect `{}`", given.get_ref());
                located(text, name, given.span().start, &message).hint(suggest(given.get_ref(), &known))
            })
        });
        let checks = self.verify.into_iter().map(|entry| {
            let at = entry.span().start;
            check(entry.into_inner()).map_err(|why| located(text, name, at, &why))
        });
        Ok(HookContract {
            dialect: dialect.transpose()?,
            checks: checks.collect::<Result<_, _>>()?,
            mandatory_skills: self.mandatory_skills,
            writes: self.writes,
        })
    }
}

fn check(entry: VerifyEntry) -> Result<CheckCommand, String> {
    let NamedCommand { name, run, timeout } = match entry {
        VerifyEntry::Command(run) => NamedCommand { name: None, run, timeout: None },
        VerifyEntry::Named(named) => named,
    };
    if run.trim().is_empty() {
        return Err("there is nothing to run".to_owned());
    }
    let timeout = timeout.map_or(Ok(VERIFY_TIME), |text| parse_duration(&text)).map_err(|fault| fault.to_string())?;
    let name = name.unwrap_or_else(|| run.clone());
    Ok(CheckCommand { name, words: vec!["sh".to_owned(), "-c".to_owned(), run], timeout, ..CheckCommand::default() })
}
