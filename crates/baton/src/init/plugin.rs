//! The plugin for OpenCode, which has no hooks that are commands: it calls `baton hook` itself.

/// Where it lies in a project.
pub(super) const FILE: &str = ".opencode/plugin/baton.js";

/// The plugin.
pub(super) const TEXT: &str = include_str!("plugin/opencode.js");
