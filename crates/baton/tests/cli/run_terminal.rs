//! A run on a real pseudo-terminal: progress is drawn, people are asked in place, and Ctrl-C stops it.

use baton_testbed::account;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::run_letter::with_letter;
use crate::sandbox::{BATON, Sandbox};

/// Nothing takes so long; what does is stuck.
const TIME_MAX: Duration = Duration::from_secs(60);

fn size(columns: u16) -> Winsize {
    Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// Somebody at a terminal.
pub(crate) struct Person {
    keyboard: File,
    seen: String,
    screen: Receiver<String>,
    child: Child,
}

impl Person {
    /// Starts the program at a terminal of 80 columns.
    pub(crate) fn starts(sandbox: &Sandbox, arguments: &[&str]) -> Person {
        Person::starts_at(sandbox, 80, arguments)
    }

    /// Starts the program at a terminal of so many columns.
    pub(crate) fn starts_at(sandbox: &Sandbox, columns: u16, arguments: &[&str]) -> Person {
        let mut command = sandbox.command(BATON);
        command.args(arguments);
        Person::at(command, columns)
    }

    /// Starts a command at a terminal of so many columns.
    pub(crate) fn at(mut command: Command, columns: u16) -> Person {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&keyboard).and_then(|()| unlockpt(&keyboard)).expect("it can be used");
        tcsetwinsize(&keyboard, size(columns)).expect("it has a size");
        let name = ptsname(&keyboard, Vec::new()).expect("it has a name").into_string().expect("a path of text");
        let terminal = || -> OwnedFd { File::options().read(true).write(true).open(&name).expect("it opens").into() };
        let child = command
            .env("TERM", "xterm")
            .env("PAGER", "cat")
            .stdin(terminal())
            .stdout(terminal())
            .stderr(terminal())
            .spawn()
            .expect("the program starts");
        let mut reader = File::from(keyboard.try_clone().expect("it can be read and written"));
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The end of a terminal that everybody has left is an error.
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let _ = sender.send(String::from_utf8_lossy(&bytes[..count]).into_owned());
            }
        });
        Person { keyboard: File::from(keyboard), seen: String::new(), screen, child }
    }

    /// Reads on until something is there; returns everything up to then, and forgets it.
    pub(crate) fn sees(&mut self, text: &str) -> String {
        while !self.seen.contains(text) {
            let more = self.screen.recv_timeout(TIME_MAX);
            self.seen.push_str(&more.unwrap_or_else(|_| panic!("{text:?} did not come:\n{}", self.seen)));
        }
        let (before, after) = self.seen.split_once(text).expect("it is there");
        let before = before.to_owned();
        self.seen = after.to_owned();
        before
    }

    /// Makes the window narrower or wider.
    fn resizes(&self, columns: u16) {
        tcsetwinsize(&self.keyboard, size(columns)).expect("it has a size");
    }

    pub(crate) fn types(&mut self, line: &str) {
        self.keyboard.write_all(format!("{line}\n").as_bytes()).expect("somebody reads");
    }

    /// Returns whether the terminal shows what is typed.
    fn sees_what_they_type(&self) -> bool {
        let modes = rustix::termios::tcgetattr(&self.keyboard).expect("a terminal");
        modes.local_modes.contains(rustix::termios::LocalModes::ECHO)
    }

    fn interrupts(&self) {
        self.sends(Signal::INT);
    }

    fn sends(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it lives");
    }

    /// Waits until the program has stopped, as the shell does after Ctrl-Z.
    fn waits_for_stop(&self) {
        let changed = waitpid(Some(Pid::from_child(&self.child)), WaitOptions::UNTRACED).expect("it is ours");
        assert!(changed.is_some_and(|(_, status)| status.stopped()), "it has ended: {changed:?}");
    }

    /// Reads everything up to the end.
    pub(crate) fn reads_on(&mut self) -> String {
        while let Ok(more) = self.screen.recv_timeout(TIME_MAX) {
            self.seen.push_str(&more);
        }
        std::mem::take(&mut self.seen)
    }

    pub(crate) fn leaves(mut self) -> Option<i32> {
        self.child.wait().expect("it ends").code()
    }
}

#[test]
fn people_are_asked_in_place_and_the_run_goes_on() {
    let sandbox = with_letter();
    let mut person = Person::starts(&sandbox, &["run", "flow", "--workspace", "desk", "--id", "letter-1"]);
    let drawn = person.sees("Your decision:");
    for told in ["run letter-1 of letter", "writer, attempt 2", "does not exist; tried again", "has answered", "⟲", "↷"]
    {
        assert!(drawn.contains(told), "{told} was not shown:\n{drawn}");
    }
    assert!(drawn.contains("\u{1b}[32m✓\u{1b}[0m"), "what is done is green:\n{drawn}");
    person.types("perhaps");
    person.sees("please type one of:");
    person.sees("Your decision:");
    person.types("send");
    person.sees("A note for the record and the next agent");
    person.types("");
    person.sees(&format!("answered by {} (terminal): send", account()));
    let table = person.sees("letter-1 is completed");
    assert!(table.contains("PHASE") && table.contains("EVIDENCE"), "{table}");
    person.sees("baton audit verify letter-1");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn files_and_what_was_handed_over_can_be_viewed_before_deciding() {
    let sandbox = with_letter();
    let mut person = Person::starts(&sandbox, &["run", "flow", "--workspace", "desk", "--id", "letter-1"]);
    person.sees("\u{7}");
    person.sees("[v]iew");
    person.sees("Your decision:");
    person.types("v");
    person.sees("has handed over");
    person.sees("━━ what is decided about");
    person.sees("Your decision:");
    person.types("later");
    assert_eq!(person.leaves(), Some(3));
}

#[test]
fn last_line_of_an_agent_is_shown_while_it_works_and_how_far_the_run_is() {
    let sandbox = Sandbox::new();
    let report = r#"{"baton":1,"document":"report","outcome":"complete","summary":"Read all nine chapters."}"#;
    let shows =
        r"printf '\033[32mreading chapter 7\033[0m of a book with so many pages that no terminal shows the line\n'";
    let script = format!(
        "cat > /dev/null; {shows}; until [ -e go ]; do sleep 0.05; done; echo '{report}' > \"$BATON_REPORT_FILE\"\n"
    );
    sandbox.write("talk/reader.sh", script);
    let reader = sandbox.path("talk/reader.sh").display().to_string();
    let flow =
        format!("name: talk\nagents: {{reader: {{command: [sh, {reader}]}}}}\nphases: [{{id: read, agent: reader}}]\n");
    sandbox.write("talk/workflow.yaml", flow);
    let mut person = Person::starts(&sandbox, &["run", "talk", "--workspace", "desk", "--id", "talk-1"]);
    person.sees("reader · reading chapter 7");
    person.sees("0 of 1 phase");
    // A line and the total: what is below the cursor is removed, and drawn again in as many rows.
    person.sees("\x1b[J\x1b8\r\n\r\n\x1b[2A\r");
    person.resizes(40);
    person.sees("reading c…");
    sandbox.write("desk/go", "");
    person.sees("talk-1 is completed");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn what_is_typed_while_the_screen_is_drawn_does_not_appear_there() {
    let sandbox = with_letter();
    sandbox.write("desk/.baton/slow", "");
    let mut person = Person::starts(&sandbox, &["run", "flow", "--workspace", "desk", "--id", "letter-1"]);
    assert!(person.sees_what_they_type());
    person.sees("→ lawyer");
    assert!(!person.sees_what_they_type());
    person.types("nobody asked");
    person.interrupts();
    let drawn = person.sees("letter-1 was interrupted");
    assert!(!drawn.contains("nobody asked"), "{drawn}");
    person.sees("baton resume letter-1");
    assert!(person.sees_what_they_type(), "the terminal is as it was");
    assert_eq!(person.leaves(), Some(130));
    std::fs::remove_file(sandbox.path("desk/.baton/slow")).expect("it is there");
    let mut person = Person::starts(&sandbox, &["resume", "letter-1"]);
    person.sees("Your decision:");
    assert!(person.sees_what_they_type(), "whoever is asked sees what they type");
    person.types("later");
    assert_eq!(person.leaves(), Some(3));
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_until_the_run_continues() {
    let sandbox = with_letter();
    sandbox.write("desk/.baton/slow", "");
    let mut person = Person::starts(&sandbox, &["run", "flow", "--workspace", "desk", "--id", "letter-1"]);
    person.sees("→ lawyer");
    person.sees("of 5 phases");
    assert!(!person.sees_what_they_type());
    person.sends(Signal::TSTP);
    person.waits_for_stop();
    assert!(person.sees_what_they_type(), "the shell has its terminal");
    person.sends(Signal::CONT);
    let started = Instant::now();
    while person.sees_what_they_type() {
        assert!(started.elapsed() < TIME_MAX, "the view does not continue");
    }
    person.interrupts();
    person.sees("letter-1 was interrupted");
    assert_eq!(person.leaves(), Some(130));
}

#[test]
fn what_is_decided_later_waits() {
    let sandbox = with_letter();
    let mut person = Person::starts(&sandbox, &["run", "flow", "--workspace", "desk", "--id", "letter-1"]);
    person.sees("Your decision:");
    person.types("later");
    person.sees("letter-1 waits for a person: 1 question");
    person.sees("baton resume letter-1");
    assert_eq!(person.leaves(), Some(3));
}

#[test]
fn an_interrupt_stops_the_run_so_that_it_can_be_resumed() {
    let sandbox = with_letter();
    sandbox.write("desk/.baton/slow", "");
    let mut person = Person::starts(&sandbox, &["run", "flow", "--workspace", "desk", "--id", "letter-1"]);
    person.sees("→ lawyer");
    person.interrupts();
    person.sees("stopping: agents are being ended");
    person.sees("letter-1 was interrupted");
    person.sees("baton resume letter-1");
    assert_eq!(person.leaves(), Some(130));
    let runs = sandbox.baton(&["runs", "--json"]).json();
    assert_eq!(runs["runs"][0]["state"], "left", "nobody drives it");
    std::fs::remove_file(sandbox.path("desk/.baton/slow")).expect("it is there");
    let resumed = sandbox.baton(&["resume", "letter-1", "--answers", "answers.yaml"]);
    assert_eq!(resumed.code, Some(0), "{resumed}");
}

#[test]
fn a_run_that_somebody_drives_is_left_to_them_but_can_be_called_off() {
    let sandbox = with_letter();
    sandbox.write("desk/.baton/slow", "");
    let mut person = Person::starts(&sandbox, &["run", "flow", "--workspace", "desk", "--id", "letter-1"]);
    person.sees("→ lawyer");
    let second = sandbox.baton(&["resume", "letter-1"]);
    assert_eq!((second.code, second.stdout.as_str()), (Some(75), ""), "{second}");
    assert!(second.stderr.contains(&format!("letter-1 is driven by {}@", account())), "{second}");
    assert!(second.stderr.contains("take over end that process, then baton resume letter-1"), "{second}");
    let runs = sandbox.baton(&["runs", "--json"]).json();
    assert_eq!(runs["runs"][0]["state"], "driven");
    assert_eq!(sandbox.baton(&["cancel", "letter-1"]).code, Some(0));
    person.sees("letter-1 was cancelled");
    assert_eq!(person.leaves(), Some(1));
}

#[test]
fn what_somebody_typed_while_another_decided_does_not_reach_the_shell() {
    let sandbox = with_letter();
    let mut command = sandbox.command("setsid");
    let then = "stty -icanon min 0 time 3; printf 'left[%s]' \"$(dd bs=99 count=1 2>/dev/null)\"";
    let script = format!("{BATON} run flow --workspace desk --id r --color never; {then}");
    command.args(["--ctty", "--wait", "sh", "-c", &script]);
    let mut person = Person::at(command, 80);
    person.sees("Your decision:");
    person.keyboard.write_all(b"reject too lo").expect("somebody reads");
    person.sees("too lo");
    let shown =
        sandbox.baton(&["inbox", "--json"]).json()["waiting"][0]["digest"].as_str().expect("a digest").to_owned();
    let approved = sandbox.baton(&["answer", "r.release.1", "--choice", "send", "--yes", "--shown", &shown]);
    assert_eq!(approved.code, Some(0), "{approved}");
    let told = person.sees("has answered it elsewhere");
    assert!(told.ends_with(&format!("\n{} ", account())), "on a line of its own: {told:?}");
    let rest = person.sees("left[");
    assert!(rest.contains("r is completed") && !rest.contains("withdrawn"), "{rest}");
    let left = person.reads_on();
    assert!(left.starts_with(']'), "{left}");
}
