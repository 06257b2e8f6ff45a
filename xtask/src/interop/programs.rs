//! The four programs as npm installs them, kept in the user's cache folder, and a home for them in which nothing of this machine is touched.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::json;

use super::model::Model;
use super::vendor::Vendor;
use crate::failure::Failure;
use crate::{output, process};

/// Where the programs are.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    pub(crate) folder: PathBuf,
}

impl Programs {
    /// Installs what is not there yet in the pinned versions.
    pub(crate) fn install(folder: &Path) -> Result<Self> {
        for needed in ["node", "npm"] {
            if !process::succeeds(Command::new(needed).arg("--version")) {
                let what = format!("`{needed}` cannot be started, and the programs of the four vendors come from npm");
                return Err(Failure::usage(what, "install Node.js 20 or later, which brings npm").into());
            }
        }
        let programs = Self { folder: folder.to_owned() };
        let missing: Vec<String> = Vendor::ALL
            .into_iter()
            .filter(|vendor| !programs.has(*vendor))
            .map(|vendor| format!("{}@{}", vendor.package().0, vendor.package().1))
            .collect();
        if !missing.is_empty() {
            output::note(&format!("npm installs {}", missing.join(", ")));
            std::fs::create_dir_all(folder)?;
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]).arg(folder).args(&missing);
            process::run(&mut npm, "npm must reach its registry; what is there already is kept")?;
        }
        Ok(programs)
    }

    /// Returns the search path on which the programs come first.
    pub(crate) fn search_path(&self) -> Result<String> {
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = vec![self.folder.join("node_modules/.bin")];
        // OpenCode looks for skills with ripgrep and would download it; Codex brings one.
        folders.extend(self.ripgrep());
        folders.extend(std::env::split_paths(&inherited));
        Ok(std::env::join_paths(folders)?.to_string_lossy().into_owned())
    }

    fn has(&self, vendor: Vendor) -> bool {
        let (package, version) = vendor.package();
        let manifest = self.folder.join("node_modules").join(package).join("package.json");
        let text = std::fs::read_to_string(manifest).unwrap_or_default();
        serde_json::from_str::<serde_json::Value>(&text).is_ok_and(|manifest| manifest["version"] == version)
    }

    fn ripgrep(&self) -> Option<PathBuf> {
        let vendored = self.folder.join("node_modules/@openai/codex-linux-x64/vendor");
        let folder = std::fs::read_dir(vendored).ok()?.flatten().next()?.path();
        ["path", "codex-path"].into_iter().map(|name| folder.join(name)).find(|folder| folder.join("rg").is_file())
    }
}

/// A home folder with the settings of the four programs.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    pub(crate) folder: PathBuf,
}

impl Home {
    /// Writes the settings, all of which lead to the model.
    pub(crate) fn create(folder: PathBuf, model: &Model) -> Result<Self> {
        let write = |path: &str, text: String| -> Result<()> {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().context("a file has a folder")?)?;
            std::fs::write(path, text)?;
            Ok(())
        };
        for own in [".claude", ".cache", ".local/share/opencode", ".local/state/opencode"] {
            std::fs::create_dir_all(folder.join(own))?;
        }
        write(".codex/config.toml", codex_settings(&model.url(Vendor::Codex)))?;
        write(".gemini/settings.json", gemini_settings().to_string())?;
        write(".config/opencode/opencode.json", opencode_settings(&model.url(Vendor::Opencode)).to_string())?;
        Ok(Self { folder })
    }

    /// Returns the environment in which a program of this home runs, and nothing else of this machine.
    pub(crate) fn environment(&self, programs: &Programs, model: &Model) -> Result<Vec<(&'static str, String)>> {
        Ok(vec![
            ("PATH", programs.search_path()?),
            ("HOME", self.folder.to_string_lossy().into_owned()),
            ("USER", "ana".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TERM", "dumb".to_owned()),
            ("ANTHROPIC_BASE_URL", model.url(Vendor::Claude)),
            ("ANTHROPIC_API_KEY", "not-a-key".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            // Ten tries of three minutes teach nothing that two do not.
            ("CLAUDE_CODE_MAX_RETRIES", "1".to_owned()),
            ("LOCAL_KEY", "not-a-key".to_owned()),
            ("GEMINI_API_KEY", "not-a-key".to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", model.url(Vendor::Gemini)),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
        ])
    }
}

fn codex_settings(url: &str) -> String {
    format!(
        "model = \"gpt-9\"\nmodel_provider = \"local\"\n\n[model_providers.local]\nname = \"local\"\nbase_url = \"{url}\"\n\
         wire_api = \"responses\"\nenv_key = \"LOCAL_KEY\"\nrequest_max_retries = 1\nstream_max_retries = 1\n"
    )
}

fn gemini_settings() -> serde_json::Value {
    json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"maxAttempts": 2, "disableAutoUpdate": true, "enableAutoUpdate": false},
        "privacy": {"usageStatisticsEnabled": false},
    })
}

fn opencode_settings(url: &str) -> serde_json::Value {
    json!({
        "model": "anthropic/claude-9", "small_model": "anthropic/claude-9", "autoupdate": false, "share": "disabled",
        "provider": {"anthropic": {
            "options": {"baseURL": format!("{url}/v1"), "apiKey": "not-a-key"},
            "models": {"claude-9": {
                "name": "Claude 9", "tool_call": true, "limit": {"context": 200_000, "output": 8000},
                "cost": {"input": 3, "output": 15, "cache_read": 0.3},
            }},
        }},
    })
}
