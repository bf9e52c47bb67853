#!/usr/bin/env bash
# Runs the tests, less the slow ones, on a build for gcov and under coverage.py, and reports which lines they reach:
# .ci/coverage.sh [pytest's arguments]. Expects the environment of `.ci/setup.sh dev`, and gcc.
# Reports, with the lines that were missed: build/coverage-report/c.txt and python.txt.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/instrumented.sh
export CC=gcc
report=$PWD/build/coverage-report

instrumented coverage --coverage -O0
export PYTHONPATH=$PYTHONPATH:$PWD/.ci
unset PYTHONMALLOC # for sanitizers
rm -rf "$report"
mkdir -p "$report"
find build -name '*.gcda' -delete
export COVERAGE_FILE=$report/data
status=0
# That test finds the symbols that gcov adds.
"$PY" -P -m coverage run -m pytest -p patient_exit --numprocesses "${JOBS:-auto}" --maxprocesses 8 --dist loadfile \
    --no-loadscope-reorder --max-worker-restart=0 -m "not slow" \
    --deselect tests/simulator/test_symbols.py::test_nothing_else_is_visible "$@" || status=$?

"$PY" -m coverage combine --quiet
"$PY" -m coverage report --show-missing >"$report/python.txt"
# Fibers switch stacks and signals interrupt counting, so that some counts of branches are negative.
"$PY" -m gcovr --root . --filter src/ --gcov-ignore-parse-errors=all --txt "$report/c.txt" build 2>/dev/null
tail -n 1 "$report/python.txt"
grep TOTAL "$report/c.txt"
exit $status
