#!/usr/bin/env python3
"""A specialist for React components. It knows nothing of Baton, only four folders:

    handoffs/pending  handoffs/in-progress  handoffs/completed  handoffs/failed

Start it with the folder that they are in: specialist.py FOLDER. It ends when nothing has come for 30
seconds. So that there is something to see, each component has its own trouble, once.
"""

import fcntl
import json
import os
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

NAME = "react-specialist"
IDLE_SECONDS = 30
ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else ".").absolute()
FOLDERS = {name: ROOT / "handoffs" / name for name in ("pending", "in-progress", "completed", "failed")}
MEMORY = ROOT / "context" / f"{NAME}.json"


def main():
    """Takes one request after the other."""
    for folder in (*FOLDERS.values(), MEMORY.parent):
        folder.mkdir(parents=True, exist_ok=True)
    alone = open(ROOT / "context" / f"{NAME}.lock", "w")
    try:
        fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        print("another one is at work already")
        return
    last = time.monotonic()
    while time.monotonic() - last < IDLE_SECONDS:
        for path in sorted(FOLDERS["pending"].glob("*.json")):
            if not path.name.startswith(".") and take(path):
                last = time.monotonic()
        time.sleep(0.05)


def now():
    """Returns the time as the folders have it."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def save(path, value):
    """Writes a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name("." + path.name + ".new")
    beside.write_text(json.dumps(value, indent=2) + "\n")
    os.replace(beside, path)


def take(path):
    """Works on one request, if it is ours and nobody else was faster."""
    try:
        if json.loads(path.read_text())["target"]["agent_id"].lstrip("@") != NAME:
            return False
        claimed = FOLDERS["in-progress"] / path.name
        os.rename(path, claimed)
        handoff = json.loads(claimed.read_text())
    except (OSError, ValueError, KeyError):
        return False  # Gone, or not written to its end yet.
    began = time.monotonic()
    handoff.update(status="in_progress", started_at=now())
    save(claimed, handoff)
    print(f"{handoff['handoff_id']}: claimed", flush=True)
    work(claimed, handoff, began)
    return True


def work(claimed, handoff, began):
    """Makes the components that are asked for, or not."""
    wanted = handoff["input"]["data"]["component_requirements"]
    trouble = {"UserProfile": "no test", "UserList": "failure", "UserSettings": "silence"}.get(wanted[0]["name"])
    if seen_before(wanted[0]["name"]):
        trouble = None
    if trouble == "silence":
        return  # As if it had crashed: the request stays in progress for ever.
    if trouble == "failure":
        error = {"code": "PROCESSING_ERROR", "message": "the template cache was cold", "severity": "error"}
        count, most = handoff.get("retry_count", 0), (handoff.get("retry_policy") or {}).get("max_retries", 1)
        handoff.update(error={**error, "timestamp": now()}, retry_count=count, retry_available=count < most)
        return finish(claimed, handoff, "failed", began)
    components = [component(each) for each in wanted]
    if trouble == "no test":
        for each in components:
            del each["test"]
    expected = handoff.get("expected_output") or {}
    default = f"artifacts/{NAME}/artifact-{handoff['handoff_id']}.json"
    place = (expected.get("destination") or default).replace("{timestamp}", str(time.time_ns() // 1_000_000))
    if not place.endswith(".json"):
        place = f"{place.rstrip('/')}/artifact-{handoff['handoff_id']}.json"
    save(ROOT / place, {"components": components})
    handoff["output"] = {
        "artifact_id": f"artifact-{handoff['handoff_id']}",
        "artifact_path": place,
        "artifact_type": expected.get("artifact_type") or "react-components",
        "schema_compliance": "valid",
    }
    handoff["validation"] = {"status": "passed"}
    handoff["metadata"] = {"components_generated": len(components)}
    finish(claimed, handoff, "completed", began)


def seen_before(name):
    """Remembers a name; says whether it was known."""
    known = json.loads(MEMORY.read_text()) if MEMORY.exists() else []
    save(MEMORY, sorted({*known, name}))
    return name in known


def component(wanted):
    """Writes one component and its test."""
    name, props = wanted["name"], ", ".join(wanted["props"])
    shown = "".join(f"      <dd>{{String({prop})}}</dd>\n" for prop in wanted["props"])
    code = (
        f"/** {wanted['responsibility']}. */\nexport function {name}({{ {props} }}) {{\n  return (\n    <dl>\n{shown}"
        "    </dl>\n  );\n}\n"
    )
    test = f'import {{ {name} }} from "./{name}";\n\ntest("{name} renders", () => render(<{name} />));\n'
    return {"name": name, "code": code, "test": test}


def finish(claimed, handoff, folder, began):
    """Writes the answer and moves it to its folder."""
    handoff.update(status=folder, execution_time_seconds=round(time.monotonic() - began, 3))
    handoff["completed_at" if folder == "completed" else "failed_at"] = now()
    if claimed.exists():  # Otherwise the request was taken back meanwhile.
        save(claimed, handoff)
        os.rename(claimed, FOLDERS[folder] / claimed.name)
    print(f"{handoff['handoff_id']}: {folder}", flush=True)


if __name__ == "__main__":
    main()
