#!/usr/bin/env python3
"""Finds what is there. The specification does not say which separator is meant: CLARIFY, and a person answers."""

import ast

from handoff import respond, sources, told

functions = {
    name: [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    for name, text in sources().items()
}
findings = {
    "existing_implementations": [
        {
            "file": name,
            "description": f"Defines {', '.join(names)}",
            "relevance": "high" if "report" in name else "medium",
        }
        for name, names in functions.items()
        if names and name.startswith("ledger/")
    ],
    "conflicts": [],
    "patterns_found": [
        {
            "file": "ledger/report.py",
            "pattern": "A module of functions from a booking to text",
            "recommendation": "Put export() into ledger/export.py in the same way",
        }
    ],
    "recommendations": ["Use the csv module of the standard library"],
}
answers = told("answer", "resolution")
if not answers:
    respond(
        "specs/export.md asks for CSV text and leaves the separator open; ledger/report.py shows the pattern.",
        findings,
        status="partial",
        decision="CLARIFY",
        issues=["Which separator is meant, a comma or a semicolon? The specification says only CSV."],
    )

separator = ";" if "semicolon" in answers[-1].lower() or ";" in answers[-1] else ","
clash = [name for name, names in functions.items() if "export" in names and name != "ledger/export.py"]
respond(
    "No export exists yet. Follow ledger/report.py: a module of functions from a booking to text, in ledger/export.py"
    f" with the csv module. A person decided on the separator: '{separator}'. Amounts are in cents (ledger/book.py)."
    f" Naming conflicts: {', '.join(clash) or 'none'}.",
    findings,
)
