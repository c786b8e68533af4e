#!/bin/sh
# huge-photo.sh PHOTO TARGET
# Makes a progressive JPEG of 300 megapixels (20,000 × 15,000, 4:2:0, quality 85) out of a photograph, if TARGET is
# not there; then makes a thumbnail of it, with thumbjob and with vipsthumbnail, and says what each took and held.
# Making it takes about a gigabyte of memory, because its coefficients must all be there before the first scan is
# written, and as much of the disk that temporary files are on.
# Needs vips (Debian: libvips-tools) and python3.
set -eu
[ $# = 2 ] || { echo "usage: huge-photo.sh PHOTO TARGET" >&2; exit 64; }
photo=$1 target=$2
thumbjob=${THUMBJOB:-$(dirname "$0")/../.build/release/thumbjob}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ ! -s "$target" ]; then
  width=$(vipsheader -f width "$photo") height=$(vipsheader -f height "$photo")
  across=$(awk "BEGIN { print 20000 / $width }") down=$(awk "BEGIN { print 15000 / $height }")
  vips resize "$photo" "$work/resized.v" "$across" --vscale "$down" --kernel cubic
  vips jpegsave "$work/resized.v" "$target.part.jpg" --Q 85 --interlace --subsample-mode on --strip
  mv "$target.part.jpg" "$target"
fi
echo "$(vipsheader -f width "$target") × $(vipsheader -f height "$target"), $(($(wc -c <"$target") >> 20)) MiB"

# run COMMAND...: the kernel's account of the time and memory of a child
run() {
  python3 - "$@" <<'EOF'
import os, sys, time
start = time.monotonic()
_, status, usage = os.wait4(os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ), 0)
seconds = time.monotonic() - start
print(f"{sys.argv[1].split('/')[-1]:16} exit status {os.waitstatus_to_exitcode(status)}, {seconds:.2f} s, "
      f"at most {usage.ru_maxrss / 1024:.0f} MiB")
EOF
}
run "$thumbjob" "$target" -s 256 -q 80 --force -o "$work/out" --quiet --progress none --status off
run vipsthumbnail "$target" -s 256 -o "$work/%s.jpg[Q=80]"
