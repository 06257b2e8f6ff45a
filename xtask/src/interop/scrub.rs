//! Takes out of a recording what is of one machine only, and what is long and tells nothing.

use std::path::PathBuf;

use serde_json::Value;

/// More lines than these tell no more: the rest is a trace of calls.
const LINES_MAX: usize = 40;
/// Lists of the first event that are long and that nobody reads.
const LISTS: &[&str] = &["tools", "slash_commands", "agents", "plugins", "mcp_servers", "skills"];

/// Returns the text as it would have been printed on another machine.
pub(crate) fn text(text: &str, names: &[(PathBuf, &str)]) -> String {
    let mut text = text.to_owned();
    for (path, name) in names {
        text = text.replace(&*path.to_string_lossy(), name);
        let slug: String =
            path.to_string_lossy().chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
        text = text.replace(&slug, "-project");
    }
    let mut traced = false;
    let mut repeats_the_trace =
        |line: &&str| std::mem::replace(&mut traced, line.starts_with("    at ")) && line.starts_with("    at ");
    let lines = text.lines().filter(|line| !repeats_the_trace(line));
    lines.take(LINES_MAX).map(|line| format!("{}\n", shorter(line))).collect()
}

fn shorter(line: &str) -> String {
    let Ok(Value::Object(mut event)) = serde_json::from_str(line) else {
        return line.trim_end().to_owned();
    };
    for name in LISTS {
        if let Some(Value::Array(list)) = event.get_mut(*name) {
            list.truncate(3);
        }
    }
    Value::Object(event).to_string()
}
