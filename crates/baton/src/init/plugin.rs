//! The plugin for OpenCode, which has no hooks that are commands: it calls `baton hook` itself.

/// Where it lies in a project.
pub(super) const FILE: &str = ".opencode/plugin/baton.js";

/// The plugin.
pub(super) const TEXT: &str = include_str!("plugin/opencode.js");

/// Returns whether a text is the plugin, of this version or another.
pub(super) fn is_ours(text: &str) -> bool {
    text.starts_with("// Made by `baton init --opencode`")
}
