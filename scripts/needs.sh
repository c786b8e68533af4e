#!/usr/bin/env bash
# needs.sh PURPOSE...: checks in about a second that this machine has the packages that `make run` (build), `make lint`
# (lint), `make test` (test), `make deb` (deb), `make dist` (dist) or `make bench` (bench) needs. As root it installs missing packages.
# Otherwise it prints the one command that installs them, and fails.
# shellcheck disable=SC2317,SC2329  # the functions are called by names that are put together
set -euo pipefail

missing=()
refresh=

# need PACKAGE COMMAND...: adds the package to the missing ones if the command fails.
need() {
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}

# The Debian packages, each with a quick command that succeeds if it is installed.
needs_of_build() {
  need python3 command -v python3
  need pkg-config command -v pkg-config
  need libjpeg-dev pkg-config --exists libjpeg
  need liblcms2-dev pkg-config --exists lcms2
  need libexif-dev pkg-config --exists libexif
  need libpng-dev pkg-config --exists libpng
  need zlib1g-dev pkg-config --exists zlib
  need libgif-dev test -e /usr/include/gif_lib.h
  need libwebp-dev pkg-config --exists libwebp
  need libtiff-dev pkg-config --exists libtiff-4
  need libde265-dev pkg-config --exists libde265
  need libdav1d-dev pkg-config --exists dav1d
  need nettle-dev pkg-config --exists nettle
  need libseccomp-dev pkg-config --exists libseccomp
  need libcurl4-openssl-dev pkg-config --exists libcurl
  need libharfbuzz-dev pkg-config --exists harfbuzz-subset
  need libfontconfig-dev pkg-config --exists fontconfig
  need libfribidi-dev pkg-config --exists fribidi
  need libsqlite3-dev pkg-config --exists sqlite3
}

needs_of_lint() {
  need shellcheck command -v shellcheck
  need python3-venv python3 -c 'import ensurepip'
}

needs_of_test() {
  needs_of_build
  needs_of_lint
  need chromium command -v chromium
  need chromium-driver command -v chromedriver
  need poppler-utils command -v pdftotext
  need fonts-dejavu-core test -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
  need strace command -v strace
  need procps command -v pgrep
  need parallel command -v parallel
  need util-linux command -v setpriv
  need ntfs-3g command -v lowntfs-3g
  need libjpeg-turbo-progs command -v cjpeg
  need zsh command -v zsh
  need fish command -v fish
  need bash-completion test -e /usr/share/bash-completion/bash_completion
  need openssl command -v openssl
  # The Makefile downloads and unpacks the packages of promtool and nginx, for which apt needs its lists. To install them
  # would start servers.
  command -v promtool >/dev/null || test -e .build/prometheus/usr/bin/promtool \
    || apt-cache show prometheus >/dev/null 2>&1 || refresh=yes
  PATH=$PATH:/usr/sbin command -v nginx >/dev/null || test -e .build/nginx/usr/sbin/nginx \
    || apt-cache show nginx >/dev/null 2>&1 || refresh=yes
}

needs_of_deb() {
  needs_of_build
  need dpkg-dev command -v dpkg-shlibdeps
}

needs_of_dist() {
  needs_of_build
  need patchelf command -v patchelf
  need xz-utils command -v xz
  need binutils command -v objdump
}

needs_of_bench() {
  needs_of_build
  need libvips-tools command -v vipsthumbnail
  need libjpeg-turbo-progs command -v cjpeg
  need python3-venv python3 -c 'import ensurepip'
  # For the other formats: ImageMagick, and what makes their pictures.
  need imagemagick sh -c 'command -v magick convert-im6.q16'
  need libheif-examples command -v heif-enc
  need libavif-bin command -v avifenc
  need libtiff-tools command -v tiffcp
  # The witnesses of `make suites`.
  need chromium command -v chromium
  need chromium-driver command -v chromedriver
  need netpbm command -v giftopnm
  need pngcheck command -v pngcheck
  need libimage-exiftool-perl command -v exiftool
  # Its package would start a server; see the Makefile.
  need curl command -v curl
}

command -v "${SWIFT:-swift}" >/dev/null || {
  echo "Swift 6.2 or newer is needed: https://www.swift.org/install" >&2
  exit 1
}
for what in "$@"; do "needs_of_$what"; done
[[ ${#missing[@]} -gt 0 || -n $refresh ]] || exit 0

install="apt-get update -q"
[[ ${#missing[@]} -eq 0 ]] || install+=" && apt-get install -y -q --no-install-recommends ${missing[*]}"
if ! command -v apt-get >/dev/null; then
  echo "Packages are missing. Their names on Debian: ${missing[*]}" >&2
elif [[ $(id -u) = 0 ]]; then
  exec bash -c "$install"
else
  echo "System packages are missing. Run: sudo sh -c '$install'" >&2
fi
exit 1
