//! The configuration file `baton.toml`: found beside or above the working directory, and never needed.

mod approvers;
mod hooks;
mod notify;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use baton_engine::evidence::KeptBytes;
use baton_protocol::rules::{self, Rule};
use baton_protocol::settings::{FilePermissions, Level, Permission, Settings};
use baton_protocol::wire::suggest;
use serde::Deserialize;
use toml::Spanned;

use crate::anchor::Anchor;
use crate::command_error::CommandError;
use crate::telemetry::TelemetryTable;
pub(crate) use approvers::Approvers;
use approvers::ApproversTable;
use hooks::HooksTable;
pub(crate) use hooks::{HookContract, HookContracts};
pub(crate) use notify::{Notifications, NotifyCommand, PublicUrl, Webhook};
use notify::{NotifyTable, ServerTable};

/// The name of the file.
pub(crate) const FILE_NAME: &str = "baton.toml";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rules: BTreeMap<Spanned<String>, Spanned<RuleSetting>>,
    #[serde(default)]
    check: Check,
    #[serde(default)]
    vocabulary: Vocabulary,
    #[serde(default)]
    store: Store,
    #[serde(default)]
    approvers: ApproversTable,
    #[serde(default)]
    artifacts: Artifacts,
    anchor: Option<Spanned<AnchorTable>>,
    #[serde(default)]
    notify: NotifyTable,
    #[serde(default)]
    server: ServerTable,
    #[serde(default)]
    telemetry: TelemetryTable,
    #[serde(default)]
    hooks: HooksTable,
}

/// Either a severity, or permission with a reason.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected \"off\", \"info\", \"warning\" or \"error\", or { allow = \"reason\" }")]
enum RuleSetting {
    Level(String),
    Allow(Allow),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Allow {
    allow: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    file_permissions: Option<Spanned<String>>,
    summary_tokens: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vocabulary {
    #[serde(default)]
    reasons: Vec<String>,
    #[serde(default)]
    phases: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Store {
    url: Option<String>,
    token_file: Option<PathBuf>,
    ca_file: Option<PathBuf>,
}

/// Where the heads of runs are kept beside the store.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnchorTable {
    file: Option<PathBuf>,
    command: Option<String>,
}

/// How much of the files that reports name is kept in the store, in KiB.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Artifacts {
    file_kib: Option<u32>,
    run_kib: Option<u32>,
}

impl From<Artifacts> for KeptBytes {
    fn from(artifacts: Artifacts) -> KeptBytes {
        let bytes = |given: Option<u32>, usual: u64| given.map_or(usual, |kib| u64::from(kib) * 1024);
        let usual = KeptBytes::default();
        KeptBytes { file: bytes(artifacts.file_kib, usual.file), run: bytes(artifacts.run_kib, usual.run) }
    }
}

/// What the file says.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// How documents are judged.
    pub settings: Settings,
    /// Where the store is.
    pub store_url: Option<String>,
    /// The file with the token for a server.
    pub token_file: Option<PathBuf>,
    /// A file with certificate authorities that vouch for a server.
    pub ca_file: Option<PathBuf>,
    /// Who can sign decisions, with their keys.
    pub approvers: Approvers,
    /// Where the heads of runs are kept beside the store.
    pub anchor: Option<Anchor>,
    /// Who is notified when a person is waited for.
    pub notifications: Notifications,
    /// Where spans go.
    pub telemetry: TelemetryTable,
    /// How much of the files that reports name is kept.
    pub kept: KeptBytes,
    /// What agents are held to in sessions that Baton does not drive.
    pub hooks: HookContracts,
    /// The file itself; `None` if there is none.
    pub file: Option<PathBuf>,
    /// The folder of the file: paths in it start there.
    pub folder: PathBuf,
}

/// Reads a given file, or the nearest one, or takes the defaults.
pub(crate) fn read(given: Option<&Path>) -> Result<Config, CommandError> {
    let Some(path) = file(given) else { return Ok(Config::default()) };
    let text = fs::read_to_string(&path)
        .map_err(|error| CommandError::usage(format!("cannot read {}: {error}", path.display())))?;
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    let file = toml_of(&text, &path.display().to_string())?;
    let config = parse(file, &text, &path.display().to_string(), &folder)?;
    let anchor = config.anchor.map(|anchor| anchor.below(&folder));
    let files =
        [("the configuration", Some(path.as_path())), ("the file of approvers", config.approvers.file.as_deref())];
    for (what, file) in files.into_iter().filter_map(|(what, file)| Some((what, file?))) {
        if anchor.as_ref().is_some_and(|anchor| anchor.is_at(file)) {
            return Err(not_an_anchor(&path.display().to_string(), what));
        }
    }
    let notifications = config.notifications.below(&folder);
    Ok(Config { folder, anchor, notifications, file: Some(path), ..config })
}

/// Reads how documents are judged.
pub(crate) fn load(given: Option<&Path>) -> Result<Settings, CommandError> {
    Ok(read(given)?.settings)
}

/// Returns a given file, or the nearest one.
pub(crate) fn file(given: Option<&Path>) -> Option<PathBuf> {
    given.map(Path::to_owned).or_else(nearest)
}

fn nearest() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join(FILE_NAME)).find(|path| path.is_file())
}

fn toml_of(text: &str, name: &str) -> Result<File, CommandError> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        located(text, name, at, error.message())
    })
}

fn parse(file: File, text: &str, name: &str, folder: &Path) -> Result<Config, CommandError> {
    let defaults = Settings::default();
    let mut settings = Settings {
        reasons: file.vocabulary.reasons,
        phases: file.vocabulary.phases,
        file_permissions: file.check.file_permissions.map_or(Ok(defaults.file_permissions), |given| {
            let message = format!("`{}` is not `none`, `warnings` or `all`", given.get_ref());
            FilePermissions::parse(given.get_ref()).ok_or_else(|| located(text, name, given.span().start, &message))
        })?,
        summary_tokens: file.check.summary_tokens.unwrap_or(defaults.summary_tokens),
        ..defaults
    };
    for (rule_name, setting) in file.rules {
        let fail = |at: usize, message: &str| located(text, name, at, message);
        let rule = Rule::find(rule_name.get_ref()).ok_or_else(|| {
            let known: Vec<&str> = rules::ALL.iter().map(|rule| rule.name).collect();
            let hint = match baton_protocol::wire::closest(rule_name.get_ref(), &known) {
                Some(close) => format!("did you mean `{close}`?"),
                None => "`baton explain` lists them".to_owned(),
            };
            fail(rule_name.span().start, &format!("unknown rule `{}`", rule_name.get_ref())).hint(hint)
        })?;
        if rule.fixed {
            let message = format!("the rule `{}` cannot be changed: what cannot be read is never valid", rule.name);
            return Err(fail(rule_name.span().start, &message));
        }
        let at = setting.span().start;
        match setting.into_inner() {
            RuleSetting::Level(word) => {
                let level = Level::parse(&word).ok_or_else(|| {
                    let words = ["off", "info", "warning", "error"];
                    fail(at, &format!("unknown severity `{word}`")).hint(suggest(&word, &words))
                })?;
                settings.levels.insert(rule.name, level);
            }
            RuleSetting::Allow(Allow { allow: reason }) if reason.trim().is_empty() => {
                return Err(fail(at, "a rule is allowed with a reason").hint("write { allow = \"why\" }"));
            }
            RuleSetting::Allow(Allow { allow: reason }) => {
                settings.permissions.push(Permission { rule: rule.name.to_owned(), reason });
            }
        }
    }
    let kept = file.artifacts.into();
    let approvers = Approvers::read(file.approvers, text, name, folder);
    settings.signers = approvers.judged();
    let anchor = file.anchor.map(|table| anchor(text, name, table)).transpose()?;
    let notifications = Notifications::read(file.notify, file.server, text, name)?;
    let hooks = HookContracts::read(file.hooks, text, name)?;
    let Store { url: store_url, token_file, ca_file } = file.store;
    let below = |file: Option<PathBuf>| file.map(|file| folder.join(file));
    let telemetry = file.telemetry;
    Ok(Config {
        settings,
        store_url,
        token_file: below(token_file),
        ca_file: below(ca_file),
        approvers,
        anchor,
        notifications,
        telemetry,
        kept,
        hooks,
        file: None,
        folder: PathBuf::new(),
    })
}

fn anchor(text: &str, name: &str, table: Spanned<AnchorTable>) -> Result<Anchor, CommandError> {
    let at = table.span().start;
    match table.into_inner() {
        AnchorTable { file: Some(file), command: None } if file.as_os_str().is_empty() => {
            Err(located(text, name, at, "[anchor] file is empty").hint("name a file, such as /var/log/baton/heads"))
        }
        AnchorTable { file: Some(file), command: None } => Ok(Anchor::File(file)),
        AnchorTable { file: None, command: Some(command) } if !command.trim().is_empty() => {
            Ok(Anchor::Command { command, folder: PathBuf::new() })
        }
        _ => Err(located(text, name, at, "an anchor is a `file` or a `command`: one of the two")),
    }
}

/// The error when a file that Baton needs is named as the anchor of the ledger.
pub(crate) fn not_an_anchor(name: &str, what: &str) -> CommandError {
    CommandError::usage(format!("{name}: [anchor] file is {what}, which the anchor would overwrite"))
        .hint("name a file of its own, such as /var/log/baton/heads")
}

fn located(text: &str, name: &str, at: usize, message: &str) -> CommandError {
    let (line, column) = baton_protocol::diagnostic::Lines::new(text.as_bytes()).position(at);
    CommandError::usage(format!("{name}:{line}:{column}: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, name: &str) -> Result<Config, CommandError> {
        super::parse(toml_of(text, name)?, text, name, Path::new(""))
    }

    fn error(text: &str) -> String {
        parse(text, "baton.toml").expect_err("wrong").message
    }

    #[test]
    fn approvers_have_keys_and_mistakes_in_them_a_place() {
        let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
        let config = parse(&format!("[approvers]\nkeys = [\n  \"ana {key}\",\n]\n"), "baton.toml").expect("valid");
        assert!(config.approvers.signers().expect("sound")[0].principals.include("ana"));
        // Only whoever needs keys is told.
        let broken = parse("[approvers]\nkeys = [\n  \"ana\",\n]\n", "baton.toml").expect("the rest can be used");
        let told = broken.approvers.signers().expect_err("a mistake").message;
        assert!(told.starts_with("baton.toml:3:3: the key is missing"), "{told}");
        assert!(error("[approvers]\nfiles = \"x\"\n").starts_with("baton.toml:2:1"));
    }

    #[test]
    fn severities_permissions_and_words() {
        let settings = parse(
            "[rules]\nvague-summary = \"error\"\nabsolute-path = { allow = \"containers\" }\n[vocabulary]\nreasons = [\"legal\"]\n[check]\nsummary_tokens = 200\n",
            "baton.toml",
        )
        .expect("valid")
        .settings;
        assert_eq!(settings.levels.len(), 1);
        assert_eq!(settings.permissions[0].reason, "containers");
        assert_eq!((settings.reasons.len(), settings.summary_tokens), (1, 200));
    }

    #[test]
    fn store_has_an_address() {
        let config = parse("[store]\nurl = \"sqlite:queue.db\"\n", "baton.toml").expect("valid");
        assert_eq!(config.store_url.as_deref(), Some("sqlite:queue.db"));
        assert!(error("[store]\nlru = \"x\"\n").starts_with("baton.toml:2:1"));
    }

    #[test]
    fn anchor_is_a_file_beside_the_configuration_or_a_command() {
        let anchor = |text: &str| parse(text, "baton.toml").expect("valid").anchor.expect("one").below(Path::new("/p"));
        assert_eq!(anchor("[anchor]\nfile = \"nowhere/heads\"\n"), Anchor::File(PathBuf::from("/p/nowhere/heads")));
        assert!(matches!(anchor("[anchor]\ncommand = \"logger\"\n"), Anchor::Command { .. }));
        for wrong in ["[anchor]\n", "[anchor]\nfile = \"a\"\ncommand = \"b\"\n", "[anchor]\ncommand = \" \"\n"] {
            assert!(error(wrong).ends_with("an anchor is a `file` or a `command`: one of the two"), "{wrong}");
        }
    }

    #[test]
    fn hooks_have_a_contract_for_each_agent_and_one_for_the_main_session() {
        let text = "[hooks.main]\ndialect = \"native\"\n[hooks.agents.backend-dev]\nwrites = []\nverify = [\"make\", { name = \"t\", run = \"x\", timeout = \"5s\" }]\n";
        let hooks = parse(text, "baton.toml").expect("valid").hooks;
        assert_eq!(hooks.of(None).and_then(|main| main.dialect), Some(baton_protocol::Dialect::Native));
        let developer = hooks.of(Some("team:backend_dev")).expect("whatever its plugin and spelling");
        assert_eq!((developer.writes.as_deref(), developer.checks.len()), (Some(&[][..]), 2));
        assert_eq!(developer.checks[1].timeout, std::time::Duration::from_secs(5));
        assert!(hooks.of(Some("Explore")).is_none());
        assert!(error("[hooks.main]\ndialect = \"nativ\"\n").starts_with("baton.toml:2:11: unknown dialect `nativ`"));
        assert!(error("[hooks.main]\nverify = [\" \"]\n").starts_with("baton.toml:2:11: there is nothing to run"));
        assert!(error("[hooks.agents.a]\nwrite = []\n").starts_with("baton.toml:2:1"));
    }

    #[test]
    fn mistakes_have_a_place() {
        assert_eq!(error("[rules]\nvague-sumary = \"off\"\n"), "baton.toml:2:1: unknown rule `vague-sumary`");
        assert!(error("[rules]\nvague-summary = \"loud\"\n").starts_with("baton.toml:2:17: unknown severity `loud`"));
        assert!(error("[rules]\nunreadable = \"off\"\n").contains("cannot be changed"));
        assert!(error("[rules]\nvague-summary = { allow = \" \" }\n").contains("reason"));
        assert!(error("[ruels]\n").starts_with("baton.toml:1:2"));
    }
}
