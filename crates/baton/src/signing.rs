//! Signing a decision with an SSH key, as git signs commits: `ssh-keygen -Y sign` does it, so agents and hardware tokens work.
//!
//! Verifying needs none of this; it happens where the decision is recorded.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use baton_engine::approval::Approval;
use baton_engine::ssh::{NAMESPACE, PublicKey, SIGNATURE_BYTES_MAX, Signature};
use clap::Args;

use crate::command_error::CommandError;
use crate::discover::Input;

/// How a decision is signed.
#[derive(Debug, Args)]
pub(crate) struct SigningOptions {
    /// Sign the decision with your SSH key
    #[arg(long, conflicts_with_all = ["signature", "to_sign"])]
    sign: bool,
    /// The key to sign with: a file, or the .pub of a key that the SSH agent has [default: the one of an approver]
    #[arg(long, value_name = "FILE", requires = "sign")]
    key: Option<PathBuf>,
    /// A signature that was made elsewhere, of what --to-sign prints; `-` for standard input
    #[arg(long, value_name = "FILE", requires = "yes", conflicts_with = "to_sign")]
    signature: Option<PathBuf>,
    /// Only print what must be signed with `ssh-keygen -Y sign -n baton`
    #[arg(long, requires = "yes")]
    pub(crate) to_sign: bool,
}

/// The usual names of keys, in the order in which ssh tries them.
const FILES: [&str; 5] = ["id_ed25519", "id_ed25519_sk", "id_ecdsa", "id_ecdsa_sk", "id_rsa"];

/// A key to sign with.
enum Key {
    /// A private key, or the public half of one that the agent has.
    File(PathBuf),
    /// One that the agent has.
    Agent(PublicKey),
}

impl SigningOptions {
    /// Returns whether the decision is signed, here or elsewhere.
    pub(crate) fn is_wanted(&self) -> bool {
        self.sign || self.signature.is_some() || self.to_sign
    }

    /// Returns whether it is signed here, so that a passphrase may be asked for, or is to be signed elsewhere.
    pub(crate) fn is_made_here(&self) -> bool {
        self.sign || self.to_sign
    }

    /// Returns the signature of a text, if one is wanted. `approval` says whose keys count.
    pub(crate) fn signature(&self, approval: Option<&Approval>, text: &str) -> Result<Option<Signature>, CommandError> {
        let armoured = match (&self.signature, self.sign) {
            (Some(file), _) => read(file)?,
            (None, true) => sign(&self.chosen(approval)?, text)?,
            (None, false) => return Ok(None),
        };
        Signature::read(&armoured).map(Some).map_err(|why| CommandError::no(format!("not an SSH signature: {why}")))
    }

    fn chosen(&self, approval: Option<&Approval>) -> Result<Key, CommandError> {
        if let Some(file) = &self.key {
            return Ok(Key::File(file.clone()));
        }
        let Some(approval) = approval else {
            let message = "nothing can be signed here: no approvers are named, so no key is known";
            return Err(CommandError::no(message).hint("name `approvers` in the gate; see docs/gates.md"));
        };
        let counts = |key: &PublicKey| approval.owner_of(key).is_some();
        let file = files().into_iter().find(|file| public_half(file).is_some_and(|key| counts(&key)));
        let agent = || agent_keys().into_iter().find(counts).map(Key::Agent);
        file.map(Key::File).or_else(agent).ok_or_else(|| {
            CommandError::no(format!("none of your keys belongs to an approver: {}", approval.names()))
                .hint("name the key with --key FILE; `ssh-add -L` lists those of the agent")
        })
    }
}

fn read(file: &Path) -> Result<String, CommandError> {
    let input = if file.as_os_str() == "-" { Input::Stdin } else { Input::File(file.to_owned()) };
    let bytes = input.read().map_err(|not_read| CommandError::usage(not_read.describe(&input.name())))?;
    let text = String::from_utf8(bytes).ok().filter(|text| text.len() <= SIGNATURE_BYTES_MAX);
    text.ok_or_else(|| CommandError::usage(format!("{}: not an SSH signature", input.name())))
}

/// Returns the keys that a user may mean: the one git signs with, then the usual files.
fn files() -> Vec<PathBuf> {
    let home = std::env::home_dir().unwrap_or_default();
    let git = told(Command::new("git").args(["config", "--get", "user.signingkey"]));
    let git = git.map(|path| match path.trim().strip_prefix("~/") {
        Some(below) => home.join(below),
        None => PathBuf::from(path.trim()),
    });
    git.into_iter().filter(|path| path.is_file()).chain(FILES.map(|name| home.join(".ssh").join(name))).collect()
}

/// Returns the public key of a file with a key.
fn public_half(file: &Path) -> Option<PublicKey> {
    let is_public = file.extension().is_some_and(|extension| extension == "pub");
    let mut public = file.as_os_str().to_owned();
    if !is_public {
        public.push(".pub");
    }
    PublicKey::read(&std::fs::read_to_string(public).ok()?).ok()
}

fn agent_keys() -> Vec<PublicKey> {
    let listed = told(Command::new("ssh-add").arg("-L")).unwrap_or_default();
    listed.lines().filter_map(|line| PublicKey::read(line).ok()).collect()
}

/// Returns what a program says, if it is there and succeeds.
fn told(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Lets `ssh-keygen` sign. It asks for the passphrase, and for the touch of a token, by itself.
fn sign(key: &Key, text: &str) -> Result<String, CommandError> {
    let failed = |why: String| CommandError::no(format!("the decision was not signed: {why}"));
    let public = match key {
        Key::File(_) => None,
        Key::Agent(key) => Some(public_file(key).map_err(|error| failed(error.to_string()))?),
    };
    let file = match (key, &public) {
        (Key::File(file), _) => file.clone(),
        (Key::Agent(_), public) => public.as_ref().map(|file| file.0.clone()).unwrap_or_default(),
    };
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-Y", "sign", "-n", NAMESPACE, "-f"]).arg(&file);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|error| {
        failed(format!("ssh-keygen cannot be started: {error}"))
            .hint("install OpenSSH (Debian: openssh-client), or sign elsewhere; see --to-sign")
    })?;
    // Whether it took all of it shows in how it ends.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(failed(format!("ssh-keygen did not sign with {}", file.display()))),
    }
}

/// A file that is gone when it is not needed any more.
struct Passing(PathBuf);

impl Drop for Passing {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Writes a public key where `ssh-keygen` can read which of the agent's keys is meant.
fn public_file(key: &PublicKey) -> std::io::Result<Passing> {
    let path = std::env::temp_dir().join(format!("baton-{}.pub", uuid::Uuid::now_v7()));
    let mut file = std::fs::File::create_new(&path)?;
    writeln!(file, "{key}")?;
    Ok(Passing(path))
}
