#!/usr/bin/env python3
"""Reviews in two stages: first against the architecture, then for quality. Really reads the code."""

import ast
import os

from handoff import OUTPUT, WORKSPACE, given, report, seen, write

vendor = given("vendor", "shodan")
stage = given("stage", "quality" if "quality" in os.environ.get("BATON_PHASE", "") else "spec")
name = f"integrations/{vendor}.py"
text = (WORKSPACE / name).read_text()
functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]

if stage == "spec":
    wanted = ["/api-info", "/api/v1/hosts", "/api/v1/host/", "org_ips", "Authorization"]
    findings = [f"{word} is in the architecture and not in the code" for word in wanted if word not in text]
else:
    silent = [node for node in functions if not ast.get_docstring(node)]
    findings = [f"line {node.lineno}: {node.name} does not say what it does" for node in silent]

verdict = "CHANGES_REQUESTED" if findings else "APPROVED"
listed = "\n".join(f"- {finding}" for finding in findings) or "- nothing to change"
write(OUTPUT / f"review-{stage}.md", f"# Review ({stage}): {verdict}\n\n{listed}\n")
report(
    f"Review ({stage}): {verdict}",
    listed,
    output_type=f"{stage}-review",
    skills_invoked=["persisting-agent-outputs"],
    source_files_verified=[seen(name)],
    status="complete",
    verdict=verdict,
    handoff={
        "next_agent": "integration-developer" if findings else ("test-lead" if stage == "quality" else None),
        "context": f"{name}, {stage}: {len(functions)} functions reviewed; review-{stage}.md has the list. "
        + ("; ".join(findings) or "Nothing to change."),
    },
)
