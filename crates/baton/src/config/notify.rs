//! `[notify]` and `[server]`: who is notified when a person is waited for, and where they decide.

use std::fs;
use std::path::{Path, PathBuf};

use ring::hmac;
use serde::Deserialize;
use toml::Spanned;

use super::located;
use crate::command_error::CommandError;
use crate::http_client::{HttpAddress, Reach};

/// A secret that is shorter can be guessed.
const SECRET_BYTES_MIN: usize = 16;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NotifyTable {
    command: Option<Spanned<String>>,
    #[serde(default)]
    webhook: Vec<Spanned<WebhookTable>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WebhookTable {
    url: String,
    secret_env: Option<String>,
    secret_file: Option<PathBuf>,
    #[serde(default)]
    allow_private: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerTable {
    public_url: Option<Spanned<String>>,
}

/// Who is notified when a person is waited for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notifications {
    /// What is run.
    pub command: Option<NotifyCommand>,
    /// Who is sent a request.
    pub webhooks: Vec<Webhook>,
    /// Where people find the page of a server.
    pub public_url: Option<PublicUrl>,
}

/// What is run when a person is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotifyCommand {
    /// What the shell runs.
    pub command: String,
    /// Where it is run: the folder of the configuration.
    pub folder: PathBuf,
}

/// Who is sent a request when a person is waited for.
#[derive(Debug, Clone)]
pub(crate) struct Webhook {
    /// Where it goes.
    pub address: HttpAddress,
    /// Which machines that may mean.
    pub reach: Reach,
    secret: SecretSource,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SecretSource {
    Variable(String),
    File(PathBuf),
}

/// Where people find the page of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicUrl(String);

impl PublicUrl {
    /// Reads the address of a server.
    pub(crate) fn parse(text: &str) -> Result<PublicUrl, CommandError> {
        let text = text.trim_end_matches('/');
        match text.parse::<HttpAddress>() {
            Ok(_) if !text.contains(['?', '#']) => Ok(PublicUrl(text.to_owned())),
            Ok(_) => Err(CommandError::usage("a public URL has no `?` and no `#`")),
            Err(fault) => Err(CommandError::usage(fault.to_string())),
        }
    }

    /// Returns the page on which something is decided.
    pub(crate) fn of_question(&self, handoff: &str) -> String {
        let mut link = format!("{}/inbox/", self.0);
        for byte in handoff.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                link.push(char::from(byte));
            } else {
                link.push_str(&format!("%{byte:02X}"));
            }
        }
        link
    }
}

impl Notifications {
    pub(super) fn read(
        notify: NotifyTable,
        server: ServerTable,
        text: &str,
        name: &str,
    ) -> Result<Notifications, CommandError> {
        let public_url = server.public_url.map(|given| {
            PublicUrl::parse(given.get_ref()).map_err(|error| {
                located(text, name, given.span().start, &error.message).hint("such as https://baton.example")
            })
        });
        let webhooks = notify.webhook.into_iter().map(|table| webhook(text, name, table));
        Ok(Notifications {
            command: notify.command.map(|command| notify_command(text, name, command)).transpose()?,
            webhooks: webhooks.collect::<Result<_, _>>()?,
            public_url: public_url.transpose()?,
        })
    }

    /// Returns the files that only Baton may read.
    pub(crate) fn secret_files(&self) -> impl Iterator<Item = &Path> {
        self.webhooks.iter().filter_map(|webhook| match &webhook.secret {
            SecretSource::File(path) => Some(path.as_path()),
            SecretSource::Variable(_) => None,
        })
    }

    /// Takes paths from the folder of the configuration.
    pub(super) fn below(mut self, folder: &Path) -> Notifications {
        self.command.iter_mut().for_each(|command| command.folder = folder.to_owned());
        for webhook in &mut self.webhooks {
            if let SecretSource::File(path) = &mut webhook.secret {
                *path = folder.join(&path);
            }
        }
        self
    }
}

impl Webhook {
    /// Reads the secret, which is only needed by whoever sends something.
    pub(crate) fn key(&self) -> Result<hmac::Key, CommandError> {
        let (secret, place) = match &self.secret {
            SecretSource::Variable(name) => {
                let secret = std::env::var(name).map_err(|_| {
                    CommandError::usage(format!("the variable {name}, which [[notify.webhook]] names, is not set"))
                })?;
                (secret, name.clone())
            }
            SecretSource::File(path) => {
                let secret = fs::read_to_string(path).map_err(|error| {
                    CommandError::usage(format!("cannot read the secret of a webhook in {}: {error}", path.display()))
                })?;
                (secret, path.display().to_string())
            }
        };
        let secret = secret.trim();
        if secret.len() < SECRET_BYTES_MIN {
            let message = format!("the secret in {place} has fewer than {SECRET_BYTES_MIN} characters");
            return Err(CommandError::usage(message).hint("make one with: openssl rand -hex 32"));
        }
        Ok(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()))
    }
}

fn notify_command(text: &str, name: &str, command: Spanned<String>) -> Result<NotifyCommand, CommandError> {
    if command.get_ref().trim().is_empty() {
        return Err(located(text, name, command.span().start, "[notify] command is empty")
            .hint("name a command, such as notify-send \"$BATON_QUESTION\""));
    }
    Ok(NotifyCommand { command: command.into_inner(), folder: PathBuf::new() })
}

fn webhook(text: &str, name: &str, table: Spanned<WebhookTable>) -> Result<Webhook, CommandError> {
    let at = table.span().start;
    let fail = |message: &str| located(text, name, at, message);
    let WebhookTable { url, secret_env, secret_file, allow_private } = table.into_inner();
    let secret = match (secret_env, secret_file) {
        (Some(variable), None) => SecretSource::Variable(variable),
        (None, Some(file)) => SecretSource::File(file),
        _ => return Err(fail("a webhook has a `secret_env` or a `secret_file`: one of the two")),
    };
    let address: HttpAddress = url.parse().map_err(|fault| fail(&format!("[[notify.webhook]] url: {fault}")))?;
    if !address.is_encrypted() && !allow_private {
        return Err(fail("[[notify.webhook]] url must begin with https://")
            .hint("http:// is possible inside your own network, with allow_private = true"));
    }
    let reach = if allow_private { Reach::Anywhere } else { Reach::Public };
    Ok(Webhook { address, reach, secret })
}
