#!/usr/bin/env bash
# lint-page.sh OXLINT: checks the scripts of the status page as the one script that a browser gets. They are joined in the
# order of StatusPage.swift, because later files use names of earlier ones.
set -euo pipefail
oxlint=$1 page=Sources/StatusEndpoint/Page
mapfile -t scripts < <(grep -oE '[a-z]+_js\b' Sources/StatusEndpoint/Routes/StatusPage.swift | sed 's/_js$/.js/')

# Fails unless the page uses exactly the scripts of the folder.
diff <(printf '%s\n' "${scripts[@]}" | sort) <(cd "$page" && ls -- *.js)

mkdir -p .build/lint
(cd "$page" && cat -- "${scripts[@]}") > .build/lint/page.js
"$oxlint" --config .oxlintrc.json --no-ignore .build/lint/page.js
