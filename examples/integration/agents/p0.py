#!/usr/bin/env python3
"""What every integration must have: its three functions, none of them a stub, and pages that end."""

import ast
import os
import sys
from pathlib import Path


def asks(function):
    """Says whether a function sends a request."""
    called = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    return any(isinstance(each, ast.Attribute) and each.attr in ("ask", "fetch") for each in called)


def violations(path):
    """Lists what an integration lacks."""
    functions = {node.name: node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}
    for name in ("validate_credentials", "discover", "check_affiliation"):
        if name not in functions:
            yield f"{name} is missing"
        elif not asks(functions[name]):
            yield f"{name} is a stub: it asks nobody"
    if "discover" in functions and "total" not in ast.unparse(functions["discover"]):
        yield "discover does not look at total: its pages may never end"


folder = Path(os.environ.get("BATON_WORKSPACE", ".")) / "integrations"
paths = [path for path in sorted(folder.glob("*.py")) if path.name not in ("__init__.py", "base.py")]
found = [f"{path.name}: {violation}" for path in paths for violation in violations(path)]
print("\n".join(found) or f"{len(paths)} integrations without P0 violations")
sys.exit(1 if found else 0)
