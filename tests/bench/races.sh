#!/usr/bin/env bash
# races EXECWARD FLOOR FLIP ROUNDS: execs whose path, arguments or files change while they are judged
# (tests/fixtures/flip.rs), ROUNDS of each kind, under the gate and under a loop that answers and does
# not verify. `other` ran what was forbidden; `killed` was told apart at the exec-stop; `refused` before.
set -euo pipefail
execward=$1 floor=$2 flip=$3 rounds=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
for letter in a b; do
    cp "$flip" "prog-$letter"
    cp "$flip" "interp-$letter"
    printf '#!%s\n' "$scratch/interp-$letter" >"script-$letter"
    chmod 755 "script-$letter"
done
cat >policy.toml <<POLICY
version = 1
[mode]
security = "full"
[[deny]]
id = "programs"
program = ["$scratch/prog-b", "$scratch/interp-b"]
[[deny]]
id = "argument"
command = "prog-a argument-b"
POLICY
for kind in path process argv pointers files; do
    file=prog-a
    [ "$kind" != files ] || file=script-a
    words=("$flip" "$rounds" "$scratch/$file" b "$kind")
    rm -f audit.jsonl
    printf '%-9s execward  ' "$kind"
    "$execward" run -q --no-notice --policy policy.toml --state state --audit audit.jsonl -- "${words[@]}" | tail -n 1
    printf '%-9s unverified' "$kind"
    words[1]=2000
    printf ' %s (of 2000)\n' "$("$floor" --notify-only "${words[@]}" | tail -n 1)"
done
