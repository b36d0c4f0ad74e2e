#!/bin/sh
# What an agent would do in its checkout. $SURPRISE is what nobody expects of it.
set -e
/usr/bin/mkdir -p build
/usr/bin/cp "$PWD/agent.sh" build/copy
/usr/bin/sort build/copy >build/sorted
[ -z "$SURPRISE" ] || $SURPRISE
