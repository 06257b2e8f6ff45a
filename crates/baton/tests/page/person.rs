//! Somebody with a browser that is so simple that a test sees every header: it keeps cookies and sends forms.

use crate::client::{Answer, Client};

/// Somebody who looks at the page of a server.
pub(crate) struct Person<'s> {
    client: &'s Client,
    /// What the browser keeps, by name.
    pub(crate) cookies: Vec<(String, String)>,
}

impl<'s> Person<'s> {
    pub(crate) fn at(client: &'s Client) -> Person<'s> {
        Person { client, cookies: Vec::new() }
    }

    /// Logs in with a token.
    pub(crate) fn logged_in(client: &'s Client, token: &str) -> Person<'s> {
        let mut person = Person::at(client);
        let answer = person.send("/login", "/login", &[("token", token), ("back", "/runs")]);
        assert_eq!((answer.status, answer.header("location")), (303, Some("/runs")), "{}", answer.text);
        person
    }

    /// Asks for a page.
    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.ask("GET", path, &[("Accept", "text/html")], "")
    }

    /// Opens a page, and sends its form with these fields.
    pub(crate) fn send(&mut self, page: &str, action: &str, fields: &[(&str, &str)]) -> Answer {
        let shown = self.get(page);
        let csrf = csrf(&shown);
        let fields: Vec<(&str, &str)> = [("csrf", csrf.as_str())].iter().chain(fields).copied().collect();
        self.post(action, &fields)
    }

    /// Sends a form.
    pub(crate) fn post(&mut self, action: &str, fields: &[(&str, &str)]) -> Answer {
        self.post_with(action, fields, &[])
    }

    /// Sends a form with further headers.
    pub(crate) fn post_with(&mut self, action: &str, fields: &[(&str, &str)], headers: &[(&str, &str)]) -> Answer {
        let form = [("Accept", "text/html"), ("Content-Type", "application/x-www-form-urlencoded")];
        let headers: Vec<(&str, &str)> = form.iter().chain(headers).copied().collect();
        let body: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        self.ask("POST", action, &headers, &body.join("&"))
    }

    /// Makes a request, and keeps the cookies of the answer.
    pub(crate) fn ask(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = cookies.join("; ");
        let mut all = headers.to_vec();
        if !cookies.is_empty() {
            all.push(("Cookie", &cookies));
        }
        let answer = self.client.ask(method, path, &all, body);
        for (_, line) in answer.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let (name, value) = line.split(';').next().and_then(|pair| pair.split_once('=')).expect("a cookie");
            self.cookies.retain(|(known, _)| known != name);
            self.cookies.push((name.to_owned(), value.to_owned()));
        }
        answer
    }
}

/// Returns the token that the forms of a page send back.
pub(crate) fn csrf(page: &Answer) -> String {
    let rest = page.text.split_once("name=\"csrf\" value=\"").unwrap_or_else(|| panic!("no form: {}", page.text)).1;
    rest.split('"').next().expect("a value").to_owned()
}

fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
