//! GitHub workflow commands, which show up as annotations on a change.

use baton_protocol::{Diagnostic, Severity};

use crate::report::CheckReport;

pub(crate) fn render(report: &CheckReport) -> String {
    let mut text = String::new();
    for file in &report.files {
        for diagnostic in &file.judgement.diagnostics {
            text.push_str(&command(&file.name, diagnostic));
        }
    }
    text
}

fn command(path: &str, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let help = diagnostic.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
    format!(
        "::{level} file={},line={},col={},title=baton {}::{}\n",
        escape_property(path),
        diagnostic.line,
        diagnostic.column,
        diagnostic.code,
        escape(&format!("{}{help}", diagnostic.message)),
    )
}

fn escape(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_runner_would_misread_is_escaped() {
        assert_eq!(escape("50%\r\nnext"), "50%25%0D%0Anext");
        assert_eq!(escape_property("a,b:c"), "a%2Cb%3Ac");
    }
}
