#!/usr/bin/env python3
"""Looks for risks in the draft of the design, and returns them to whoever asked."""

import json

from handoff import PROJECT, PROMPT, hand_over, write

# Whoever asks hands over what it needs: without that, this agent would check something else.
for asked in ("Risk report on the order form", "Only the fields of", "how long orders may be kept"):
    assert asked in PROMPT, f"the package of architecture did not arrive: {asked}"

pages = json.loads((PROJECT / "03-architecture" / "draft.json").read_text())
risky = [page for page in pages if page["fields"]]
risks = [
    f"{page['file']} takes {', '.join(page['fields'])}: {measure}"
    for page in risky
    for measure in ("delete orders after 30 days", "send the form by POST, so that nothing stands in an address")
]
artifact = write(
    PROJECT / "05-quality" / "security" / "review.md",
    "# Security review\n\n" + "".join(f"- {risk}\n" for risk in risks),
    "doc",
    "Risks of the design, with a measure for each",
)
hand_over(
    "return",
    None,
    "architecture",
    "Security review completed",
    {
        "summary": f"{len(risks)} risks found on {len(risky)} of {len(pages)} pages, none critical once the measures"
        " are taken: orders are deleted after 30 days, and the form is sent by POST.",
        "decisions": [
            {"id": "SEC-001", "decision": "Delete orders after 30 days", "rationale": "Nobody needs them longer"},
            {"id": "SEC-002", "decision": "Send the form by POST", "rationale": "Addresses end up in logs"},
        ],
        "artifacts": [artifact],
    },
)
