#!/usr/bin/env python3
"""Checks the application: what it imports exists, exports that name, has a test, and closes every bracket."""

import os
import re
import sys
from pathlib import Path

source = Path(os.environ.get("BATON_WORKSPACE", ".")) / "src"
app = (source / "App.jsx").read_text()
imported = re.findall(r'import { (\w+) } from "(.+)"', app)
problems = [] if len(imported) == 3 else [f"App.jsx imports {len(imported)} components, 3 are wanted"]
for name, place in imported:
    path = source / f"{place}.jsx"
    if not path.exists() or f"export function {name}(" not in path.read_text():
        problems.append(f"{place} does not export {name}")
    if not (source / f"{place}.test.jsx").exists():
        problems.append(f"{name} has no test")
for path in sorted(source.rglob("*.jsx")):
    text = path.read_text()
    open_ones = [pair for pair in ("()", "{}") if text.count(pair[0]) != text.count(pair[1])]
    problems += [f"{path.name}: {pair} do not match" for pair in open_ones]
print("\n".join(problems) or f"{len(imported)} components, nothing wrong")
sys.exit(1 if problems else 0)
