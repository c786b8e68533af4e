#!/usr/bin/env bash
# lint-page.sh OXLINT: checks the scripts of each page as the one script that a browser gets. They are joined in the order of
# the page, because later files use names of earlier ones.
set -euo pipefail
oxlint=$1
mkdir -p .build/lint

# check NAME FOLDER SCRIPT...: fails unless the page uses exactly the scripts of the folder, or if they have mistakes.
check() {
  local name=$1 folder=$2
  shift 2
  diff <(printf '%s\n' "$@" | sort) <(cd "$folder" && ls -- *.js)
  (cd "$folder" && cat -- "$@") > ".build/lint/$name.js"
  "$oxlint" --config .oxlintrc.json --no-ignore ".build/lint/$name.js"
}

mapfile -t status < <(grep -oE '[a-z]+_js\b' Sources/StatusEndpoint/Routes/StatusPage.swift | sed 's/_js$/.js/')
check page Sources/StatusEndpoint/Page "${status[@]}"

# The data is written with each gallery.
mapfile -t gallery < <(sed -nE 's|.*<script defer src="page/([a-z]+\.js)".*|\1|p' Sources/Gallery/Page/index.html |
  grep -vx data.js)
check gallery Sources/Gallery/Page "${gallery[@]}"
