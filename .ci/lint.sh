#!/usr/bin/env bash
# ruff, mypy, and each compiler's word on each C file. Expects the environment of `.ci/setup.sh dev`.
set -euo pipefail
cd "$(dirname "$0")/.."
PY=${VENV:-.venv}/bin/python

"$PY" -m ruff check .
.ci/format.sh --check
"$PY" -m mypy
if [ -f tools/stubs.py ]; then
    "$PY" tools/stubs.py --check
    "$PY" tools/reference.py --check
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
        files=("src/$folder"/*.c)
        folders=()
        if [ $folder != simulator ]; then # which knows nothing of Python
            files+=(src/common/*.c)
            folders=(-Isrc/common "-Isrc/$folder" -Isrc)
        fi
        printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" \
            $cc "${flags[@]}" "${include[@]}" "${folders[@]}" -DPYGPU_VERSION='"0"' "${way[@]}"
    done
done
