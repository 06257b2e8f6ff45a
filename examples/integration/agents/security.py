#!/usr/bin/env python3
"""Decides how the key travels, and writes it down where the developer looks."""

from handoff import OUTPUT, WORKSPACE, report, write

found = [
    f"integrations/{path.name}:{number}"
    for path in sorted((WORKSPACE / "integrations").glob("*.py"))
    for number, line in enumerate(path.read_text().splitlines(), 1)
    if '"token": self.secret' in line
]
write(
    OUTPUT / "security-review.md",
    "# Security review: how a key travels\n\n"
    "A key in a path or a parameter ends up in access logs. It goes into the Authorization header.\n"
    f"Found as a parameter at: {', '.join(found) or 'nowhere'}.\n",
)
report(
    "Security review",
    "The decision is in security-review.md.",
    output_type="security-review",
    skills_invoked=["persisting-agent-outputs"],
    source_files_verified=found,
    status="complete",
    handoff={
        "next_agent": "integration-developer",
        "context": "The key must travel in the Authorization header, never in a path or a parameter;"
        f" security-review.md has the reason. {len(found)} older place sends it as a parameter: {', '.join(found)}.",
    },
)
