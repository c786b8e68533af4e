#!/usr/bin/env bash
# docs.sh SWIFT BUILT FOLDER LIBRARY...: writes the documentation of libraries from their compiled modules, which are in the
# folder BUILT, such as .build/debug. Fails on a parameter without documentation and on a link that leads nowhere.
set -euo pipefail
cd "$(dirname "$0")/.."

swift=$1 built=$2 folder=$3
shift 3
tools=$(dirname "$(realpath "$(command -v "$swift")")")
triple=$("$swift" -print-target-info | sed -nE 's/^ *"unversionedTriple": "(.*)",$/\1/p')
# The modules of C that the libraries import: this package's.
maps=()
while read -r map; do maps+=(-Xcc "-fmodule-map-file=$map"); done < <(
  find -L Sources "$built"/C*.build -maxdepth 4 -name module.modulemap)

for library in "$@"; do
  graph=$folder/symbols/$library
  rm -rf "$graph" "${folder:?}/$library"
  mkdir -p "$graph"
  "$tools/swift-symbolgraph-extract" -module-name "$library" -target "$triple" -I "$built/Modules" "${maps[@]}" \
    -minimum-access-level public -skip-inherited-docs -output-dir "$graph"
  "$tools/docc" convert "Sources/$library/$library.docc" --additional-symbol-graph-dir "$graph" --warnings-as-errors \
    --fallback-display-name "$library" --fallback-bundle-identifier "$library" --transform-for-static-hosting \
    --hosting-base-path "$library" --output-path "$folder/$library"
done
