#!/usr/bin/env bash
# parallel.sh HOSTS LISTS OUT [OPTION...]: gives the lists of `thumbjob split` to machines that ssh reaches, with GNU
# parallel.
#
#   thumbjob split photos --into lists --parts 64
#   jobs/cluster/parallel.sh hosts lists thumbs --size 320
#
# HOSTS is a file with a line for each machine, such as `user@node1`; `:` is this one. Each needs thumbjob, ssh without a
# password, and the same file system at the same place. A list that failed for another reason than its sources is tried
# again, up to three times in all, on whichever machine is free.

set -u

if [ $# -lt 3 ]; then
  echo "usage: parallel.sh HOSTS LISTS OUT [OPTION...]" >&2
  exit 64
fi
hosts=$1 lists=$2 out=$3
shift 3

log=$(mktemp) || exit 73
trap 'rm -f "$log"' EXIT

todo=()
for list in "$lists"/[0-9]*; do
  [ -f "$list" ] && todo+=("${list##*/}")
done
if [ ${#todo[@]} -eq 0 ]; then
  echo "parallel.sh: $lists has no lists; thumbjob split writes them" >&2
  exit 66
fi

failed=0
for _ in 1 2 3; do
  # One list at a time on each machine: thumbjob uses all its processors.
  parallel --will-cite --sshloginfile "$hosts" --jobs 1 --workdir "$PWD" --joblog "$log" --quote \
    thumbjob --out "$out" --quiet "$@" --files0-from "$lists"/{} ::: "${todo[@]}"
  # The seventh column is the exit status, the eighth the signal, the last word the list.
  awk 'NR > 1 && $7 == 1 { found = 1 } END { exit !found }' "$log" && failed=1
  mapfile -t todo < <(awk 'NR > 1 && ($7 > 1 || $8 > 0) { sub(/.*\//, "", $NF); print $NF }' "$log")
  [ ${#todo[@]} -eq 0 ] && exit "$failed"
done
echo "parallel.sh: not done: ${todo[*]}" >&2
exit 75
