#!/bin/sh
# small-container.sh PHOTOS [MEBIBYTES]
# A folder of large progressive photos, eight at once, in a container of 192 MiB: thumbjob; thumbjob told to hear of every
# flaw, for which libjpeg has to decode all and hold every coefficient, with its budget and without; and vipsthumbnail.
# PHOTOS is a folder of photographs that large-photos.sh makes the large ones of.
set -u
here=$(dirname "$0") photos=$1 mebibytes=${2:-192}
thumbjob=${THUMBJOB:-$here/../.build/release/thumbjob}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/large-photos.sh" "$photos" "$work" || exit 1

# run NAME COMMAND...
run() {
  name=$1
  shift
  rm -rf "$work/out" && mkdir "$work/out"
  "$here/with-memory-limit.sh" "$mebibytes" "$@" >"$work/log" 2>&1
  printf '%-32s %2d of 40 made; %s\n' "$name" "$(find "$work/out" -name '*.jpg' | wc -l)" "$(tail -n 1 "$work/log")"
  grep -m 1 -o '[a-z]*: terminated by signal 9' "$work/log"
}
run "thumbjob" "$thumbjob" "$work/large" --max 8 -o "$work/out"
run "all of each decoded" "$thumbjob" "$work/large" --max 8 -o "$work/out" --fail-on warning
run "the same without a budget" "$thumbjob" "$work/large" --max 8 -o "$work/out" --fail-on warning \
  --memory 1T --on-pressure ignore
run "vipsthumbnail, xargs -P8" sh -c "ls '$work'/large/*.jpg | xargs -P8 -n1 vipsthumbnail -s 256 -o '$work/out/%s.jpg'"
