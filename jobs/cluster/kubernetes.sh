#!/usr/bin/env bash
# kubernetes.sh [OPTION...]: splits the photos, waits until that has succeeded, and starts the job that makes thumbnails.
#
#   kubectl apply -f jobs/cluster/kubernetes-claims.yaml       # an example
#   jobs/cluster/kubernetes.sh --namespace photos              # the options are for kubectl
#
# A second call while the jobs run, or before Kubernetes has removed them, an hour after their end, changes nothing. To make
# what has changed since, remove them before: kubectl delete job thumbjob-split thumbjob

set -u

here=$(dirname "$0")
kubectl "$@" apply -f "$here/kubernetes-split.yaml" || exit
# kubectl waits for one condition only, and a job has either of these two in the end.
until kubectl "$@" wait --for=condition=complete --timeout=10s job/thumbjob-split >/dev/null 2>&1; do
  if kubectl "$@" wait --for=condition=failed --timeout=0 job/thumbjob-split >/dev/null 2>&1; then
    echo "kubernetes.sh: the split failed; kubectl logs job/thumbjob-split tells why" >&2
    exit 1
  fi
  # Somebody may have removed it.
  kubectl "$@" get job/thumbjob-split >/dev/null || exit
done
kubectl "$@" apply -f "$here/kubernetes.yaml"
