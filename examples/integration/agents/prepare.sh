#!/bin/sh
# Puts the project into the workspace and commits it, so that changes can be compared. May run again.
set -eu
workspace=${BATON_WORKSPACE:-.}
example=${BATON_WORKFLOW_DIRECTORY:-$(dirname "$0")/..}
cd "$workspace"
if git rev-parse --verify -q HEAD >/dev/null 2>&1 && [ "$(git rev-parse --show-toplevel)" = "$(pwd -P)" ]; then
    echo "the project is there already"
    exit 0
fi
cp -R "$example/project/." .
git init -q .
git add -A
git -c user.name=example -c user.email=example@localhost -c commit.gpgsign=false commit -q -m "The project as it was"
echo "the project is ready: $(git ls-files | wc -l | tr -d ' ') files"
