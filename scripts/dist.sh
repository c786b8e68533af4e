#!/usr/bin/env bash
# dist.sh ROOT: makes a tarball of ROOT, the folder into which `make install` has installed everything, for machines
# without a package manager that knows thumbjob. It adds the system libraries that the programs need, apart from those of
# glibc, with their licences. Programs and libraries find each other wherever the tarball is unpacked. The tarball is put
# next to ROOT.
set -euo pipefail

root=$(realpath "$1")
cd "$(dirname "$0")/.."
documents=$root/share/doc/thumbjob
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}

programs=("$root/bin/thumbjob" "$root"/libexec/thumbjob/thumbjob-{decoder,encoder})
mkdir -p "$root/lib" "$documents/licences"
# A library of glibc must be the machine's own, as its loader is.
mapfile -t libraries < <(ldd "${programs[@]}" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u \
  | grep -vE '/(libc|libm|libdl|libpthread|librt|libresolv)\.so')
for library in "${libraries[@]}"; do
  install -m 644 "$library" "$root/lib/"
  # Where /lib is a link to /usr/lib, dpkg knows the file by either name.
  file=$(realpath "$library")
  package=$(dpkg -S "$file" 2>/dev/null || dpkg -S "${file#/usr}")
  package=${package%%:*}
  cp -L "/usr/share/doc/$package/copyright" "$documents/licences/$package"
done
strip --strip-unneeded "$root"/lib/*.so*
for library in "$root"/lib/*.so*; do patchelf --set-rpath "\$ORIGIN" "$library"; done
patchelf --set-rpath "\$ORIGIN/../lib" "${programs[0]}"
patchelf --set-rpath "\$ORIGIN/../../lib" "${programs[@]:1}"
cp LICENSE README.md CHANGELOG.md docs/install.md "$documents/"

archive=$root-$(uname -m).tar.xz
tar -C "$(dirname "$root")" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
  -cJf "$archive" "$(basename "$root")"
echo "$archive: $(($(stat -c %s "$archive") / 1000000)) MB, needs glibc $(
  objdump -T "${programs[@]}" "$root"/lib/*.so* | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1 | cut -d_ -f2) or newer"
