#!/usr/bin/env bash
# Formats the C files as .clang-format says; --check: only says which are not. Expects the environment
# of `.ci/setup.sh dev`.
set -euo pipefail
cd "$(dirname "$0")/.."
FORMAT=${VENV:-.venv}/bin/clang-format
mode=(-i)
[ "${1:-}" != --check ] || mode=(--dry-run --Werror)
# These repeat what the vendors' headers declare, a row a declaration.
find src -name '*.[ch]' ! -name cl_api.h ! -name cu_api.h -print0 |
    xargs -0 "$FORMAT" "${mode[@]}"
wide=$(find src -name '*.[ch]' ! -name '*_api.h' \
    -exec awk 'length > 100 { print FILENAME ":" FNR ": wider than 100 columns" }' {} +)
if [ -n "$wide" ]; then
    echo "$wide" >&2
    exit 1
fi
