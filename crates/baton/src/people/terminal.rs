//! Asks at the terminal, in place, one question at a time. A question that was decided elsewhere is taken back.

use std::sync::Arc;

use async_trait::async_trait;
use baton_engine::door::Door;
use baton_engine::lifecycle::Decision;
use baton_engine::people::{People, Question, Response};
use baton_protocol::printable;
use baton_views::question::heading;
use tokio::sync::Mutex;

use super::keyboard::{Keyboard, forget_what_was_typed};
use super::menu::{self, MenuChoice};
use super::talk::{Screen, Talk};
use crate::exhibits::Exhibits;
use crate::guard::Person;
use crate::render;

/// How many rows the menu below a question needs.
const MENU_ROWS: usize = 4;

/// Asks at the terminal.
pub(crate) struct Terminal {
    screen: Arc<dyn Screen>,
    /// Who sits there.
    by: Person,
    /// What they can look at.
    exhibits: Option<Exhibits>,
    /// Whoever holds it asks; the others wait in their order.
    desk: Mutex<Desk>,
}

#[derive(Debug)]
struct Desk {
    keyboard: Keyboard,
    /// Whether the last question was taken back: what is typed now may have been meant for that one.
    was_taken_back: bool,
}

impl Terminal {
    /// Asks on this screen, with what is typed on standard input.
    pub(crate) fn new(screen: Arc<dyn Screen>, by: Person, exhibits: Exhibits) -> Terminal {
        Terminal { exhibits: Some(exhibits), ..Terminal::with_keyboard(screen, by, Keyboard::new()) }
    }

    fn with_keyboard(screen: Arc<dyn Screen>, by: Person, keyboard: Keyboard) -> Terminal {
        Terminal { screen, by, exhibits: None, desk: Mutex::new(Desk { keyboard, was_taken_back: false }) }
    }
}

#[async_trait]
impl People for Terminal {
    async fn decide(&self, question: &Question) -> Option<Response> {
        // Nobody is asked for what would not count; who can answer it is told with everything that waits.
        question.is_for(&self.by.decider()).ok()?;
        let mut desk = self.desk.lock().await;
        let mut asking = Asking::begin((self.screen.as_ref(), self.exhibits.as_ref()), &mut desk, question);
        let said = asking.decide(question).await;
        asking.is_over = true;
        let (decision, note) = said?;
        Some(Response { decision, note, by: self.by.decider(), door: Door::Terminal })
    }
}

/// One question on the screen. Dropped before it is over, it was taken back.
struct Asking<'a> {
    talk: Talk<'a>,
    was_taken_back: &'a mut bool,
    /// Whether what is typed may have been meant for the question before.
    in_doubt: bool,
    is_over: bool,
}

impl<'a> Asking<'a> {
    fn begin(
        (screen, exhibits): (&'a dyn Screen, Option<&'a Exhibits>),
        desk: &'a mut Desk,
        question: &Question,
    ) -> Asking<'a> {
        screen.hold(&question.handoff);
        forget_what_was_typed();
        let in_doubt = std::mem::take(&mut desk.was_taken_back);
        let talk = Talk::new(screen, &mut desk.keyboard, exhibits);
        // Nobody can have meant a question that was not there yet.
        if let Some(line) = talk.keyboard.typed_before().filter(|line| !line.trim().is_empty()) {
            talk.tell(&format!("ignored, because nothing was asked: {line}"));
        }
        let shown = render::question::lines(question, talk.paint());
        screen.write(&format!("\n{shown}"));
        // What is asked has scrolled out of sight.
        if screen.rows().is_some_and(|rows| shown.lines().count() + MENU_ROWS > rows) {
            screen.write("\n");
            talk.tell(&format!("{}: too long for the screen; `v` shows it from the top", heading(question)));
        }
        Asking { talk, was_taken_back: &mut desk.was_taken_back, in_doubt, is_over: false }
    }

    async fn decide(&mut self, question: &Question) -> Option<(Decision, Option<String>)> {
        loop {
            self.talk.screen.write("\n");
            self.talk.tell(&menu::line(question));
            let prompt = if question.reply.is_answer() { "Your answer:" } else { "Your decision:" };
            let typed = self.talk.line(prompt).await?;
            if typed.trim().is_empty() {
                continue;
            }
            let wish = match menu::read(question, &typed) {
                Ok(MenuChoice::Later) => return None,
                Ok(wish) => wish,
                Err(why) => {
                    self.talk.tell(&why);
                    continue;
                }
            };
            if let Some(decided) = self.complete(question, wish).await
                && self.is_meant(question).await
            {
                return Some(decided);
            }
        }
    }

    /// Asks for what is missing; `None` if it is not decided yet.
    async fn complete(&mut self, question: &Question, wish: MenuChoice) -> Option<(Decision, Option<String>)> {
        let talk = &mut self.talk;
        let decision = match wish {
            MenuChoice::Approve(Some(note)) => return Some((Decision::Approve, Some(note))),
            MenuChoice::Approve(None) => return Some((Decision::Approve, talk.note().await?)),
            MenuChoice::Choose(choice) => {
                let decision = Decision::Answer { answers: choice };
                // What an agent is answered says all; a choice of a workflow may need a word to whoever goes on.
                let note = if question.reply.is_answer() { None } else { talk.note().await? };
                return Some((decision, note));
            }
            MenuChoice::Reject(Some(feedback)) => Decision::Reject { feedback },
            MenuChoice::Reject(None) => {
                Decision::Reject { feedback: talk.text("What must be done differently?").await? }
            }
            MenuChoice::Ask(Some(question)) => Decision::Ask { question },
            MenuChoice::Ask(None) => Decision::Ask { question: talk.text("What do you want to know?").await? },
            MenuChoice::Answer(Some(first)) if question.reply.is_answer() => {
                Decision::Answer { answers: talk.rest_of(first).await? }
            }
            MenuChoice::Answer(Some(answers)) => Decision::Answer { answers },
            MenuChoice::Answer(None) => Decision::Answer { answers: talk.answers(question).await? },
            MenuChoice::View => {
                talk.view(question).await;
                return None;
            }
            MenuChoice::Document => {
                talk.tell(&baton_views::question::whole(question));
                return None;
            }
            MenuChoice::Later => return None,
        };
        Some((decision, None))
    }

    /// Makes sure that a decision was not typed for the question that has just disappeared.
    async fn is_meant(&mut self, question: &Question) -> bool {
        if !self.in_doubt {
            return true;
        }
        let place = if question.phase.is_empty() { question.handoff.as_str() } else { &question.phase };
        let prompt = format!("The previous question was withdrawn. Is this meant for {place}?");
        self.in_doubt = !self.talk.confirm(&prompt, None).await;
        !self.in_doubt
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            *self.was_taken_back = true;
            forget_what_was_typed();
        }
        // A screen that has heard why says so itself, and at once: this may come late.
        if !self.is_over && self.talk.screen.is_held() {
            self.talk.screen.write("\n");
            self.talk.tell("this question was withdrawn");
            if !self.talk.unfinished.is_empty() {
                self.talk.tell(&format!("ignored: {}", printable(&self.talk.unfinished.join("\n"))));
            }
        }
        self.talk.screen.go_on();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, PipeWriter, Write};
    use std::sync::Mutex as StdMutex;
    use std::time::Duration;

    use baton_engine::HandoffId;
    use baton_engine::people::ExpectedReply;

    use super::*;
    use crate::people::sample;

    /// Remembers what was written, and when drawing was held.
    #[derive(Default)]
    struct Paper {
        text: StdMutex<String>,
        rows: Option<usize>,
    }

    impl Paper {
        fn text(&self) -> String {
            self.text.lock().expect("no panic").clone()
        }
    }

    impl Screen for Paper {
        fn write(&self, text: &str) {
            self.text.lock().expect("no panic").push_str(text);
        }

        fn rows(&self) -> Option<usize> {
            self.rows
        }

        fn hold(&self, _handoff: &HandoffId) {
            self.write("<hold>");
        }

        fn go_on(&self) {
            self.write("<go on>");
        }
    }

    /// A terminal at which this was typed, what it shows, and where more can be typed.
    fn terminal(typed: &str) -> (Terminal, Arc<Paper>, PipeWriter) {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        writer.write_all(typed.as_bytes()).expect("typed");
        let paper = Arc::new(Paper::default());
        let keyboard = Keyboard::reading(|| BufReader::new(reader));
        (Terminal::with_keyboard(paper.clone(), Person::named("ana"), keyboard), paper, writer)
    }

    #[tokio::test]
    async fn what_is_asked_is_said_again_below_a_question_that_is_longer_than_the_screen() {
        let question = sample::question("plan", ExpectedReply::Review);
        let below =
            "plan (run-1.plan): work of writer, to be reviewed: too long for the screen; `v` shows it from the top\n";
        for (rows, times) in [(None, 0), (Some(24), 0), (Some(5), 1)] {
            let (reader, writer) = std::io::pipe().expect("a pipe");
            drop(writer);
            let paper = Arc::new(Paper { rows, ..Paper::default() });
            let keyboard = Keyboard::reading(|| BufReader::new(reader));
            let terminal = Terminal::with_keyboard(paper.clone(), Person::named("ana"), keyboard);
            assert_eq!(terminal.decide(&question).await, None);
            assert_eq!(paper.text().matches(below).count(), times, "{rows:?}:\n{}", paper.text());
        }
    }

    async fn said(question: &Question, typed: &str) -> Option<(Decision, Option<String>)> {
        let (terminal, _, writer) = terminal(typed);
        drop(writer);
        let said = terminal.decide(question).await?;
        assert_eq!((said.by.name.as_str(), said.door), ("ana", Door::Terminal));
        Some((said.decision, said.note))
    }

    /// Waits until something is shown.
    async fn shows(paper: &Paper, shown: &str) {
        let seen = async {
            while !paper.text().contains(shown) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), seen).await.expect("it is shown");
    }

    /// Asks, and types when something is shown.
    async fn said_when(
        terminal: &Terminal,
        question: &Question,
        paper: &Paper,
        typed: (&str, &mut PipeWriter, &str),
    ) -> Option<Response> {
        let (shown, writer, text) = typed;
        let typing = async {
            shows(paper, shown).await;
            writer.write_all(text.as_bytes()).expect("typed");
        };
        tokio::join!(terminal.decide(question), typing).0
    }

    #[tokio::test]
    async fn a_review_is_approved_rejected_or_asked_about() {
        let review = sample::question("plan", ExpectedReply::Review);
        let reject = |feedback: &str| Decision::Reject { feedback: feedback.to_owned() };
        assert_eq!(said(&review, "a\n\n").await, Some((Decision::Approve, None)));
        assert_eq!(said(&review, "a\ngo ahead\n").await, Some((Decision::Approve, Some("go ahead".to_owned()))));
        assert_eq!(said(&review, "approve go ahead\n").await, Some((Decision::Approve, Some("go ahead".to_owned()))));
        assert_eq!(said(&review, "r no tests\n").await, Some((reject("no tests"), None)));
        assert_eq!(said(&review, "r\none\ntwo\n\n").await, Some((reject("one\ntwo"), None)));
        let asked = Decision::Ask { question: "why?".to_owned() };
        assert_eq!(said(&review, "nonsense\n\nd\nq\nwhy?\n\n").await, Some((asked, None)));
    }

    #[tokio::test]
    async fn nothing_is_decided_by_silence() {
        let review = sample::question("plan", ExpectedReply::Review);
        for typed in ["", "\n\n", "l\n", "y\n", "r\nbecause", "r\n\n", "answer yes\n", "approved\n", "a\n"] {
            assert_eq!(said(&review, typed).await, None, "{typed:?}");
        }
    }

    #[tokio::test]
    async fn choices_are_picked_by_number_or_name() {
        let mut gate = sample::question("limit", ExpectedReply::Choice);
        gate.choices = [("continue", "goes on"), ("stop", "")].map(|(word, text)| (word.into(), text.into())).into();
        let chosen = |word: &str| Some((Decision::Answer { answers: word.to_owned() }, None));
        assert_eq!(said(&gate, "2\n\n").await, chosen("stop"));
        assert_eq!(said(&gate, "3\nContinue\n\n").await, chosen("continue"));
        let noted = Some((Decision::Answer { answers: "continue".to_owned() }, Some("with care".to_owned())));
        assert_eq!(said(&gate, "1\nwith care\n").await, noted);
        assert_eq!(said(&gate, "a\n").await, None, "approval is not among the choices");
    }

    #[tokio::test]
    async fn what_is_typed_at_a_question_is_the_answer() {
        let answer = |text: &str| Some((Decision::Answer { answers: text.to_owned() }, None));
        for reply in [ExpectedReply::Clarification, ExpectedReply::Escalation] {
            let mut asked = sample::question("plan", reply);
            asked.questions = sample::asked(&[("Which?", &[])]);
            assert_eq!(said(&asked, "SQLite\n\n").await, answer("SQLite"));
            assert_eq!(said(&asked, "SQLite\nor a file\n\n").await, answer("SQLite\nor a file"));
            assert_eq!(said(&asked, "a\nlater\n\n").await, answer("later"), "`a` takes what follows as it is");
            assert_eq!(said(&asked, "a\n").await, None, "nobody approves a question");
            assert_eq!(said(&asked, "SQLite\n").await, None, "it is not finished");
            asked.choices = asked_choices();
            assert_eq!(said(&asked, "2\n").await, answer("PostgreSQL"));
            assert_eq!(said(&asked, "a file\n\n").await, answer("a file"));
        }
    }

    fn asked_choices() -> Vec<(String, String)> {
        ["SQLite", "PostgreSQL"].map(|word| (word.to_owned(), String::new())).into()
    }

    #[tokio::test]
    async fn every_question_is_answered() {
        let mut asked = sample::question("plan", ExpectedReply::Clarification);
        asked.questions = sample::asked(&[("Which?", &[]), ("When?", &[])]);
        let answers = Decision::Answer { answers: "1. SQLite\n2. Now\n   or later".to_owned() };
        assert_eq!(said(&asked, "a\nSQLite\n\nNow\nor later\n\n").await, Some((answers, None)));
        assert_eq!(said(&asked, "a\nSQLite\n\n\n\n").await, None, "the second has no answer");
        let again = Decision::Answer { answers: "1. SQLite\n2. Now".to_owned() };
        assert_eq!(said(&asked, "a\nSQLite\n\n\nNow\n\n").await, Some((again, None)), "it is asked once more");
        let all = Decision::Answer { answers: "SQLite, now".to_owned() };
        assert_eq!(said(&asked, "SQLite, now\n\n").await, Some((all, None)));
    }

    #[tokio::test]
    async fn options_are_picked_or_answered_in_own_words() {
        let mut asked = sample::question("plan", ExpectedReply::Escalation);
        asked.questions = sample::asked(&[("Which?", &["SQLite", "PostgreSQL"]), ("When?", &[])]);
        let answers = |which: &str| Some((Decision::Answer { answers: format!("1. {which}\n2. Now") }, None));
        assert_eq!(said(&asked, "a\n2\nNow\n\n").await, answers("PostgreSQL"));
        assert_eq!(said(&asked, "a\nsqlite\nNow\n\n").await, answers("SQLite"));
        assert_eq!(said(&asked, "a\n3\n\nNow\n\n").await, answers("3"), "not offered, but their own words");
        assert_eq!(said(&asked, "a\nNeither:\n2\n\nNow\n\n").await, answers("Neither:\n   2"));
    }

    #[tokio::test]
    async fn questions_wait_for_each_other() {
        let (terminal, paper, _writer) = terminal("a\n\nl\n");
        let (first, second) =
            (sample::question("first", ExpectedReply::Review), sample::question("second", ExpectedReply::Review));
        let (one, two) = tokio::join!(terminal.decide(&first), terminal.decide(&second));
        assert_eq!((one.map(|said| said.decision), two), (Some(Decision::Approve), None));
        insta::assert_snapshot!(paper.text(), @"
        <hold>
        first (run-1.first): work of writer, to be reviewed
        status    complete
        summary   All rows are written.

        [a]pprove  [r]eject  [q]uestion  [v]iew  [d]ocument  [l]ater
        Your decision: A note for the record and the next agent (an empty line for none)
        > <go on><hold>
        second (run-1.second): work of writer, to be reviewed
        status    complete
        summary   All rows are written.

        [a]pprove  [r]eject  [q]uestion  [v]iew  [d]ocument  [l]ater
        Your decision: <go on>
        ");
    }

    #[tokio::test]
    async fn a_question_that_is_taken_back_approves_nothing_else() {
        let (terminal, paper, mut writer) = terminal("r\nmuch to say\n");
        let (first, second) =
            (sample::question("first", ExpectedReply::Review), sample::question("second", ExpectedReply::Review));
        tokio::select! {
            said = terminal.decide(&first) => panic!("nobody decided, but {said:?}"),
            () = shows(&paper, "> >") => {}
        }
        let text = paper.text();
        assert!(text.ends_with("this question was withdrawn\nignored: much to say\n<go on>"), "{text}");
        // The first word may have been typed for the question before: it must be said again.
        let typed = ("second (run-1.second)", &mut writer, "a\n\nno\na\n\ny\n");
        let said = said_when(&terminal, &second, &paper, typed).await.expect("decided");
        assert_eq!(said.decision, Decision::Approve);
        assert_eq!(paper.text().matches("Is this meant for second?").count(), 2);
        let third = sample::question("third", ExpectedReply::Review);
        assert!(said_when(&terminal, &third, &paper, ("third (run-1.third)", &mut writer, "a\n\n")).await.is_some());
        assert_eq!(paper.text().matches("Is this meant for").count(), 2, "only the next one is in doubt");
    }

    #[tokio::test]
    async fn what_was_typed_before_a_question_does_not_answer_it() {
        let (terminal, paper, mut writer) = terminal("");
        let (first, second) =
            (sample::question("first", ExpectedReply::Review), sample::question("second", ExpectedReply::Review));
        tokio::select! {
            said = terminal.decide(&first) => panic!("nobody decided, but {said:?}"),
            () = shows(&paper, "Your decision:") => {}
        }
        writer.write_all(b"approve\n").expect("typed");
        // The line has arrived when nobody asked for it.
        while terminal.desk.lock().await.keyboard.is_silent() {
            tokio::task::yield_now().await;
        }
        let typed = ("second (run-1.second)", &mut writer, "l\n");
        assert_eq!(said_when(&terminal, &second, &paper, typed).await, None);
        assert!(paper.text().contains("ignored, because nothing was asked: approve"), "{}", paper.text());
    }
}
