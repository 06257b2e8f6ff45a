//! The page from end to end: the real program, looked at with a real browser, and by hand where headers matter.

#[path = "page/asking.rs"]
mod asking;
#[path = "page/balancer.rs"]
mod balancer;
#[path = "page/browser.rs"]
mod browser;
#[path = "serve/client.rs"]
mod client;
#[path = "page/deciding.rs"]
mod deciding;
#[path = "page/encrypted.rs"]
mod encrypted;
#[path = "page/entering.rs"]
mod entering;
#[path = "page/going_on.rs"]
mod going_on;
#[path = "page/looking.rs"]
mod looking;
#[path = "page/looks.rs"]
mod looks;
#[path = "page/person.rs"]
mod person;
#[path = "page/phone.rs"]
mod phone;
#[path = "page/signing.rs"]
mod signing;
#[path = "page/stage.rs"]
mod stage;
#[path = "page/starting.rs"]
mod starting;
#[path = "page/two_servers.rs"]
mod two_servers;
#[path = "page/whole.rs"]
mod whole;
