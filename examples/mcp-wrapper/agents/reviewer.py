#!/usr/bin/env python3
"""Reviews the wrapper of one tool: calls it and the tool, and compares what they answer."""

import importlib
import json

from handoff import OUTPUT, given, report, run_tests, seen, tokens, write
from wrappers.client import call

tool = given("tool")
design = json.loads((OUTPUT / "tools" / tool / "design.json").read_text())
name = tool.replace("-", "_")
wrapper = getattr(importlib.import_module(f"wrappers.{name}"), name)
before, after = tokens(call(tool, design["sample"])), tokens(wrapper(**design["sample"]))
saved = 100 - 100 * after // before
passed, last = run_tests(f"tests.test_{name}")
findings = [] if passed else [f"tests/test_{name}.py does not pass: {last}"]
if saved < 80:
    findings.append(f"{after} of {before} tokens are left, {saved} % saved; 80 % are wanted")
verdict = "CHANGES_REQUESTED" if findings else "APPROVED"
artifact = write(
    OUTPUT / "tools" / tool / "review.md",
    f"# {tool}: {verdict}\n\n{before} tokens before, {after} after: {saved} % saved. Tests: {last}.\n",
)
report(
    f"Review of {tool}: {verdict}",
    output_type="code-review",
    source_files_verified=[seen(f"wrappers/{name}.py"), seen(f"tests/test_{name}.py")],
    status="complete",
    verdict=verdict,
    phase="review",
    summary=f"{tool}: {verdict}, {before} tokens before and {after} after, {saved} % saved",
    artifacts=[artifact],
    verification={"architecture_adherence": not findings, "tests_verified": passed},
    handoff={
        "next_phase": "complete" if not findings else "implementation",
        "next_agent": None if not findings else "tool-developer",
        "context": f"wrappers/{name}.py saves {saved} % ({before} to {after} tokens). "
        + ("; ".join(findings) or "Nothing to change."),
        "blockers": [],
    },
)
