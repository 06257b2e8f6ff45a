"""What every agent of this example needs: what it was told, and a way to answer with packages."""

import json
import os
import sys
from datetime import datetime, timezone
from pathlib import Path

PROMPT = sys.stdin.read()

WORKSPACE = Path(os.environ.get("BATON_WORKSPACE", "."))
PROJECT = WORKSPACE / ".project"
STEPS = ["specification", "architecture", "build", "acceptance"]


def told(*about):
    """Returns what was said about earlier attempts: answers, resolutions, feedback, refuted claims."""
    path = os.environ.get("BATON_NOTES_FILE")
    notes = json.loads(Path(path).read_text()) if path and Path(path).exists() else []
    return [note["text"] for note in notes if note["about"] in about]


def write(path, text, kind="doc", description=None):
    """Writes a file whole or not at all; returns it as an artifact."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name("." + path.name + ".new")
    beside.write_text(text)
    os.replace(beside, path)
    return {"path": os.path.relpath(path, WORKSPACE), "type": kind, "description": description or path.stem}


def yaml(value, indent=""):
    """Writes a value as YAML; texts stand in quotes, as in JSON."""
    if isinstance(value, dict) and value:
        return "".join(f"\n{indent}{name}:{yaml(each, indent + '  ')}" for name, each in value.items())
    if isinstance(value, list) and value:
        return "".join(f"\n{indent}- " + yaml(each, indent + "  ").lstrip("\n ") for each in value)
    return " " + json.dumps(value, ensure_ascii=False)


def acknowledge(source, **understood):
    """Says that the request has arrived, and how far it was understood."""
    text = yaml({"acknowledgment": {"received": True, "from": source, **understood}})
    path = os.environ.get("BATON_ACKNOWLEDGMENT_FILE")
    if path:
        Path(path).write_text(text.lstrip() + "\n")


def state(step):
    """Returns where the work is."""
    at = STEPS.index(step)
    return {
        "name": "web-agency",
        "current_step": at + 1,
        "completed_steps": STEPS[:at],
        "remaining_steps": STEPS[at + 1 :],
    }


def hand_over(kind, step, to, reason, context, **more):
    """Ends the attempt with a package."""
    package = {
        "id": f"HO-{os.environ.get('BATON_HANDOFF_ID', '1')}-{kind}",
        "timestamp": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "kind": kind,
        "from": {"agent": os.environ.get("BATON_AGENT", "agent"), "step": STEPS.index(step) + 1 if step else None},
        "to": {"agent": to, "reason": reason},
        "context": context,
        **more,
    }
    text = yaml({"handoff": package}).lstrip() + "\n"
    path = os.environ.get("BATON_REPORT_FILE")
    if path:
        Path(path).write_text(text)
    else:
        print(text)
    sys.exit(0)
