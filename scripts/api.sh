#!/usr/bin/env bash
# api.sh SWIFT REVISION BUILT FOLDER LIBRARY...: compares the public declarations of libraries with those of an earlier revision,
# and fails if one of those is gone or has changed. BUILT has the compiled modules of now, such as .build/debug; FOLDER is for the
# source and the modules of the revision.
set -euo pipefail
cd "$(dirname "$0")/.."

swift=$1 revision=$2 built=$3 folder=$4
shift 4
tools=$(dirname "$(realpath "$(command -v "$swift")")")
triple=$("$swift" -print-target-info | sed -nE 's/^ *"unversionedTriple": "(.*)",$/\1/p')

if [[ -z $revision ]]; then
  echo "there is no version yet: name a revision with SINCE=REVISION" >&2
  exit 1
fi
mkdir -p "$folder"
rm -rf "$folder/source"
git archive --prefix=source/ "$revision" | tar -x -C "$folder"
for library in "$@"; do
  THUMBJOB_TARGETS="$*" "$swift" build --package-path "$folder/source" --scratch-path "$folder/build" --target "$library" \
    >"$folder/build.log" 2>&1 || { cat "$folder/build.log" >&2; exit 1; }
done

# dump SOURCE BUILT LIBRARY TO: writes the declarations of a compiled library as JSON.
dump() {
  local map maps=()
  while read -r map; do maps+=(-Xcc "-fmodule-map-file=$map"); done < <(
    find -L "$1/Sources" "$2"/C*.build -maxdepth 4 -name module.modulemap)
  "$tools/swift-api-digester" -dump-sdk -module "$3" -target "$triple" -I "$2/Modules" "${maps[@]}" -o "$4"
}

broken=no
for library in "$@"; do
  dump "$folder/source" "$folder/build/debug" "$library" "$folder/before.json"
  dump . "$built" "$library" "$folder/now.json"
  # A headline in comment signs stands above each group of differences, also above an empty one.
  differences=$("$tools/swift-api-digester" -diagnose-sdk -input-paths "$folder/before.json" -input-paths "$folder/now.json" 2>&1 |
    grep -vE '^(/\*.*\*/)?$' || true)
  if [[ -n $differences ]]; then
    broken=yes
    echo "$library: declarations of $revision that are gone or changed:"
    printf '  %s\n' "${differences//$'\n'/$'\n'  }"
  else
    echo "$library: everything of $revision is there"
  fi
done
[[ $broken == no ]]
