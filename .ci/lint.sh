#!/usr/bin/env bash
# ruff, clang-format, typos, mypy, and each compiler's word on each C file. Expects the environment of `.ci/setup.sh dev`.
set -euo pipefail
cd "$(dirname "$0")/.."
PY=${VENV:-.venv}/bin/python

"$PY" -m ruff check .
"$PY" -m ruff format --check --quiet .
.ci/format.sh --check
"${VENV:-.venv}/bin/typos"
"$PY" -m mypy
if [ -f tools/stubs.py ]; then
    "$PY" tools/stubs.py --check
    "$PY" -m mypy.stubtest pygpu --allowlist tools/stubtest_allowlist.txt
fi

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
    for folder in opencl cuda array simulator; do
        [ -d "src/$folder" ] || continue
        search=("src/$folder")
        [ $folder = simulator ] || search+=(src/common) # the simulator knows nothing of Python
        if [ "$(find "${search[@]}" -name '*.c' | wc -l)" -lt 20 ]; then
            echo "lint: hardly any C files in ${search[*]}" >&2
            exit 1
        fi
        find "${search[@]}" -name '*.c' -print0 | xargs -0 -n 1 -P "$(nproc)" \
            $cc "${flags[@]}" "${include[@]}" -Isrc -DPYGPU_VERSION='"0"' "${way[@]}"
    done
done
