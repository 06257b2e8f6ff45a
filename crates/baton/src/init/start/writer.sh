#!/bin/sh
# An agent is a program: it reads its prompt from standard input, works in this folder, and writes a report.
echo "Hello from the first agent of this team." > hello.md
cat > "$BATON_REPORT_FILE" <<'REPORT'
{"baton": 1, "document": "report", "outcome": "complete", "summary": "Wrote a greeting of one sentence to hello.md"}
REPORT
