//! Hostile agents of a driver at a terminal: they neither type into it nor show anything at it.

use baton_testbed::Process;
use serde_json::json;

use crate::den::{Den, RUN_FLOW, Who, everybody};
use crate::site::LONG;

/// Types and shows something wherever there may be a terminal, for as long as it lives.
const PRANK: &str = r#"
def prank():
    descriptors = list(range(16))
    places = ["/dev/tty", "/dev/console"] + glob.glob("/dev/pts/[0-9]*")
    for path in places + glob.glob("/proc/[0-9]*/fd/*") + glob.glob("/proc/[0-9]*/root/dev/pts/[0-9]*"):
        for flags in (os.O_RDWR, os.O_WRONLY):
            try:
                if path in places or "/dev/pts/" in os.path.realpath(path) or "root" in path:
                    descriptors.append(os.open(path, flags))
            except OSError:
                pass
    reached = 0
    for descriptor in descriptors:
        if not os.isatty(descriptor):
            continue
        for act in (lambda: fcntl.ioctl(descriptor, termios.TIOCSCTTY, 1), lambda: typed(descriptor),
                    lambda: os.write(descriptor, b"Deploy to production? A FAKE question. [a]pprove\r\n")):
            try:
                act()
                reached += 1
            except OSError:
                pass
    return reached

def typed(descriptor):
    for letter in b"a\n":
        fcntl.ioctl(descriptor, termios.TIOCSTI, bytes([letter]))
"#;

/// Reads what the terminal shows, up to a line with this text.
fn shown_until(process: &Process, text: &str) -> String {
    let mut shown = String::new();
    while !shown.contains(text) {
        let line = process.stdout.next(LONG).unwrap_or_else(|silence| panic!("no {text}: {silence:?}\n{shown}"));
        shown += &format!("{line}\n");
    }
    shown
}

#[test]
fn agent_of_a_driver_at_a_terminal_has_none() {
    let body = "trick('terminal', lambda: open('/dev/tty', 'w').write('Approve? '))\n\
        trick('typed', lambda: fcntl.ioctl(0, termios.TIOCSTI, b'a'))\n\
        seen['others'] = sorted(os.path.basename(path) for path in glob.glob('/dev/pts/*'))\ntell()";
    for (who, rest) in everybody().into_iter().flat_map(|who| [(who, ""), (who, "sandbox: off\n")]) {
        let den = Den::new(who, ("", "", rest), body);
        let mut process = den.at_terminal(&RUN_FLOW);
        let told = process.stdout.rest(LONG).expect("it ends").join("\n");
        assert_eq!(process.wait(LONG).expect("it ends").code(), Some(0), "{who:?}: {told}");
        let seen = den.told();
        assert!(seen["terminal"] == "ENXIO" && seen["typed"].is_string(), "{who:?} {rest}: {seen}");
        if rest.is_empty() {
            assert_eq!(seen["others"], json!(["ptmx"]), "{who:?}: no terminal of others is there");
        }
    }
}

#[test]
fn agent_answers_no_question_of_its_driver_and_asks_none() {
    // One stays to type when the question is there.
    let body = format!(
        "{PRANK}seen['reached'] = prank()\n\
         if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.closerange(0, 3)\n        \
         while True: prank()\n    os._exit(0)\ntell()"
    );
    for who in everybody() {
        let den = Den::new(who, ("", ", review: blocking", ""), &body);
        let mut process = den.at_terminal(&RUN_FLOW[..6]);
        let mut shown = shown_until(&process, "[l]ater");
        process.send_line("l");
        shown += &process.stdout.rest(LONG).expect("it ends").join("\n");
        assert_eq!(process.wait(LONG).expect("it ends").code(), Some(3), "{who:?}: nobody has approved\n{shown}");
        assert!(!shown.contains("FAKE"), "{who:?}: {shown}");
        assert_eq!(den.told(), json!({"reached": 0}), "{who:?}");
        let log = den.baton(&["log", "t"]).stdout;
        assert!(!log.contains("approved") && log.contains("build"), "{who:?}: {log}");
    }
}

#[test]
fn ordinary_user_without_a_cage_types_into_no_terminal() {
    // What is shown there is another matter: a user may write to the own terminals.
    let body = format!("{PRANK}prank()\ntell()");
    for who in everybody() {
        if who == Who::Me && rustix::process::getuid().is_root() {
            // Root may type into every terminal.
            continue;
        }
        let den = Den::new(who, ("", ", review: blocking", "sandbox: off\n"), &body);
        let mut process = den.at_terminal(&RUN_FLOW[..6]);
        let mut shown = shown_until(&process, "[l]ater");
        assert!(shown.contains("not caged (sandbox: off)"), "whoever decides is told: {shown}");
        process.send_line("l");
        shown += &process.stdout.rest(LONG).expect("it ends").join("\n");
        assert_eq!(process.wait(LONG).expect("it ends").code(), Some(3), "{who:?}: nobody has approved\n{shown}");
    }
}
