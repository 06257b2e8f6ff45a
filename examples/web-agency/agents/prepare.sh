#!/bin/sh
# Puts the project into the workspace as its first commit, so that changes can be compared. May be killed and run again.
# If an earlier run worked there, what it left is put aside with `git stash`.
set -eu
subject="The project as it was"
as_example() { git -c user.name=example -c user.email=example@localhost -c commit.gpgsign=false "$@"; }

cd "${BATON_WORKSPACE:-.}"
if [ ! -d .git ] && [ -n "$(ls -A | grep -v -x -e .baton -e .project -e state)" ]; then
    echo "$(pwd) is not empty; give the example a folder of its own: --workspace DIR"
    exit 1
fi
git init -q .
first=$(git log --reverse --format=%s 2>/dev/null | head -n 1)
if [ -n "$first" ] && [ "$first" != "$subject" ]; then
    echo "$(pwd) holds something else; give the example a folder of its own: --workspace DIR"
    exit 1
fi
find .git -name '*.lock' -delete # Left by one that was killed.
if [ -n "$first" ]; then
    as_example stash push -q --include-untracked
    echo "the project is as it was"
    exit 0
fi
cp -R "$BATON_WORKFLOW_DIRECTORY/project/." .
git add -A
as_example commit -q -m "$subject"
echo "the project is ready: $(git ls-files | wc -l | tr -d ' ') files"
