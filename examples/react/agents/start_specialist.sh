#!/bin/sh
# Starts the specialist in the background. It must outlive this phase, so it does not inherit what marks its processes.
set -eu
cd "${BATON_WORKSPACE:-.}"
rm -f handoffs/stop context/react-specialist.json
env -i PATH="$PATH" HOME="${HOME:-/}" python3 "$BATON_WORKFLOW_DIRECTORY/agents/specialist.py" . --background
echo "the specialist waits for requests in handoffs/pending"
