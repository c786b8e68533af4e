#!/usr/bin/env bash
# lint-page.sh OXLINT: checks the scripts of the status page as the one script that they are to a browser: joined in the order
# of StatusPage.swift, since later files use names of earlier ones.
set -euo pipefail
oxlint=$1 page=Sources/StatusEndpoint/Page
mapfile -t scripts < <(grep -oE '[a-z]+_js\b' "$page/StatusPage.swift" | sed 's/_js$/.js/')

# Each file of the folder is in the page.
diff <(printf '%s\n' "${scripts[@]}" | sort) <(cd "$page" && ls -- *.js)

mkdir -p .build/lint
(cd "$page" && cat -- "${scripts[@]}") > .build/lint/page.js
"$oxlint" --config .oxlintrc.json --no-ignore .build/lint/page.js
