//! A run on a terminal that wraps its lines again when its window is resized: tmux. Nothing that is finished is lost, and
//! nothing that changed stays behind.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::sandbox::{BATON, Sandbox};

const PARTS: usize = 7;

/// Nothing takes so long; what does is stuck.
const TIME_MAX: Duration = Duration::from_secs(60);

/// A terminal in tmux, on a server of its own.
struct Window<'a> {
    sandbox: &'a Sandbox,
    server: String,
}

impl<'a> Window<'a> {
    fn opens(sandbox: &'a Sandbox, size: (u16, u16), script: &str) -> Window<'a> {
        let server = format!("baton-resized-{}", std::process::id());
        let window = Window { sandbox, server };
        let (columns, rows) = (size.0.to_string(), size.1.to_string());
        window.tmux(&["new-session", "-d", "-x", &columns, "-y", &rows, script]);
        window
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut command: Command = self.sandbox.command("tmux");
        command.args(["-u", "-L", &self.server, "-f", "/dev/null"]).args(arguments);
        let output = command.env_remove("TMUX").output().expect("tmux is installed");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Waits until the screen with its history is as it should be.
    fn shows(&self, what: &str, is_right: impl Fn(&str) -> bool) -> String {
        let started = Instant::now();
        loop {
            let screen = self.tmux(&["capture-pane", "-p", "-J", "-S", "-"]);
            if is_right(&screen) {
                return screen;
            }
            assert!(started.elapsed() < TIME_MAX, "{what}:\n{screen}");
        }
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// Several agents that talk until each of them may finish.
fn readers() -> Sandbox {
    let sandbox = Sandbox::new();
    let report = r#"{"baton":1,"document":"report","outcome":"complete","summary":"Read its nine ideas."}"#;
    let talks = "reading a book with so many pages that no terminal shows the whole line that an agent writes about it";
    let script = format!(
        "cat > /dev/null; until [ -e \"$1\" ]; do echo {talks}; sleep 0.1; done; echo '{report}' > \"$BATON_REPORT_FILE\"\n"
    );
    sandbox.write("book/reader.sh", script).write("desk/empty", "");
    let reader = sandbox.path("book/reader.sh").display().to_string();
    let (mut agents, mut phases) = (String::new(), String::new());
    for part in 1..=PARTS {
        agents.push_str(&format!("  agent{part}: {{command: [sh, {reader}, go{part}]}}\n"));
        phases.push_str(&format!("      - {{id: part{part}, agent: agent{part}}}\n"));
    }
    let flow = format!("name: book\nagents:\n{agents}phases:\n  - id: all\n    parallel:\n{phases}");
    sandbox.write("book/workflow.yaml", flow);
    sandbox
}

#[test]
fn resized_window_keeps_what_is_finished_and_nothing_else() {
    let sandbox = readers();
    let script = format!("{BATON} run book --workspace desk --id b; exec cat");
    let window = Window::opens(&sandbox, (110, 20), &script);
    window.shows("it begins", |screen| screen.contains("agent1 · reading"));
    let changing = |line: &&str| line.contains(['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']);
    let total = |line: &&str| line.contains(" · 0 of 1 phase");
    let count = |screen: &str, part: &str| screen.lines().filter(|line| line.trim_start().starts_with(part)).count();
    let sizes = [("50", "20"), ("50", "6"), ("120", "24"), ("40", "24"), ("110", "8"), ("80", "20")];
    for (part, (columns, rows)) in sizes.into_iter().enumerate() {
        let part = part + 1;
        window.tmux(&["resize-window", "-x", columns, "-y", rows]);
        sandbox.write(&format!("desk/go{part}"), "");
        let open = PARTS - part;
        // All that are open have one line each, or the last line tells how many have none; below is how far the run is.
        window.shows(&format!("{columns} by {rows}"), |screen| {
            let spinning = screen.lines().filter(changing).count();
            let more = |line: &str| line.trim().strip_prefix("… and ")?.split(' ').next()?.parse().ok();
            let open_now = spinning + screen.lines().find_map(more).unwrap_or(0);
            let finished = (1..=part).all(|part| count(screen, &format!("✓ all/part{part}")) == 1);
            finished && open_now == open && screen.lines().filter(total).count() == 1
        });
    }
    sandbox.write("desk/go7", "");
    let screen = window.shows("it ends", |screen| screen.contains("b is completed"));
    for part in 1..=PARTS {
        assert_eq!(count(&screen, &format!("✓ all/part{part}")), 1, "{part}:\n{screen}");
    }
    assert_eq!(screen.lines().filter(|line| changing(line) || total(line)).count(), 0, "{screen}");
}
