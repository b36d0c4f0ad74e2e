#!/usr/bin/env bash
# What reading a shell's text costs: texts that are hard on a parser, each in a session of its own, in
# turns; and `sh -c :` in a session beside `sh FILE`, which is not read.
#
# shell.sh EXECWARD RUNS
set -euo pipefail
export LC_ALL=C
execward=$1 runs=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch XDG_STATE_HOME=$scratch XDG_RUNTIME_DIR=$scratch
cd "$scratch"

repeat() { local text; printf -v text "%$2s"; printf '%s' "${text// /$1}"; }

names=() texts=() said=()
text() { names+=("$1") texts+=("$2"); }
text 'empty' ''
text 'git status && git log | wc -l' 'git status && git log | wc -l'
text '200 nested parentheses' "$(repeat '(' 200)ls$(repeat ')' 200)"
text '200 nested $( )' "$(repeat '$(' 200)ls$(repeat ')' 200)"
text '3,000 braces' "$(repeat '{' 3000)"
text '3,000 alternatives' "echo {$(repeat 'a,' 3000)b}"
text '100 here-documents' "$(for ((i = 0; i < 100; i++)); do printf 'cat <<E%d\nx $(ls)\nE%d\n' $i $i; done)"
text '500 process substitutions' "cat $(repeat '<(ls) ' 500)"
text '1,000 commands' "$(repeat 'ls;' 1000)"
text '64 KiB of quotes' "$(repeat '"' 65530)"
text '8 nested sh -c' "$(t=ls; for ((i = 0; i < 8; i++)); do printf -v t 'sh -c %q' "$t"; done; printf '%s' "$t")"

now() { local at=${EPOCHREALTIME/./}; printf -v "$1" %s "$at"; }

median() { sort -n | awk '{ a[NR] = $1 } END { print (NR % 2) ? a[(NR + 1) / 2] : int((a[NR / 2] + a[NR / 2 + 1]) / 2) }'; }

# What the gate needed for the decision about `sh -c TEXT`, by its own record: the text is read, its parts
# are held against the denies, and nothing of it runs, for a shell that leaves at its first line reads no further.
for ((run = 0; run < runs; run++)); do
    for at in "${!texts[@]}"; do
        rm -f log
        "$execward" run -q --preset dev --audit log -- /bin/sh -c $'exit\n'"${texts[at]}" 2>/dev/null || true
        decision=$(grep -m 1 '"exec.decision"' log)
        [[ $decision =~ \"lat\":\{\"total\":([0-9]+) ]] && echo "${BASH_REMATCH[1]}" >>"took.$at"
        if [[ $decision =~ \"not_analysed\":\"([^\"]*) ]]; then
            said[at]="not analysed: ${BASH_REMATCH[1]}"
        elif [[ $decision == *'"untold"'* ]]; then
            said[at]='analysed, not told whole'
        else
            said[at]='told whole'
        fi
    done
done
printf '%-32s %10s  %s\n' 'text' 'us' 'said'
for at in "${!texts[@]}"; do
    printf '%-32s %10d  %s\n' "${names[at]}" "$(median <"took.$at")" "${said[at]}"
done

printf ':\n' >nothing.sh
printf 'i=0; while [ $i -lt 200 ]; do /bin/sh -c :; i=$((i+1)); done\n' >text.sh
printf 'i=0; while [ $i -lt 200 ]; do /bin/sh nothing.sh; i=$((i+1)); done\n' >file.sh
for ((run = 0; run < runs; run++)); do
    for script in text file; do
        now from
        "$execward" run -q --preset dev --audit "$scratch/log.$run" -- /bin/sh $script.sh
        now to
        echo $(((to - from) / 200)) >>"$scratch/shell.$script"
    done
    rm -f "$scratch/log.$run"
done
text=$(median <"$scratch/shell.text") file=$(median <"$scratch/shell.file")
printf '\na start of sh in a session: %d us with -c and a text, %d us with a file: the text costs %d us\n' \
    "$text" "$file" $((text - file))
