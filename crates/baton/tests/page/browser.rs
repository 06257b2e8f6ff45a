//! A real browser: Chromium without a screen, driven over WebDriver, which is JSON over HTTP.

use std::process::{Command, Stdio};
use std::time::Instant;

use baton_testbed::{Process, Scratch};
use serde_json::{Value, json};

use crate::client::{Answer, Client, LONG};

/// The name under which WebDriver hands out elements.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// What WebDriver says of an element that has just been replaced: usually in its own words, sometimes in those of Chromium.
const REPLACED: [&str; 2] = ["stale element reference", "does not belong to the document"];

/// Browsers are started by this program.
pub(crate) struct Driver {
    client: Client,
    scratch: Scratch,
    _process: Process,
}

/// How a browser is set.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) is_dark: bool,
    pub(crate) has_no_scripts: bool,
    /// The width of its window.
    pub(crate) width: Option<u32>,
    /// The only certificate that it believes without an authority: the SHA-256 of its key, in Base64.
    pub(crate) trusts: Option<&'static str>,
}

/// A browser with one window.
pub(crate) struct Browser<'d> {
    driver: &'d Driver,
    session: String,
}

impl Driver {
    pub(crate) fn start() -> Driver {
        let mut command = Command::new("chromedriver");
        let process = Process::spawn(command.arg("--port=0").stderr(Stdio::null()));
        let line = process.stdout.find("started successfully on port", LONG).expect("chromedriver starts");
        let port = line.trim_end_matches('.').rsplit(' ').next().expect("a port");
        let client = Client { address: format!("127.0.0.1:{port}"), token: None };
        Driver { client, scratch: Scratch::new(), _process: process }
    }

    /// Opens a browser that knows nothing of others.
    pub(crate) fn open(&self, name: &str, settings: &Settings) -> Browser<'_> {
        let profile = format!("--user-data-dir={}", self.scratch.path(name).display());
        let size = format!("--window-size={},900", settings.width.unwrap_or(1200));
        let trusts = format!("--ignore-certificate-errors-spki-list={}", settings.trusts.unwrap_or_default());
        let args = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            &profile,
            &size,
            &trusts,
        ];
        let scripts = if settings.has_no_scripts { 2 } else { 1 };
        let options = json!({
            "args": args,
            "prefs": { "profile.managed_default_content_settings.javascript": scripts },
        });
        let wanted = json!({ "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" } });
        let body = json!({ "capabilities": { "alwaysMatch": wanted } });
        let opened = self.client.post("/session", &body).expect(200);
        let session = opened["value"]["sessionId"].as_str().expect("a session").to_owned();
        let browser = Browser { driver: self, session };
        browser.call("timeouts", &json!({ "implicit": LONG.as_millis() as u64 }));
        if let Some(width) = settings.width {
            let metrics = json!({ "width": width, "height": 740, "deviceScaleFactor": 1, "mobile": false });
            browser.tool("Emulation.setDeviceMetricsOverride", metrics);
        }
        let scheme = if settings.is_dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        browser.tool("Emulation.setEmulatedMedia", json!({ "features": features }));
        browser
    }
}

impl Drop for Browser<'_> {
    fn drop(&mut self) {
        self.driver.client.ask("DELETE", &format!("/session/{}", self.session), &[], "");
    }
}

impl Browser<'_> {
    fn path(&self, command: &str) -> String {
        format!("/session/{}/{command}", self.session)
    }

    #[track_caller]
    fn call(&self, command: &str, body: &Value) -> Value {
        self.driver.client.post(&self.path(command), body).expect(200)["value"].clone()
    }

    fn tool(&self, command: &str, parameters: Value) -> Value {
        self.call("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// Goes to an address.
    pub(crate) fn go(&self, url: &str) {
        self.call("url", &json!({ "url": url }));
    }

    /// Logs in with a token, from the page that leads to the form.
    pub(crate) fn log_in(&self, url: &str, token: &str) {
        self.go(url);
        self.write("input[name=token]", token);
        self.click("button.main");
    }

    /// Waits for an element. Returns how WebDriver calls it.
    #[track_caller]
    fn find(&self, css: &str) -> String {
        let found = self.call("element", &json!({ "using": "css selector", "value": css }));
        found[ELEMENT].as_str().expect("an element").to_owned()
    }

    /// Has WebDriver do something with an element, and again with its successor if the page replaces it just then.
    #[track_caller]
    fn with(&self, css: &str, ask: impl Fn(&str) -> Answer) -> Value {
        let begun = Instant::now();
        loop {
            let answer = ask(&self.path(&format!("element/{}", self.find(css))));
            let is_replaced = REPLACED.iter().any(|words| answer.text.contains(words));
            if answer.status == 200 || !is_replaced || begun.elapsed() > LONG {
                return answer.expect(200)["value"].clone();
            }
        }
    }

    /// Clicks on an element.
    #[track_caller]
    pub(crate) fn click(&self, css: &str) {
        self.with(css, |element| self.driver.client.post(&format!("{element}/click"), &json!({})));
    }

    /// Types into a field.
    #[track_caller]
    pub(crate) fn write(&self, css: &str, text: &str) {
        self.with(css, |element| self.driver.client.post(&format!("{element}/value"), &json!({ "text": text })));
    }

    /// Returns what a reader sees of an element.
    #[track_caller]
    pub(crate) fn text(&self, css: &str) -> String {
        let text = self.with(css, |element| self.driver.client.get(&format!("{element}/text")));
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until a reader sees some words in an element.
    #[track_caller]
    pub(crate) fn until(&self, css: &str, words: &str) {
        let begun = Instant::now();
        loop {
            let text = self.text(css);
            if text.contains(words) {
                return;
            }
            assert!(begun.elapsed() < LONG, "no {words:?} in {css}: {text}");
        }
    }

    /// Returns how many elements there are now, without waiting for any.
    #[track_caller]
    pub(crate) fn count(&self, css: &str) -> u64 {
        self.run(&format!("return document.querySelectorAll({}).length", json!(css))).as_u64().expect("a number")
    }

    /// Returns the cookies that the browser keeps for the page, also those that no script sees.
    pub(crate) fn cookies(&self) -> Vec<Value> {
        self.driver.client.get(&self.path("cookie")).expect(200)["value"].as_array().expect("cookies").clone()
    }

    /// Returns the address of the page.
    pub(crate) fn address(&self) -> String {
        self.driver.client.get(&self.path("url")).expect(200)["value"].as_str().expect("an address").to_owned()
    }

    /// Runs a script in the page, beside those of the page itself.
    #[track_caller]
    pub(crate) fn run(&self, script: &str) -> Value {
        self.call("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Runs a script that calls its last argument when it is done.
    #[track_caller]
    pub(crate) fn run_to_the_end(&self, script: &str) -> Value {
        self.call("execute/async", &json!({ "script": script, "args": [] }))
    }

    /// Returns what the browser complains about: scripts and styles that the policy forbids, errors, broken links.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = self.call("se/log", &json!({ "type": "browser" }));
        let severe = |entry: &&Value| entry["level"] == "SEVERE" || entry["source"] == "security";
        let entries = log.as_array().expect("a log").iter();
        entries.filter(severe).map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
    }
}
