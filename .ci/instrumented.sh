# shellcheck shell=bash
# Sourced, from the repository's root: instrumented NAME FLAGS... builds pygpu with these compiler flags in build/NAME
# and makes it the one that PY, and what PY starts, imports.

PY=$(realpath -s "${VENV:-.venv}/bin/python")

instrumented() {
    local target=$PWD/build/$1
    mkdir -p "$target"
    cp -r pygpu pygpu_pytest.py "$target"
    rm -f "$target"/pygpu/*.so
    PYGPU_CFLAGS="${*:2}" "$PY" setup.py --quiet build_ext --build-lib "$target"
    # Safe path: a test's subprocess would find the build in the current directory first.
    export PYTHONPATH=$target PYTHONSAFEPATH=1 PYTHONMALLOC=malloc
}
