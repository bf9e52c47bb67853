#!/usr/bin/env bash
# Runs tests under valgrind and fails on what it finds in pygpu: .ci/valgrind.sh [pytest's arguments]
# Expects the environment of `.ci/setup.sh test`. Takes some thirty times as long as the tests alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/instrumented.sh
# All tests take hours; these are where memory changes hands. The simulator compiles for this processor, not for valgrind's.
[ $# -gt 0 ] || set -- tests/opencl/test_{buffer,event,kernel_launch,map,memory,program,queue,user_event,wait}.py tests/array/test_first.py \
    -m "not slow" -k "not cuda"
log=build/valgrind.log

instrumented valgrind -O1 -g -fno-omit-frame-pointer
suppressions=()
[ ! -f /usr/lib/valgrind/python3.supp ] || suppressions=(--suppressions=/usr/lib/valgrind/python3.supp)
status=0
valgrind --quiet --num-callers=40 --fullpath-after= --log-file=$log "${suppressions[@]}" \
    "$PY" -m pytest -o timeout=0 "$@" || status=$?

# An error is ours if one of our functions is on the stack with no function of a driver above it, nor the interpreter's
# garbage collection, which walks over everybody's objects: the drivers' own errors, the interpreter's and the dynamic
# linker's are not ours to mend. The simulator switches stacks and tries addresses, which valgrind cannot follow; it has
# sanitized builds of its own. A blank line ends a report.
awk -v RS='==[0-9]+== \n' -v ours="$PWD/src/" '
    (at = index($0, ours)) && substr($0, at + length(ours), 10) != "simulator/" && substr($0, 1, at) !~ /lib(pocl|LLVM|clang|OpenCL|intelocl|ocl)|gc_collect_main/ {
        below = substr($0, at)
        print substr($0, 1, at + index(below, "\n") - 1)
        found = 1
    }
    END { exit found }' $log || { echo "valgrind: errors of ours above; everything else in $log"; exit 1; }
echo "valgrind: no error of ours; everything else in $log"
exit $status
