#!/usr/bin/env bash
# Installs a wheel into a new environment and uses it where there is no compiler: .ci/try_wheel.sh WHEEL
set -euo pipefail
PY=$(realpath -s "${VENV:-.venv}/bin/python")
wheel=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

"$PY" -m venv env
mkdir bin
ln -s "$(command -v ld)" "$(command -v rm)" bin/ # drivers for CPUs link their kernels; the trap removes
export PATH=$scratch/env/bin:$scratch/bin
for compiler in cc gcc clang c99 tcc; do
    if command -v $compiler; then echo "try_wheel: $compiler is still there" >&2; exit 1; fi
done
python -m pip install --quiet --disable-pip-version-check --only-binary :all: "$wheel"
python -m pygpu
echo "try_wheel: ${wheel##*/} works without a compiler"
