#!/usr/bin/env bash
# ruff, clang-format, typos, mypy, and each compiler's word on each C file. Expects the environment of `.ci/setup.sh dev`.
set -euo pipefail
cd "$(dirname "$0")/.."
PY=${VENV:-.venv}/bin/python

"$PY" -m ruff check .
"$PY" -m ruff format --check --quiet .
.ci/format.sh --check
"${VENV:-.venv}/bin/typos"
"${VENV:-.venv}/bin/check-jsonschema" --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
"${VENV:-.venv}/bin/check-jsonschema" --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
# Type checkers use one core each.
types=$(mktemp -d)
{ "$PY" -m mypy && "$PY" tools/stubs.py --check; } >"$types/mypy" 2>&1 &
checking=$!
"$PY" -m mypy.stubtest pygpu --allowlist tools/stubtest_allowlist.txt >"$types/stubtest" 2>&1 &
testing=$!
trap 'kill $checking $testing 2>/dev/null || true; rm -rf "$types"' EXIT

# As system headers, Python's and NumPy's own warnings are not ours.
read -r -a include < <("$PY" -c 'import numpy, sysconfig
print("-isystem", sysconfig.get_path("include"), "-isystem", numpy.get_include())')
flags=(-std=c11 -O2 -fvisibility=hidden -Wall -Wextra -Wconversion -Wshadow -Werror -D_GNU_SOURCE)
# Whether the build, in which a warning is an error, is gcc's. (It optimizes as below.)
built_by_gcc() {
    local cc=${CC:-$("$PY" -c 'import sysconfig; print(sysconfig.get_config_var("CC"))')}
    [ -n "${PYGPU_WERROR:-}" ] && ${cc%% *} --version 2>/dev/null | grep -q 'Free Software Foundation'
}
for cc in gcc clang; do
    if [ $cc = gcc ] && built_by_gcc; then
        echo "gcc has compiled every C file for the build, with -Werror"
        continue
    fi
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
for check in $checking $testing; do
    wait "$check" || status=$?
done
cat "$types"/*
exit $status
