#!/usr/bin/env bash
# What pyright knows of the public interface: `pyright --verifytypes` must find LEAST percent of the public names known, and
# tests/typing/right must pass. mypy reads the same in .ci/lint.sh and tests/typing. pyright comes from PyPI and brings its own
# node along if there is none (100 MB), so this is a part of `make ci-full` alone. Expects the environment of `.ci/setup.sh dev`.
set -euo pipefail
cd "$(dirname "$0")/.."
LEAST=99
root=$PWD
PY=$(realpath -s "${VENV:-.venv}/bin/python")

"$PY" -m pyright --version >/dev/null 2>&1 || "$PY" -m pip install --quiet --disable-pip-version-check pyright
outside=$(mktemp -d)
trap 'rm -rf "$outside"' EXIT
cd "$outside" # in the checkout pyright would read the tests' imports too
export PYTHONPATH="$root"

status=0
"$PY" -m pyright --pythonpath "$PY" --verifytypes pygpu --ignoreexternal --outputjson >found.json || status=$?
if [ $status -gt 1 ]; then # 1: not everything is known
    cat found.json
    exit $status
fi
"$PY" - "$LEAST" <<'END'
import json
import sys

found = json.load(open("found.json"))["typeCompleteness"]
score, least = 100 * found["completenessScore"], float(sys.argv[1])
print(f"pyright knows the types of {score:.2f} % of {sum(found['exportedSymbolCounts'].values())} public names")
if score < least:
    for symbol in found["symbols"]:
        if symbol["isExported"] and not symbol["isTypeKnown"]:
            print(" ", symbol["name"])
    sys.exit(f"types: {least} % are wanted")
END
"$PY" -m pyright --pythonpath "$PY" "$root/tests/typing/right"
