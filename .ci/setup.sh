#!/usr/bin/env bash
# Makes the virtual environment that `make` works in, with pygpu built into it and an OpenCL device at hand.
#
#   .ci/setup.sh examples|test|dev    with what that extra of pyproject.toml needs; each holds the one before
#   .ci/setup.sh bench                with what the benchmarks compare with
#   .ci/setup.sh intel                dev, and Intel's CPU runtime as a second OpenCL driver
#   .ci/setup.sh debug                test, and the debug build of the environment's Python
#   .ci/setup.sh rusticl              test, and Mesa's rusticl in build/rusticl, where only who names it finds it
#
# PYTHON=...  the Python to use (3.11 or newer); otherwise the newest that is ready to build with
# VENV=...    where the environment goes; otherwise .venv
# What Debian or Ubuntu lacks is installed where apt may be used (root, or sudo without a password) and named
# otherwise. PYGPU_NO_APT=1 leaves the system as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
GOAL=${1:?"examples, test, dev, bench or intel"}
VENV=${VENV:-.venv}
PIP=("$VENV/bin/python" -m pip install --quiet --disable-pip-version-check)

say() { printf 'pygpu: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

# -- the system's packages

may_apt() {
    [ -z "${PYGPU_NO_APT:-}" ] && command -v apt-get >/dev/null || return 1
    if [ "$(id -u)" = 0 ]; then SUDO=(); else SUDO=(sudo -n); sudo -n true 2>/dev/null; fi
}

apt_install() { # PACKAGE...
    may_apt || return 1
    local apt=("${SUDO[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq)
    say "installing $* with apt"
    [ -n "${APT_UPDATED:-}" ] || "${apt[@]}" update >&2 </dev/null || say "apt-get update failed, going on"
    APT_UPDATED=1
    "${apt[@]}" install -y --no-install-recommends "$@" >/dev/null </dev/null
}

# -- a Python to build with

# Prints the minor version and the path of a Python, and the Debian packages without which it cannot build.
inspect() {
    "$1" - 2>/dev/null <<'END'
import os, sys, sysconfig
version = sys.version_info
if version < (3, 11) or version.releaselevel != "final" or sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.exit(1)
lacks = []
if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    lacks.append(f"python3.{version.minor}-dev")
try:
    import ensurepip, venv
except ImportError:
    lacks.append(f"python3.{version.minor}-venv")
print(version.minor, sys.executable, *lacks)
END
}

choose_python() { # sets CHOSEN and LACKS
    local candidates=(python3.{20..11} python3 /usr/bin/python3 /usr/local/bin/python3)
    local name found minor path lacks rank best=0
    [ -z "${PYTHON:-}" ] || candidates=("$PYTHON")
    for name in "${candidates[@]}"; do
        found=$(inspect "$name") || continue
        read -r minor path lacks <<<"$found"
        rank=$((minor + (${#lacks} == 0) * 100)) # a newer one that lacks something comes after all that lack nothing
        if [ $rank -gt $best ]; then best=$rank CHOSEN=$path LACKS=$lacks; fi
    done
    [ $best -gt 0 ] || die "${PYTHON:-no python3 here} is not a Python 3.11 or newer (and not a pre-release, nor" \
        "free-threaded). Install one, or say where it is: make $GOAL PYTHON=/path/to/python3"
}

# -- the environment

make_environment() {
    if [ -f "$VENV/made-with" ] && "$VENV/bin/python" -c '' 2>/dev/null; then
        [ -n "${PYTHON:-}" ] || return 0
        choose_python
        [ "$CHOSEN" != "$(cat "$VENV/made-with")" ] || return 0
        say "$VENV was made with another Python: making it again"
    fi
    choose_python
    # shellcheck disable=SC2086 # a list of words
    [ -z "$LACKS" ] || apt_install $LACKS || die "$CHOSEN cannot build pygpu yet. Run this, then the same again:
    sudo apt-get install $LACKS"
    say "making $VENV with $CHOSEN"
    "$CHOSEN" -m venv --clear "$VENV"
    "${PIP[@]}" "setuptools>=77" "numpy>=2.0"
    printf '%s\n' "$CHOSEN" >"$VENV/made-with"
}

see_to_a_compiler() { # the one that this Python was built with, or any
    local cc
    cc=${CC:-$("$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_config_var("CC") or "cc")')}
    if command -v "${cc%% *}" >/dev/null; then return; fi
    command -v cc >/dev/null || apt_install gcc libc6-dev || die "no C compiler here. Run this, then the same again:
    sudo apt-get install gcc libc6-dev"
    export CC=cc
}

install_pygpu() { # EXTRA
    local stamp stamps="examples test dev"
    "$VENV/bin/python" setup.py --quiet build_ext --inplace # compiles what has changed
    case $1 in test) stamps="test dev" ;; dev | bench | cpu) stamps=$1 ;; esac
    for stamp in $stamps; do
        stamp=$VENV/has-$stamp
        if [ "$stamp" -nt pyproject.toml ] && [ "$stamp" -nt setup.py ]; then return; fi
    done
    say "installing pygpu[$1] into $VENV"
    "${PIP[@]}" --no-build-isolation --editable ".[$1]"
    touch "$VENV/has-$1"
}

see_to_a_device() {
    local probe=("$VENV/bin/python" .ci/probe_opencl.py)
    if "${probe[@]}"; then return; fi
    say "no OpenCL device here yet"
    if apt_install pocl-opencl-icd ocl-icd-libopencl1 && "${probe[@]}"; then return; fi
    say "trying Intel's runtime for CPUs from PyPI instead (about 830 MB)"
    install_pygpu cpu || true
    "${probe[@]}" || die "still no OpenCL device. Install your graphics card's driver, or run this, then the same again:
    sudo apt-get install pocl-opencl-icd"
}

see_to_clang() { # for the second opinion that `make lint` asks for
    command -v clang >/dev/null || apt_install clang || say "no clang here: C is linted by gcc alone"
}

see_to_a_cxx() { # for CUDA kernels on the CPU
    command -v g++ >/dev/null || command -v clang++ >/dev/null || apt_install g++ ||
        "${PIP[@]}" ziglang || say "no C++ compiler: CUDA's simulator cannot compile kernels"
}

see_to_a_debug_python() { # it uses the packages of the environment, so it has to be of the same version
    local name
    name=$("$VENV/bin/python" -c 'import sys; print("python%d.%d-dbg" % sys.version_info[:2])')
    command -v "$name" >/dev/null || apt_install "$name" "${name%-dbg}-venv" || die "no $name here, the debug build of the" \
        "Python that $VENV was made with. Run this, then the same again:
    sudo apt-get install $name"
}

# Its package would list Clover and rusticl among every program's platforms, so it is unpacked, not installed.
see_to_rusticl() {
    local place=$PWD/build/rusticl needs lacks=() library
    if [ -f "$place/vendors/rusticl.icd" ]; then return; fi
    for needs in $(apt-cache depends mesa-opencl-icd | sed -n 's/^  Depends: \([^<]*\)$/\1/p'); do
        dpkg -s "$needs" >/dev/null 2>&1 || lacks+=("$needs")
    done
    [ ${#lacks[@]} = 0 ] || apt_install "${lacks[@]}" || die "no rusticl here: it needs ${lacks[*]}"
    mkdir -p "$place/vendors"
    (cd "$place" && apt-get -qq download mesa-opencl-icd && dpkg -x mesa-opencl-icd_*.deb .)
    library=$(find "$place" -name 'libRusticlOpenCL.so.1')
    [ -n "$library" ] || die "this system's mesa-opencl-icd has no rusticl"
    printf '%s\n' "$library" >"$place/vendors/rusticl.icd"
}

make_environment
see_to_a_compiler
case $GOAL in
    examples) install_pygpu examples; see_to_a_device ;;
    test | bench) see_to_a_cxx; install_pygpu "$GOAL"; see_to_a_device ;;
    dev) see_to_a_cxx; see_to_clang; install_pygpu dev; see_to_a_device ;;
    intel) install_pygpu dev; install_pygpu cpu ;;
    debug) see_to_a_cxx; install_pygpu test; see_to_a_device; see_to_a_debug_python ;;
    rusticl) see_to_a_cxx; install_pygpu test; see_to_rusticl ;;
    *) die "no such goal: $GOAL" ;;
esac
