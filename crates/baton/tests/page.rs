//! The page from end to end: the real program, looked at with a real browser, and by hand where headers matter.

#[path = "page/browser.rs"]
mod browser;
#[path = "serve/client.rs"]
mod client;
#[path = "page/deciding.rs"]
mod deciding;
#[path = "page/entering.rs"]
mod entering;
#[path = "page/looking.rs"]
mod looking;
#[path = "page/looks.rs"]
mod looks;
#[path = "page/person.rs"]
mod person;
#[path = "page/stage.rs"]
mod stage;
