#!/usr/bin/env python3
"""Runs checks: all of them, or, in the last look, the one that its phase is named for."""

import ast
import os
import re

from handoff import respond, run, sources

MEASURE = """
import time
from ledger import Booking, export
bookings = [Booking("2026-01-01", "Bread; fresh", number) for number in range(20000)]
began = time.perf_counter()
lines = export(bookings).count("\\n")
print(lines, time.perf_counter() - began < 5)
"""


def types():
    """Compiles every file."""
    errors = []
    for name, text in sources().items():
        try:
            compile(text, name, "exec")
        except SyntaxError as error:
            errors.append(f"{name}:{error.lineno}: {error.msg}")
    return {"passed": not errors, "errors": errors, "warnings": []}


def lint():
    """Looks for long lines and for functions that do not say what they do."""
    errors = [
        f"{name}:{number}: longer than 120 characters"
        for name, text in sources().items()
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > 120
    ]
    for name, text in sources().items():
        functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        silent = [each for each in functions if name.startswith("ledger/") and not ast.get_docstring(each)]
        errors += [f"{name}:{each.lineno}: {each.name} has no docstring" for each in silent]
    return {"passed": not errors, "errors": errors, "warnings": []}


def tests():
    """Runs the tests."""
    passed, output = run("-m", "unittest", "discover", "-s", "tests", "-t", ".")
    total = int(re.search(r"Ran (\d+) test", output).group(1))
    failures = re.findall(r"^(?:FAIL|ERROR): (\w+)", output, re.MULTILINE)
    return {
        "passed": passed,
        "total": total,
        "passed_count": total - len(failures),
        "failed_count": len(failures),
        "failures": failures,
    }


def security():
    """Looks for calls that run text as code."""
    issues = [f"{name} runs text as code" for name, text in sources().items() if re.search(r"\b(?:eval|exec)\(", text)]
    return {"passed": not issues, "issues": issues}


def speed():
    """Exports 20000 bookings; returns the check like one of tests."""
    ended, output = run("-c", MEASURE)
    passed = ended and output.split() == ["20001", "True"]
    return {
        "passed": passed,
        "total": 1,
        "passed_count": int(passed),
        "failed_count": int(not passed),
        "failures": [] if passed else [output.strip()[-200:]],
    }


phase = os.environ.get("BATON_PHASE", "validate")
if phase.endswith("/lint"):
    checks, what = {"lint": lint()}, f"the style of {len(sources())} files"
elif phase.endswith("/speed"):
    checks, what = {"tests": speed()}, "an export of 20000 bookings in less than 5 seconds"
else:
    checks = {"types": types(), "lint": lint(), "tests": tests(), "security": security()}
    what = "types, lint, tests, security"
bad = [name for name, check in checks.items() if not check["passed"]]
respond(
    f"Checked {what}: " + (f"{', '.join(bad)} did not pass." if bad else f"{len(checks)} of {len(checks)} pass."),
    {"checks": checks, "overall_passed": not bad, "blocking_issues": bad, "warnings": []},
    decision="STOP" if bad else "PROCEED",
)
