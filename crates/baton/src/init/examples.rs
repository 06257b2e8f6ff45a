//! The examples of the repository, inside of the program: `baton init --from NAME` writes one of them.

use clap::ValueEnum;

/// An example that a project can start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Example {
    /// A team with a two-stage review: delegation, a question, approval (python3, git)
    Integration,
    /// The same phases for each item of a list, and a blocked discovery (python3, git)
    McpWrapper,
    /// Acknowledgments, delegation and return, gates with choices (python3, git)
    WebAgency,
    /// Clarification, budgets of summaries, parallel validation (python3, git)
    Feature,
    /// An agent behind folders: schemas, retries, a timeout (python3, git)
    React,
}

/// Names the files of an example, with their texts.
macro_rules! files {
    ($example:literal: $($path:literal)*) => {
        &[$(($path, include_str!(concat!("../../../../examples/", $example, "/", $path)))),*]
    };
}

impl Example {
    /// Returns its files: paths and texts. The README stays out, because it speaks of the repository.
    pub(super) fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Example::Integration => files!("integration":
                "agents/developer.py"
                "agents/handoff.py"
                "agents/lead.py"
                "agents/p0.py"
                "agents/prepare.sh"
                "agents/reviewer.py"
                "agents/security.py"
                "agents/test_lead.py"
                "agents/tester.py"
                "answers.yaml"
                "project/.gitignore"
                "project/integrations/__init__.py"
                "project/integrations/base.py"
                "project/integrations/wiz.py"
                "project/requirements.md"
                "project/tests/__init__.py"
                "project/tests/test_wiz.py"
                "workflow.yaml"
            ),
            Example::McpWrapper => files!("mcp-wrapper":
                "agents/developer.py"
                "agents/handoff.py"
                "agents/lead.py"
                "agents/prepare.sh"
                "agents/reviewer.py"
                "agents/scout.py"
                "answers.yaml"
                "project/.gitignore"
                "project/mcp.json"
                "project/server/tracker.py"
                "project/tests/__init__.py"
                "project/wrappers/__init__.py"
                "project/wrappers/client.py"
                "workflow.yaml"
            ),
            Example::WebAgency => files!("web-agency":
                "agents/architecture.py"
                "agents/builder.py"
                "agents/check_site.py"
                "agents/handoff.py"
                "agents/prepare.sh"
                "agents/quality.py"
                "agents/security_check.py"
                "agents/specification.py"
                "answers.yaml"
                "project/.gitignore"
                "project/brief.md"
                "workflow.yaml"
            ),
            Example::Feature => files!("feature":
                "agents/handoff.py"
                "agents/prepare.sh"
                "agents/researcher.py"
                "agents/validator.py"
                "agents/writer.py"
                "answers.yaml"
                "project/.gitignore"
                "project/README.md"
                "project/ledger/__init__.py"
                "project/ledger/book.py"
                "project/ledger/report.py"
                "project/specs/export.md"
                "project/tests/__init__.py"
                "project/tests/test_book.py"
                "workflow.yaml"
            ),
            Example::React => files!("react":
                "agents/attend.py"
                "agents/check_app.py"
                "agents/frontend.py"
                "agents/prepare.sh"
                "agents/specialist.py"
                "answers.yaml"
                "project/.gitignore"
                "project/requirements.md"
                "schemas/react-specialist.input.schema.json"
                "schemas/react-specialist.output.schema.json"
                "workflow.yaml"
            ),
        }
    }
}
