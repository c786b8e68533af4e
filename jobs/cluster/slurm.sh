#!/usr/bin/env bash
# slurm.sh LISTS OUT [OPTION...]: one list of `thumbjob split` for each task of a Slurm array.
#
#   thumbjob split photos --into lists --parts 64
#   sbatch --array=0-63%8 jobs/cluster/slurm.sh lists thumbs --size 320
#   sbatch --array=7,12 jobs/cluster/slurm.sh lists thumbs --size 320       # repeats two of them
#
# %8 is how many tasks run at once. Photos, lists and thumbnails are on a file system that all nodes share.
#SBATCH --job-name=thumbjob
#SBATCH --array=0-63%8
#SBATCH --cpus-per-task=2
#SBATCH --mem=2G
#SBATCH --time=2:00:00
#SBATCH --output=thumbjob-%A_%a.log
#SBATCH --open-mode=append
# If a node fails, its tasks start again on others.
#SBATCH --requeue
# A minute before the time is over, USR2 stops thumbjob in order, with exit status 75.
#SBATCH --signal=B:USR2@60

set -u

if [ $# -lt 2 ]; then
  echo "usage: sbatch --array=0-63%8 slurm.sh LISTS OUT [OPTION...]" >&2
  exit 64
fi
lists=$1 out=$2
shift 2

# How often a task that stopped early starts again.
most_restarts=5

# Slurm sends USR2 to this shell alone, but TERM (scancel) to thumbjob, too: the shell only waits for its end.
thumbjob=
trap '[ -z "$thumbjob" ] || kill -USR2 "$thumbjob"' USR2
trap : TERM
thumbjob --files0-from "$lists" --shard auto --out "$out" --max "${SLURM_CPUS_PER_TASK:-2}" --progress plain "$@" &
thumbjob=$!
while
  wait "$thumbjob"
  status=$?
  kill -0 "$thumbjob" 2>/dev/null
do :; done

if [ "$status" -eq 75 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt "$most_restarts" ]; then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
