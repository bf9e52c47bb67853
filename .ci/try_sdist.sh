#!/usr/bin/env bash
# Makes the source distribution in dist/, builds pygpu from it in a new environment, and runs some of its own tests there.
# PYTHON: the Python to use, python3 if not set.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"${PYTHON:-python3}" -m venv "$folder/venv"
pip=("$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check)
"${pip[@]}" build
rm -f dist/*.tar.gz
"$folder/venv/bin/python" -m build --sdist
tar -xzf dist/*.tar.gz -C "$folder"
source=$(echo "$folder"/pygpu-*/)

# Everything in git but what only git and GitHub need is in it.
if [ -e .git ]; then
    git ls-files | grep -vE '^(\.git|\.pre-commit)' | while read -r file; do
        [ -e "$source/$file" ] || { echo "missing in the source distribution: $file" >&2; exit 1; }
    done
fi

"${pip[@]}" "$source" pytest pytest-timeout pytest-xdist
cd "$source"
rm -rf pygpu # what is tested is what was installed
"$folder/venv/bin/python" -c 'import pygpu; print(pygpu.__version__, pygpu.__file__)'
PYGPU_CUDA=simulator "$folder/venv/bin/python" -P -m pytest -q -p no:cacheprovider tests/python/test_cltypes.py \
    tests/cuda/test_memory.py tests/cuda/test_stream.py
