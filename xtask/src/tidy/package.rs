//! The crates of the workspace and what they are built from, as Cargo tells it.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;
use crate::text_file::TextFile;

/// One crate of the workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest: TextFile,
    /// What it is built from; names of other people's crates included.
    pub(crate) dependencies: Vec<String>,
}

/// Asks Cargo for the crates of the workspace.
pub(crate) fn read_all(root: &Path) -> Result<Vec<Package>> {
    let arguments = ["metadata", "--no-deps", "--format-version", "1", "--locked", "--offline", "--quiet"];
    let hint = "correct the manifest that Cargo reports above";
    let answer = process::stdout(&mut process::cargo(root, &arguments), hint)?;
    let answer: Value = serde_json::from_str(&answer).context("`cargo metadata` is not JSON")?;
    let root = answer["workspace_root"].as_str().context("`cargo metadata` has no root")?;
    let packages = answer["packages"].as_array().context("`cargo metadata` has no packages")?;
    packages.iter().map(|package| read(Path::new(root), package)).collect()
}

fn read(root: &Path, package: &Value) -> Result<Package> {
    let name = package["name"].as_str().context("a package has no name")?;
    let path = package["manifest_path"].as_str().context("a package has no manifest")?;
    let path = Path::new(path).strip_prefix(root).context("a package lies outside")?;
    let path = path.to_string_lossy().replace('\\', "/");
    let manifest = TextFile::read(root, &path)?.context("a manifest is not text")?;
    let dependencies = package["dependencies"].as_array().context("no dependencies")?;
    Ok(Package { name: name.to_owned(), manifest, dependencies: built_from(dependencies) })
}

/// Returns the names of all dependencies but those for development.
fn built_from(dependencies: &[Value]) -> Vec<String> {
    let built = dependencies.iter().filter(|dependency| dependency["kind"] != "dev");
    built.filter_map(|dependency| dependency["name"].as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn development_dependencies_are_free() {
        let answer = r#"[{"name": "a", "kind": "dev"}, {"name": "b", "kind": null}, {"name": "c", "kind": "build"}]"#;
        let dependencies: Vec<Value> = serde_json::from_str(answer).unwrap();
        assert_eq!(built_from(&dependencies), ["b", "c"]);
    }
}
