#!/usr/bin/env bash
# parts.sh PART...: runs the parts of `make test` in this order and stops at the first that fails. The last lines show how
# long each part took, and how many tests were skipped and why.
set -euo pipefail
cd "$(dirname "$0")/.."

times=
for part in "$@"; do
  rm -f ".build/$part.log"
  start=$SECONDS
  ${MAKE:-make} --no-print-directory "$part"
  # The parts after it find everything compiled.
  if [[ $part == compiled ]]; then export COMPILED=yes; fi
  took=$((SECONDS - start))
  times+=$(printf '%s%s %d:%02d' "${times:+ · }" "$part" $((took / 60)) $((took % 60)))
done

# Counts the reasons for skipped tests in the logs of Swift Testing and of pytest.
reasons() {
  for part in "$@"; do
    [[ -e .build/$part.log ]] || continue
    sed -nE -e 's/^.*Test .* skipped: "(.*)"$/\1/p' -e 's/^.*Test .* skipped\.?$/no reason given/p' \
      -e 's/^SKIPPED \[[0-9]+\] [^ ]+ (.*)$/\1/p' ".build/$part.log"
  done | sort | uniq -c | sed -E 's/^ *([0-9]+) (.*)$/\1 (\2)/' | paste -sd';' | sed 's/;/, /g'
}

skipped=$(reasons "$@")
echo "minutes: $times"
echo "skipped: ${skipped:-nothing}"
