//! What keeps agents and commands away from what is not theirs on this machine.

use baton_agents::Launcher;
use baton_engine::protection::Protection;

use super::Sign;

/// Where people read what follows from it.
const READ: &str = "docs/trust.md says what that means";

/// Looks at what the launcher can use.
pub(super) fn look() -> Vec<Sign> {
    let mut signs = vec![cage(&Launcher::protection())];
    let missing = Launcher::missing_programs();
    if !missing.is_empty() {
        let are = if missing.len() == 1 { "is" } else { "are" };
        let says =
            format!("{} {are} missing: processes have no session of their own, or no limits", missing.join(" and "));
        signs.push(Sign::warning("launcher", says, "install the package util-linux"));
    }
    signs
}

fn cage(protection: &Protection) -> Sign {
    match protection {
        Protection::Bubblewrap => Sign::fine("sandbox", "agents and commands are caged by bubblewrap"),
        Protection::Landlock { why } | Protection::Nothing { why } => {
            Sign::warning("sandbox", format!("agents and commands are {protection}"), hint(why))
        }
    }
}

fn hint(why: &str) -> String {
    match why.starts_with("bubblewrap is not installed") {
        true => format!("install bubblewrap (Debian: apt-get install bubblewrap); {READ}"),
        false => format!("allow user namespaces here, or run agents in a container of their own; {READ}"),
    }
}
