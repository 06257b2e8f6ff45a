#!/bin/sh
# A reviewer reports too. "complete" says that it has finished; its verdict says whether the work is good.
verdict=APPROVED summary="hello.md is one complete sentence"
grep -q '[.!?]$' hello.md || { verdict=CHANGES_REQUESTED; summary="The sentence in hello.md does not end with a full stop"; }
cat > "$BATON_REPORT_FILE" <<REPORT
{"baton": 1, "document": "report", "outcome": "complete", "verdict": "$verdict", "summary": "$summary"}
REPORT
