#!/usr/bin/env bash
# ruff, clang-format, typos, mypy, and each compiler's word on each C file. Expects the environment of `.ci/setup.sh dev`.
set -euo pipefail
cd "$(dirname "$0")/.."
PY=${VENV:-.venv}/bin/python

"$PY" -m ruff check .
"$PY" -m ruff format --check --quiet .
.ci/format.sh --check
"${VENV:-.venv}/bin/typos"
# Type checkers use one core.
types=$(mktemp)
{
    "$PY" -m mypy && "$PY" tools/stubs.py --check &&
        "$PY" -m mypy.stubtest pygpu --allowlist tools/stubtest_allowlist.txt
} >"$types" 2>&1 &
checking=$!
trap 'kill $checking 2>/dev/null || true; rm -f "$types"' EXIT

# As system headers, Python's and NumPy's own warnings are not ours.
read -r -a include < <("$PY" -c 'import numpy, sysconfig
print("-isystem", sysconfig.get_path("include"), "-isystem", numpy.get_include())')
flags=(-std=c11 -O2 -fvisibility=hidden -Wall -Wextra -Wconversion -Wshadow -Werror -D_GNU_SOURCE)
for cc in gcc clang; do
    if ! command -v $cc >/dev/null; then
        echo "lint: no $cc here: not checked with it" >&2
        [ "${CI:-}" != true ] || exit 1
        continue
    fi
    way=(-c -o /dev/null) # gcc finds some of what it warns of while it optimizes, clang nothing
    [ $cc != clang ] || way=(-fsyntax-only)
    echo "$cc ${flags[*]} ${way[*]}"
    if [ "$(find src -name '*.c' | wc -l)" -lt 100 ]; then
        echo "lint: hardly any C files in src" >&2
        exit 1
    fi
    find src -name '*.c' -print0 | xargs -0 -n 1 -P "$(nproc)" \
        $cc "${flags[@]}" "${include[@]}" -Isrc -DPYGPU_VERSION='"0"' "${way[@]}"
done

status=0
wait $checking || status=$?
cat "$types"
exit $status
