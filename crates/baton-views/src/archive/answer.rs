//! What an agent wrote, as it wrote it, with its own id and dialect.

use baton_engine::HandoffId;
use baton_engine::handoff::WrittenDocument;
use baton_protocol::read::Format;
use baton_protocol::{Dialect, Hints};

use super::{ArchiveFile, file};

/// Returns where what an agent wrote is kept, and the text: a package stands among the packages, anything else apart.
pub(super) fn of(handoff: &HandoffId, written: &WrittenDocument) -> ArchiveFile {
    let dialect = Dialect::parse(&written.dialect);
    let reading = baton_protocol::read(written.text.as_bytes(), Hints { format: None, dialect });
    match reading.block {
        Some(block) if dialect == Some(Dialect::Package) => {
            file(format!("handoffs/{handoff}.report.{}", extension(block.format)), block.text.into_owned())
        }
        _ => file(format!("reports/{handoff}.{}", extension(Format::of_text(&written.text))), written.text.clone()),
    }
}

fn extension(format: Format) -> &'static str {
    match format {
        Format::Json => "json",
        Format::Yaml => "yaml",
        Format::Markdown => "md",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_is_taken_out_of_the_prose_around_it_and_everything_else_stays_whole() {
        let handoff = HandoffId::parse("t.a.1").expect("safe");
        let file = |dialect, text: &str| {
            let ArchiveFile { path, text } = of(&handoff, &WrittenDocument::new(dialect, text));
            (path, text)
        };
        let package = "handoff:\n  id: HO-007\n  from: {agent: a}\n  to: {agent: b}\n";
        let expected = ("handoffs/t.a.1.report.yaml".to_owned(), package.to_owned());
        assert_eq!(file(Dialect::Package, package), expected);
        let (path, text) = file(Dialect::Package, &format!("Done.\n\n```yaml\n{package}```\n"));
        assert_eq!((path.as_str(), text.trim()), ("handoffs/t.a.1.report.yaml", package.trim()));
        let markdown = "# Plan\n\n```json\n{\"agent\": \"a\", \"status\": \"complete\"}\n```\n";
        assert_eq!(file(Dialect::MetadataBlock, markdown), ("reports/t.a.1.md".to_owned(), markdown.to_owned()));
        assert_eq!(file(Dialect::Native, "{}").0, "reports/t.a.1.json");
    }
}
