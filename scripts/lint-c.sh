#!/usr/bin/env bash
# lint-c.sh CLANG FOLDER...: checks the C files of each FOLDER with compiler warnings and clang's static analyser. Both
# come with Swift, so nothing has to be installed.
set -euo pipefail
clang=$1
shift

# The headers of the targets that other targets include.
headers=(-ISources/CDecoding/include -ISources/CLibJPEG/include -ISources/CFence/include -ISources/CPictures/include -ITests/BadDeeds/include)
# OpenJPEG's are in a folder of their own.
read -r -a library < <(pkg-config --cflags-only-I libopenjp2 2>/dev/null || echo)
headers+=("${library[@]}")

for folder in "$@"; do
  mapfile -d '' files < <(find "$folder" -name '*.c' -print0)
  # The first time as in a build with all traits, then as without any.
  for macros in "-DTHUMBJOB_FORMATS -DTHUMBJOB_NETWORK" "-Wno-unused-parameter"; do
    # shellcheck disable=SC2086  # several words
    "$clang" -fsyntax-only -Werror -Wall -Wextra -Wpedantic -Wno-nullability-extension -Wno-empty-translation-unit -Wconversion -Wshadow \
      -Wcast-qual -Wmissing-prototypes -Wstrict-prototypes -Wconditional-uninitialized $macros -I"$folder/include" -I"$folder" \
      "${headers[@]}" "${files[@]}"
  done

  # Finds leaks, double frees, null pointers and dead stores. The checks for values that were never written are off, because
  # the analyser does not know how many components and blocks libjpeg allows.
  printf '%s\0' "${files[@]}" | xargs -0 -P 2 -n 1 "$clang" --analyze --analyzer-output text -Xclang -analyzer-werror \
    -DTHUMBJOB_FORMATS -DTHUMBJOB_NETWORK -Xclang -analyzer-disable-checker=core.uninitialized,core.UndefinedBinaryOperatorResult,core.CallAndMessage \
    -I"$folder/include" -I"$folder" "${headers[@]}"
done
