# A specialist that only knows the folders: plain moves and plain writes, no locks. What it does is up to its input.
import json
import os
import shutil
import sys
import time
from datetime import datetime, timezone

root, name = sys.argv[1], sys.argv[2]


def now():
    return datetime.now(timezone.utc).isoformat()


def path(folder, handoff_id):
    os.makedirs(f"{root}/handoffs/{folder}", exist_ok=True)
    return f"{root}/handoffs/{folder}/{handoff_id}.json"


def finish(handoff, folder, **members):
    handoff.update(members)
    with open(path("in-progress", handoff["handoff_id"]), "w") as file:
        json.dump(handoff, file)
    shutil.move(path("in-progress", handoff["handoff_id"]), path(folder, handoff["handoff_id"]))


def work(handoff_id):
    shutil.move(path("pending", handoff_id), path("in-progress", handoff_id))
    with open(path("in-progress", handoff_id)) as file:
        handoff = json.load(file)
    handoff.update(status="in_progress", started_at=now())
    with open(path("in-progress", handoff_id), "w") as file:
        json.dump(handoff, file)
    print(f"working {handoff_id} {handoff.get('retry_count', 0)}", flush=True)
    wish = handoff["input"]["data"].get("wish")
    if wish == "hang":
        return
    if wish == "fail" or (wish == "fail once" and not handoff.get("retry_count")):
        error = {"code": "DEPENDENCY_MISSING", "message": "no design tokens"}
        finish(handoff, "failed", status="failed", failed_at=now(), error=error, retry_available=wish != "fail")
    else:
        made = {"artifact_id": "a-1", "artifact_path": "page.json", "greeting": handoff["context"]["prompt"]}
        finish(handoff, "completed", status="completed", completed_at=now(), output=made)


while True:
    pending = f"{root}/handoffs/pending"
    for entry in sorted(os.listdir(pending)) if os.path.isdir(pending) else []:
        if entry.endswith(".json") and not entry.startswith("."):
            with open(f"{pending}/{entry}") as file:
                handoff = json.load(file)
            ready = handoff.get("not_before", "") <= datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")
            if handoff["target"]["agent_id"] == name and ready:
                work(entry[: -len(".json")])
    time.sleep(0.01)
