#!/bin/sh
# photos.sh FOLDER
# Lays out photographs to measure with, from Debian packages of wallpapers:
#   FOLDER/photos  as they come: 0.4 to 18 megapixels, baseline and progressive, of many qualities and samplings
#   FOLDER/camera  the twelve largest files as a camera would write them: baseline 4:2:0 at quality 92
#   FOLDER/web     the same twelve as exported for the web: progressive 4:2:0 at quality 85
#   FOLDER/many    2,000 links to those in photos, a hundred in each folder
#   FOLDER/one     a single small one: the largest file at an eighth, about 700 pixels wide
# What is there already is kept. Needs apt-get, dpkg-deb, djpeg and cjpeg (Debian: libjpeg-turbo-progs).
set -eu
[ $# = 1 ] || { echo "usage: photos.sh FOLDER" >&2; exit 64; }
mkdir -p "$1"
cd "$1"

# Whatever is made is made beside and renamed, so that half a folder is never taken for a whole one.
rm -rf packages.part photos.part camera.part web.part many.part one.part

if [ ! -d photos ]; then
  mkdir packages.part photos.part
  (
    cd packages.part
    # apt's sandbox user may not write here, of which apt-get warns.
    apt-get download -q mate-backgrounds plasma-workspace-wallpapers 2>/dev/null ||
      { apt-get update -q && apt-get download -q mate-backgrounds plasma-workspace-wallpapers; }
    for package in *.deb; do dpkg-deb -x "$package" .; done
  ) >/dev/null
  # Named after what they hold: some are in a package twice.
  find packages.part -type f \( -name '*.jpg' -o -name '*.jpeg' \) -size +100k | while read -r file; do
    mv "$file" "photos.part/$(md5sum "$file" | cut -c 1-8).jpg"
  done
  rm -rf packages.part
  mv photos.part photos
fi

# encode FOLDER OPTION...: the twelve largest, encoded anew
encode() {
  folder=$1
  shift
  [ -d "$folder" ] && return
  mkdir "$folder.part"
  # shellcheck disable=SC2012  # the names are ours
  ls -S photos | head -n 12 | while read -r name; do
    djpeg "photos/$name" >"$folder.ppm.part"
    cjpeg "$@" -sample 2x2 -outfile "$folder.part/$name" "$folder.ppm.part"
  done
  rm "$folder.ppm.part"
  mv "$folder.part" "$folder"
}
encode camera -quality 92
encode web -quality 85 -progressive

if [ ! -d many ]; then
  mkdir many.part
  set -- photos/*.jpg
  for number in $(seq 0 1999); do
    folder=many.part/$(printf %02d $((number / 100)))
    mkdir -p "$folder"
    ln "$1" "$folder/$number.jpg"
    # Round and round.
    last=$1
    shift
    set -- "$@" "$last"
  done
  mv many.part many
fi

if [ ! -d one ]; then
  mkdir one.part
  # shellcheck disable=SC2012  # the names are ours
  largest=$(ls -S photos | head -n 1)
  djpeg -scale 1/8 "photos/$largest" >one.ppm.part
  cjpeg -quality 85 -sample 2x2 -outfile "one.part/$largest" one.ppm.part
  rm one.ppm.part
  mv one.part one
fi
