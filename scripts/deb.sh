#!/usr/bin/env bash
# deb.sh ROOT: makes the Debian package of ROOT, the folder into which `make install` has installed everything below
# /usr. It adds the files that only a package has, and checks the package with lintian if lintian is installed. The
# package is put next to ROOT.
set -euo pipefail

root=$(realpath "$1")
cd "$(dirname "$0")/.."
name=thumbjob
version=$(sed -nE 's/.*current = "([^"]+)".*/\1/p' Sources/thumbjob/Process/Version.swift)-1
architecture=$(dpkg --print-architecture)
maintainer="${DEBFULLNAME:-The thumbjob authors} <${DEBEMAIL:-thumbjob@localhost}>"
documents=$root/usr/share/doc/$name
# The same sources make the same package, byte by byte: all its files are as old as the last change.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH

# put MODE FILE PLACE: installs a file, compressed if its place ends with .gz.
put() {
  mkdir -p "$(dirname "$3")"
  if [[ $3 == *.gz ]]; then gzip -9n <"$2" >"$3"; else cp "$2" "$3"; fi
  chmod "$1" "$3"
}

put 644 packaging/debian/copyright "$documents/copyright"
put 644 CHANGELOG.md "$documents/changelog.gz"
# Those that the systemd units name.
for document in install watch fence serve; do put 644 "docs/$document.md" "$documents/$document.md"; done
for job in jobs/*.yml; do put 644 "$job" "$documents/examples/$(basename "$job")"; done
put 644 packaging/debian/lintian-overrides "$root/usr/share/lintian/overrides/$name"
put 755 packaging/debian/postinst "$root/DEBIAN/postinst"
gzip -9n "$root"/usr/share/man/man1/*.1
# Bash reads this file, but does not run it as a program.
sed -i '1{/^#!/d}' "$root/usr/share/bash-completion/completions/$name"
put 644 <(
  echo "$name ($version) unstable; urgency=medium"
  printf '\n  * The changes are listed in changelog.gz.\n\n'
  echo " -- $maintainer  $(date -uR -d "@$SOURCE_DATE_EPOCH")"
) "$documents/changelog.Debian.gz"

# dpkg-shlibdeps wants the control file of a source package, but reads nothing from it here.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/debian"
touch "$scratch/debian/control"
depends=$(cd "$scratch" && dpkg-shlibdeps -O "$root/usr/bin/$name" "$root/usr/libexec/$name/$name-decoder" "$root/usr/libexec/$name/$name-encoder" | sed 's/^shlibs:Depends=//')

(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$scratch/md5sums"
put 644 "$scratch/md5sums" "$root/DEBIAN/md5sums"
sed -e "s/@VERSION@/$version/; s/@ARCHITECTURE@/$architecture/; s/@DEPENDS@/$depends/" \
  -e "s/@MAINTAINER@/$maintainer/" -e "s/@KILOBYTES@/$(du -k --apparent-size -s "$root/usr" | cut -f1)/" \
  packaging/debian/control >"$root/DEBIAN/control"
find "$root" -type d -exec chmod 755 {} +

package=$(dirname "$root")/${name}_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package"
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning "$package"
else
  echo "not checked, because lintian is not installed: $package" >&2
fi
