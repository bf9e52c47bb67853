#!/usr/bin/env bash
# Runs the tests on a build with AddressSanitizer and UndefinedBehaviorSanitizer: .ci/sanitize.sh [pytest's arguments]
# Expects the environment of `.ci/setup.sh test`.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/instrumented.sh
export CC=${CC:-gcc}

# -fno-wrapv: many Pythons bring -fwrapv along, with which signed overflow is not looked for.
instrumented asan -O1 -g1 -fno-omit-frame-pointer -fno-wrapv \
    -fsanitize=address,undefined -fno-sanitize-recover=undefined
# The interpreter is not sanitized, so the runtime has to be there before it starts; libstdc++ as well, or the first
# C++ exception of a driver ends the process.
preload=$($CC -print-file-name=libasan.so):$($CC -print-file-name=libstdc++.so.6)
# AddressSanitizer's reports go to files, so that none gets lost with the output of a test's subprocess. UBSan writes to
# standard error whatever it is told, which pytest therefore must not redirect.
reports=$PWD/build/asan-report
rm -f "$reports".*
export UBSAN_OPTIONS=print_stacktrace=1
export ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0:allocator_may_return_null=1:log_path=$reports
# The compilers that tests start are not looked at, and take half their time without the runtime.
mkdir -p build/unsanitized
for compiler in g++ clang++ c++ gcc clang cc; do
    if path=$(command -v "$compiler"); then
        printf '#!/bin/sh\nunset LD_PRELOAD\nexec %s "$@"\n' "$path" >"build/unsanitized/$compiler"
        chmod +x "build/unsanitized/$compiler"
    fi
done
status=0
PATH=$PWD/build/unsanitized:$PATH LD_PRELOAD=$preload "$PY" -m pytest --capture=sys --numprocesses "${JOBS:-auto}" --maxprocesses 8 --dist loadfile --max-worker-restart=0 "$@" || status=$?
for report in "$reports".*; do
    if [ -f "$report" ] && grep -q 'ERROR: ' "$report"; then
        cat "$report"
        status=1
    fi
done
exit $status
