#!/usr/bin/env python3
"""Plans the tests. At first it forgets the skill that it must use before it says that it is done."""

import ast

from handoff import OUTPUT, WORKSPACE, given, report, seen, told, write

vendor = given("vendor", "shodan")
tree = ast.parse((WORKSPACE / "integrations" / f"{vendor}.py").read_text())
functions = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
write(
    OUTPUT / "test-plan.md",
    f"# Test plan: {vendor}\n\n" + "".join(f"- {name}: one that passes, one that fails\n" for name in functions),
)
skills = ["persisting-agent-outputs"]
if told("refuted"):
    skills.append("verifying-before-completion")
report(
    f"Test plan of {vendor}",
    f"{len(functions)} functions, two tests each, in test-plan.md.",
    output_type="test-plan",
    skills_invoked=skills,
    source_files_verified=[seen(f"integrations/{vendor}.py")],
    status="complete",
    handoff={
        "next_agent": "backend-tester",
        "context": f"Write tests/test_{vendor}.py after test-plan.md: {', '.join(functions)}, each with a test that"
        " passes and one for the other case. Answer like the vendor with a function in place of fetch.",
    },
)
