#!/usr/bin/env bash
# needs.sh PURPOSE...: checks in about a second that this machine has the packages that building everything (build), `make lint`
# (lint), `make test` (test), `make deb` (deb), `make dist` (dist) or `make bench` (bench) needs. As root it installs missing packages.
# Otherwise it prints the one command that installs them, and fails.
#
# needs.sh run: the same for `make run` and `make build`. If packages cannot be installed, it only says what is not built in. It
# fails only if the program cannot be built at all.
#
# needs.sh traits: prints the options of `swift build` for the parts that can be built here.
# shellcheck disable=SC2317,SC2329  # the functions are called by names that are put together
set -euo pipefail

missing=()
# The traits that a missing package keeps from being built, and whether the program cannot be built at all.
lacking=" "
hard=
refresh=

# need PACKAGE COMMAND...: adds the package to the missing ones if the command fails.
need() {
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || { missing+=("$package") && hard=yes; }
}

# need_for TRAIT PACKAGE COMMAND...: the same for a package that only this trait needs. An empty trait: the program can be built
# without the package.
need_for() {
  local trait=$1 package=$2
  shift 2
  "$@" >/dev/null 2>&1 || { missing+=("$package") && lacking+="$trait "; }
}

has_libjpeg() { pkg-config --exists libjpeg || has_header jpeglib.h; }

has_header() { [[ -n $(find /usr/include /usr/local/include -path "*/$1" -print -quit 2>/dev/null) ]]; }

needs_of_run() { needs_of_build; }

# The Debian packages, each with a quick command that succeeds if it is installed.
needs_of_build() {
  need libjpeg-dev has_libjpeg
  # Without it, Swift's ICU data stays whole in the program.
  need_for "" python3 command -v python3
  need_for "" pkg-config command -v pkg-config
  need_for Formats liblcms2-dev pkg-config --exists lcms2
  need_for Formats libexif-dev pkg-config --exists libexif
  need_for Formats libpng-dev pkg-config --exists libpng
  need_for Formats zlib1g-dev pkg-config --exists zlib
  need_for Formats libisal-dev pkg-config --exists libisal
  need_for Formats libgif-dev has_header gif_lib.h
  need_for Formats libwebp-dev pkg-config --exists libwebp
  need_for Formats libavif-dev pkg-config --exists libavif
  need_for Formats libjxl-dev pkg-config --exists libjxl
  need_for Formats libopenjp2-7-dev pkg-config --exists libopenjp2
  need_for Formats libtiff-dev pkg-config --exists libtiff-4
  need_for Formats libde265-dev pkg-config --exists libde265
  need_for Formats libdav1d-dev pkg-config --exists dav1d
  need_for Formats libseccomp-dev pkg-config --exists libseccomp
  need_for Formats libharfbuzz-dev pkg-config --exists harfbuzz-subset
  need_for Formats libfontconfig-dev pkg-config --exists fontconfig
  need_for Formats libfribidi-dev pkg-config --exists fribidi
  need_for Network libcurl4-openssl-dev pkg-config --exists libcurl
  need_for Ledger nettle-dev pkg-config --exists nettle
  need_for Ledger libsqlite3-dev pkg-config --exists sqlite3
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
  need libglib2.0-bin command -v gio
  need python3-gi /usr/bin/python3 -c 'import gi'
  need gir1.2-libxfce4util-1.0 /usr/bin/python3 -c 'import gi; gi.require_version("Libxfce4util", "1.0")'
  need tumbler test -e /usr/share/dbus-1/services/org.xfce.Tumbler.Thumbnailer1.service
  need dbus-daemon command -v dbus-run-session
  need dbus-bin command -v dbus-monitor
  need poppler-utils command -v pdftotext
  need fonts-dejavu-core test -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
  need strace command -v strace
  need procps command -v pgrep
  need parallel command -v parallel
  need util-linux command -v setpriv
  need ntfs-3g command -v lowntfs-3g
  need fuse3 command -v fusermount3
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
  need webp command -v cwebp
  need libtiff-tools command -v tiffcp
  # GNOME's own way to make thumbnails, for `make bench-desktops`.
  need python3-gi /usr/bin/python3 -c 'import gi'
  need gir1.2-gnomedesktop-3.0 /usr/bin/python3 -c 'import gi; gi.require_version("GnomeDesktop", "3.0")'
  need libgdk-pixbuf2.0-bin command -v gdk-pixbuf-thumbnailer
  need bubblewrap command -v bwrap
  need fuse3 command -v fusermount3
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
if [[ $1 = traits ]]; then
  needs_of_build
  built=()
  for trait in Formats Network Ledger Endpoint; do [[ $lacking = *" $trait "* ]] || built+=("$trait"); done
  case ${#built[@]} in
    4) ;;
    0) echo --disable-default-traits ;;
    *) (IFS=, && echo "--traits ${built[*]}") ;;
  esac
  exit 0
fi

for what in "$@"; do "needs_of_$what"; done
[[ ${#missing[@]} -gt 0 || -n $refresh ]] || exit 0

install="apt-get update -q"
[[ ${#missing[@]} -eq 0 ]] || install+=" && apt-get install -y -q --no-install-recommends ${missing[*]}"
way="run: sudo sh -c '$install'"
if ! command -v apt-get >/dev/null; then
  way="install these packages, as Debian calls them: ${missing[*]}"
elif [[ $(id -u) = 0 ]]; then
  if bash -c "$install"; then exit 0; fi
  way="mend what is wrong, and run: $install"
fi
if [[ $* != run || -n $hard ]]; then
  echo "System packages are missing. To get them, $way" >&2
  exit 1
fi
{
  echo "System packages are missing. What needs them is not built in:"
  [[ $lacking != *" Formats "* ]] || echo "  colour conversion, EXIF, and formats other than JPEG"
  [[ $lacking != *" Network "* ]] || echo "  sources from the network, and buckets"
  [[ $lacking != *" Ledger "* ]] || echo "  what runs remember, and checksums"
  [[ ${missing[*]} != *python3* ]] || echo "  a smaller program (python3)"
  echo "To get everything, $way"
  echo "Then run make again."
} >&2
