#!/usr/bin/env bash
# moving-picture.sh BINARY MAKE_IMAGES PICTURE.svg
# Records a run, the answer to USR1 and a second run in a terminal, as an animated SVG for README.
# Needs asciinema (Debian) and termtosvg with setuptools below 81 (PyPI) on PATH.
set -euo pipefail
[[ $# = 3 ]] || { echo "usage: moving-picture.sh BINARY MAKE_IMAGES PICTURE.svg" >&2; exit 64; }
binary=$(realpath "$1")
make_images=$(realpath "$2")
picture=$(realpath -m "$3")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir bin
ln -s "$binary" bin/thumbjob
"$make_images" images
for number in {1..24}; do cp -r images/2025 "images/2025-$number"; done

cat > session.sh <<'END'
PATH=$PWD/bin:$PATH
type() { printf '$ '; for ((i = 0; i < ${#1}; i++)); do printf '%s' "${1:i:1}"; sleep 0.03; done; printf '\n'; }
sleep 0.5
type 'thumbjob ./images --max 4'
thumbjob ./images --max 4 &
sleep 2.5
kill -USR1 $!
wait
sleep 2
type 'thumbjob ./images --max 4'
thumbjob ./images --max 4
sleep 4
END
export LC_ALL=C.UTF-8 TERM=xterm-256color
asciinema rec -q --overwrite --cols 114 --rows 30 -c "bash session.sh" run.cast
termtosvg render run.cast "$picture" -D 3000 -m 50
