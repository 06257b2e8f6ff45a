#!/bin/sh
# Puts the project into an empty workspace and commits it, so that changes can be compared. May run again.
set -eu
subject="The project as it was"
cd "${BATON_WORKSPACE:-.}"
if [ "$(git log --reverse --format=%s 2>/dev/null | head -n 1)" = "$subject" ]; then
    echo "the project is there already"
    exit 0
fi
if [ ! -d .git ] && [ -n "$(ls -A | grep -v -x -e .baton -e .output)" ]; then
    echo "$(pwd) is not empty; give the example a folder of its own: --workspace DIR"
    exit 1
fi
if [ -d .git ] && git rev-parse -q --verify HEAD >/dev/null; then
    echo "$(pwd) is a repository of something else; give the example a folder of its own: --workspace DIR"
    exit 1
fi
git init -q .
cp -R "$BATON_WORKFLOW_DIRECTORY/project/." .
git add -A
git -c user.name=example -c user.email=example@localhost -c commit.gpgsign=false commit -q -m "$subject"
echo "the project is ready: $(git ls-files | wc -l | tr -d ' ') files"
