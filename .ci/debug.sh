#!/usr/bin/env bash
# Runs tests on a debug build of Python, which ends at the first reference too few: .ci/debug.sh [pytest's arguments]
# Expects the environment of `.ci/setup.sh debug`, whose packages the debug build uses.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/instrumented.sh
# All tests take hours; these are where C keeps, compares and hands on objects.
[ $# -gt 0 ] || set -- -m "not slow" tests/leaks tests/opencl tests/cuda tests/observe tests/jit/test_{bounds,captured_arrays,changes}.py \
    tests/jit/test_{kernel,numba_arguments,numba_dispatcher,pickling,raise,records,vectorize,written_inputs,wrong_arguments}.py \
    tests/array/test_{calls,chains,chains_carried,chains_opencl,dlpack,events,fastpath,foreign_memory,fusion,interfaces}.py \
    tests/array/test_{layout,memory,misuse,subclasses}.py

packages=$("$PY" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$("$PY" -c 'import sys; print("python%d.%d-dbg" % sys.version_info[:2])')" -m venv --clear --without-pip build/debug-python
PY=$PWD/build/debug-python/bin/python
echo "$packages" >"$("$PY" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/packages.pth"
instrumented debug -O1 -g
export PYTHONMALLOC=debug
"$PY" -m pytest --numprocesses "${JOBS:-auto}" --maxprocesses 8 --dist loadfile --max-worker-restart=0 "$@"
