#!/usr/bin/env bash
# image.sh PACKAGE ARCHIVE: makes a container image of thumbjob from its Debian package and the packages of Debian that it
# needs, and nothing else: no registry, and no rights of root. ARCHIVE is what `podman load` and `docker load` read.
set -euo pipefail

package=$(realpath "$1")
archive=$2
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
scratch=$(mktemp -d)
trap 'buildah unshare rm -rf "$scratch"' EXIT

# Without documents and other languages, the image has half the size.
mmdebstrap --variant=essential --include="$package" --hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  "$release" "$scratch/root.tar"
container=$(buildah from scratch)
buildah add -q "$container" "$scratch/root.tar" /
# Neither root nor a user of the machine. `podman run --user` names one that may write to the output folder.
buildah config --user 65532:65532 --entrypoint '["/usr/bin/thumbjob"]' --label "org.opencontainers.image.title=thumbjob" \
  "$container"
buildah commit -q --rm "$container" "docker-archive:$archive:thumbjob:latest"
echo "$archive: $(($(stat -c %s "$archive") / 1000000)) MB"
