#!/bin/sh
# with-memory-limit.sh MEBIBYTES COMMAND [ARGUMENT...]
# Runs a command in a memory cgroup of its own, as a container would, and says the most that the group held.
# Needs root, and the memory controller of cgroup version 1, or of version 2 in a group without processes of its own.
# Exit status: the command's; 137 when it was killed for want of memory.
set -eu
mebibytes=$1
shift

legacy=$(awk -F: '$2 ~ /(^|,)memory(,|$)/ { print $3 }' /proc/self/cgroup)
unified=$(awk -F: '$1 == "0" { print $3 }' /proc/self/cgroup)
if [ -n "$legacy" ]; then
  group=/sys/fs/cgroup/memory$legacy/thumbjob-$$ limit=memory.limit_in_bytes peak=memory.max_usage_in_bytes
else
  group=/sys/fs/cgroup$unified/thumbjob-$$ limit=memory.max peak=memory.peak
fi
mkdir "$group"
trap 'exit 143' TERM
trap 'exit 130' INT
# What the command has left behind goes with it.
trap 'while ! rmdir "$group" 2>/dev/null; do kill -9 $(cat "$group/cgroup.procs") 2>/dev/null; sleep 0.1; done' EXIT
echo $((mebibytes << 20)) >"$group/$limit"

status=0
sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@" || status=$?
echo "exit status $status, at most $(($(cat "$group/$peak") >> 20)) of $mebibytes MiB" >&2
exit "$status"
