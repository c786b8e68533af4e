#!/bin/sh
# large-photos.sh PHOTOS TARGET
# Makes progressive 4:2:0 JPEGs of photographs, as large as those that kill thumbnailers:
#   TARGET/large  40 of 8 to 24 megapixels
#   TARGET/huge   5 of 40 to 100 megapixels
# PHOTOS is a folder of JPEG photographs, at least one. Needs vips (Debian: libvips-tools). Made files are kept.
set -eu
photos=$1 target=$2
mkdir -p "$target/large" "$target/huge"

# resize FILE MEGAPIXELS TARGET
resize() {
  [ -s "$3" ] && return
  pixels=$(($(vipsheader -f width "$1") * $(vipsheader -f height "$1")))
  scale=$(awk "BEGIN { print sqrt($2 * 1000000 / $pixels) }")
  vips resize "$1" "$3.part.jpg[Q=85,interlace,subsample_mode=on,keep=none]" "$scale" --kernel cubic 2>/dev/null ||
    vips resize "$1" "$3.part.jpg[Q=85,interlace,subsample_mode=on,strip]" "$scale" --kernel cubic
  mv "$3.part.jpg" "$3"
}

set -- "$photos"/*.jpg
photo=  # set by eval
for number in $(seq 0 39); do
  eval "photo=\${$((number % $# + 1))}"
  resize "$photo" "$((8 + number * 16 / 39))" "$target/large/$(printf %02d "$number").jpg"
done
for number in 0 1 2 3 4; do
  eval "photo=\${$((number % $# + 1))}"
  resize "$photo" "$((40 + number * 15))" "$target/huge/$number.jpg"
done
