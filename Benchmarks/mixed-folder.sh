#!/bin/sh
# mixed-folder.sh FOLDER [MEBIBYTES]
# A folder of pictures of all formats, eight at once, in a container of 192 MiB: thumbjob; vipsthumbnail and ImageMagick,
# a process for each picture; and Pillow with eight threads. Says how many thumbnails each has made, and how many of its
# processes were killed for want of memory. A program that takes longer than LIMIT seconds (default: 3600) is ended.
# FOLDER is what Formats/make_mixed.py has made. Needs root, for the container: see with-memory-limit.sh. PROGRAMS names
# the programs, and PYTHON the Python that has Pillow and pillow-heif. Exit status 1 if thumbjob has not made all.
set -u
here=$(dirname "$0") folder=$1 mebibytes=${2:-192}
thumbjob=${THUMBJOB:-$here/../.build/release/thumbjob}
python=${PYTHON:-python3}
magick=$(command -v magick || command -v convert-im6.q16 || command -v convert)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=$(find "$folder" -type f | wc -l) short=0
export VIPS_CONCURRENCY=1 OMP_NUM_THREADS=1 MAGICK_THREAD_LIMIT=1

# each COMMAND: for every picture of the folder, eight at once; $1 in it is the picture and $2 a name for its thumbnail.
# Notes each process that was killed, and continues, where xargs would end.
each() {
  # shellcheck disable=SC2016  # for the inner shell
  printf '%s\n' 'number=${1##*/}; set -- "$1" "$OUT/${number%.*}"' "$1" '[ $? = 137 ] && echo killed >>"$KILLED"' \
    'exit 0' >"$work/one.sh"
  find "$folder" -type f -print0 | sort -z >"$work/list"
  echo "xargs -0 -P8 -n1 sh '$work/one.sh' <'$work/list'"
}

# run NAME COMMAND...
run() {
  name=$1
  shift
  case " ${PROGRAMS:-thumbjob vipsthumbnail Pillow ImageMagick} " in *" $name "*) ;; *) return ;; esac
  rm -rf "$work/out" && mkdir "$work/out" && : >"$work/killed"
  start=$(date +%s)
  OUT=$work/out KILLED=$work/killed "$here/with-memory-limit.sh" "$mebibytes" timeout "${LIMIT:-3600}" "$@" \
    >"$work/log" 2>&1
  made=$(find "$work/out" -path '*/.thumbjob' -prune -o -type f -name '*.jpg' -size +0 -print | wc -l)
  printf '%-14s %4d of %d made, %d processes killed, %d s; %s\n' "$name" "$made" "$count" \
    "$(wc -l <"$work/killed")" $(($(date +%s) - start)) "$(tail -n 1 "$work/log")"
  if [ "$name" = thumbjob ] && [ "$made" != "$count" ]; then
    short=1
    grep -v -e ' made' -e '^$' "$work/log" | head -n 20
  fi
}
run thumbjob "$thumbjob" "$folder" --max 8 -o "$work/out" -s 256 -q 80 --quiet --progress none --status off
# shellcheck disable=SC2016  # for the inner shell, here and below
run vipsthumbnail sh -c "$(each 'vipsthumbnail "$1" -s 256 -o "$2.jpg"')"
run Pillow "$python" "$here/Formats/pillow_folder.py" "$folder" "$work/out" 8
# shellcheck disable=SC2016
run ImageMagick sh -c "$(each "$magick"' "$1[0]" -auto-orient -thumbnail 256x256 -background white -flatten "$2.jpg"')"
exit $short
