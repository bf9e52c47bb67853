"""NVRTC, NVIDIA's run-time compiler: finding it, and calling it with nvcc's options.

The library is searched where PYGPU_NVRTC_LIBRARY says; else by the system's linker, in pip's
``nvidia-cuda-nvrtc`` packages and in the toolkit's folders (CUDA_HOME, CUDA_PATH, CUDA_ROOT,
/usr/local/cuda), the driver's own major version first. With the CPU simulator, the simulator is
the compiler.

NVRTC provides less than nvcc. So standard headers that kernels include out of habit (``stdio.h``,
``math.h``, ``stdint.h``, ...) are provided from memory, and names such as ``uint`` are defined.
"""

from __future__ import annotations

import glob
import importlib
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pygpu.errors import _make_error

from .nvrtc_headers import HEADERS, prelude

VARIABLE = "PYGPU_NVRTC_LIBRARY"
COMPILATION = 6  # NVRTC_ERROR_COMPILATION

_lock = threading.RLock()
_tried: list[tuple[str, str]] = []


class NvrtcMissing(RuntimeError):
    """NVRTC cannot be found."""


class Compiled(NamedTuple):
    """The result of a compilation."""

    cubin: bytes | None
    ptx: bytes | None
    log: str
    lowered: dict[str, str]  # name expressions -> mangled names


def _cuda() -> Any:
    return importlib.import_module("pygpu._cuda")


# ---- the library --------------------------------------------------------------------------------


def load() -> None:
    """Open NVRTC. Raises NvrtcMissing with every file that was tried, and what to install."""
    cuda = _cuda()
    with _lock:
        if cuda._nvrtc_library() is not None:
            return
        _tried.clear()
        for path in _candidates():
            try:
                cuda._nvrtc_load(path)
            except OSError as error:
                _tried.append((path, str(error)))
            else:
                _tried.append((path, "loaded"))
                return
        raise NvrtcMissing(_advice())


def version() -> tuple[int, int]:
    """Return NVRTC's major and minor version."""
    load()
    found: tuple[int, int] = _cuda()._nvrtc_version()
    return found


def has_minimal() -> bool:
    """Whether NVRTC has ``-minimal``, which drops textures, the runtime's functions and launches
    from kernels: a small kernel then compiles in four fifths of the time."""
    return not is_simulated() and version() >= (12, 4)


def has_fast_compile() -> bool:
    """Whether NVRTC has ``--Ofast-compile``."""
    return not is_simulated() and version() >= (13, 0)


def is_simulated() -> bool:
    """Whether the compiler is the CPU simulator's."""
    path = _cuda()._nvrtc_library()
    return path is not None and _is_simulators(path)


@cache
def _is_simulators(path: str) -> bool:
    from pygpu._src.drivers.cuda_loader import simulator_path

    return Path(path).name == simulator_path().name


def _advice() -> str:
    lines = ["NVRTC, the compiler for CUDA C++, was not found. These were tried:"]
    lines += [f"  {path}: {result.removeprefix(path + ': ')}" for path, result in _tried]
    major = _driver_major() or 13
    package = f"nvidia-cuda-nvrtc-cu{major}" if major < 13 else "nvidia-cuda-nvrtc"
    if os.environ.get(VARIABLE):
        lines[0] = f"{VARIABLE} does not name NVRTC, the compiler for CUDA C++:"
        lines.append(f"Set it to the path of libnvrtc.so, or unset it and pip install {package}")
        return "\n".join(lines)
    lines.append(f"To install it: pip install {package}")
    lines.append(f"or set {VARIABLE} to the library's path.")
    return "\n".join(lines)


def _driver_major() -> int:
    """Return the major CUDA version that the driver supports; 0 if none is loaded."""
    cuda = _cuda()
    return cuda.get_driver_version() // 1000 if cuda._library() is not None else 0


def _candidates() -> Iterator[str]:
    """Yield the files to try, best first. Folders are searched only if the linker finds none."""
    named = os.environ.get(VARIABLE)
    if named:
        yield named
        return
    driver = _cuda()._library()
    from pygpu._src.drivers.cuda_loader import simulator_path

    if driver is not None and Path(driver).name == simulator_path().name:
        yield driver
        return
    major = _driver_major()
    for one in sorted((13, 12, 11), key=lambda one: (one != major, -one)):
        soname = "11.2" if one == 11 else str(one)
        if sys.platform == "win32":
            names = [f"nvrtc64_{one}0_0.dll", "nvrtc64_112_0.dll"][: 1 if one > 11 else 2]
        else:
            names = [f"libnvrtc.so.{soname}"]
        yield from names
        for folder in _library_folders():
            for name in names:
                yield from sorted(glob.glob(os.path.join(glob.escape(folder), name)))


def _toolkits() -> list[str]:
    """List the folders of CUDA toolkits, best first."""
    named = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")]
    usual = ["/usr/local/cuda", *sorted(glob.glob("/usr/local/cuda-*"), reverse=True), "/opt/cuda"]
    return [
        folder for folder in dict.fromkeys([*named, *usual]) if folder and os.path.isdir(folder)
    ]


def _pip_folders() -> list[str]:
    """List the folders of pip's nvidia packages: nvidia/cuda_nvrtc (to 12), nvidia/cu13 (from
    13)."""
    found = []
    for entry in dict.fromkeys(sys.path):
        if entry and os.path.isdir(os.path.join(entry, "nvidia")):
            found += sorted(glob.glob(os.path.join(glob.escape(entry), "nvidia", "*", "")))
    return found


def _library_folders() -> list[str]:
    parts = ("bin", "bin/x64") if sys.platform == "win32" else ("lib", "lib64")
    return [os.path.join(base, part) for base in [*_pip_folders(), *_toolkits()] for part in parts]


@cache
def include_folders() -> tuple[str, ...]:
    """List folders with the toolkit's headers, for programs that include curand_kernel.h and
    similar."""
    if is_simulated():
        return ()
    found = []
    for base in [*_pip_folders(), *_toolkits()]:
        include = os.path.join(base, "include")
        if os.path.isfile(os.path.join(include, "cuda_fp16.h")) or os.path.isfile(
            os.path.join(include, "curand_kernel.h")
        ):
            found.append(include)
            cccl = os.path.join(include, "cccl")
            if os.path.isdir(cccl):
                found.append(cccl)
    return tuple(dict.fromkeys(found))


# ---- options ------------------------------------------------------------------------------------

# nvcc's options that NVRTC has under the same name; those with "=" take a value after "=" or as
# the next word. Written without leading dashes; both - and -- are accepted.
_FLAGS = frozenset(
    "G device-debug lineinfo generate-line-info use_fast_math extra-device-vectorization dlto rdc "
    "restrict w disable-warnings no-display-error-number default-device dopt minimal "
    "fdevice-syntax-only device-as-default-execution-space".split()
)
_VALUES = frozenset(
    "arch gpu-architecture relocatable-device-code maxrregcount ftz prec-sqrt prec-div fmad std "
    "define-macro D undefine-macro U include-path I pre-include include isystem diag-error "
    "diag-suppress diag-warn ptxas-options Xptxas opt-info rdc dopt modify-stack-limit "
    "split-compile version-ident Ofast-compile Ofc".split()
)
# Without effect on device code that is compiled in memory.
_IGNORED = frozenset(
    "g O O0 O1 O2 O3 m64 c cubin ptx v verbose no-compress Wno-deprecated-gpu-targets "
    "Wno-deprecated-declarations Wreorder Wdefault-stream-launch Wmissing-launch-bounds "
    "Wext-lambda-captures-this".split()
)
_IGNORED_VALUES = frozenset("O optimize machine m ccbin compiler-bindir Xlinker e entries".split())
# Other options of nvcc, which require nvcc; without it, they are dropped.
_NVCC = frozenset(
    "dryrun keep save-temps allow-unsupported-compiler no-exceptions noeh debug profile "
    "pg expt-relaxed-constexpr extended-lambda expt-extended-lambda keep-device-functions "
    "source-in-ptx src-in-ptx resource-usage res-usage use-local-env no-device-link nodlink "
    "no-host-device-initializer-list no-host-device-move-forward nohdinitlist nohdmoveforward "
    "forward-unknown-to-host-compiler forward-unknown-to-host-linker forward-unknown-opts "
    "dont-use-profile noprof objdir-as-tempdir objtemp device-c dc device-w dw lto gen-opt-lto "
    "dlink-time-opt extensible-whole-program ewp display-error-number err-no no-err-no fatbin "
    "no-source-include compile".split()
)
_NVCC_VALUES = frozenset(
    "o output-file odir output-directory x l library L library-path cudart cudadevrt ldir "
    "libdevice-directory target-dir target-directory Werror Xarchive archive-options "
    "linker-options Xnvlink nvlink-options gpu-code code generate-code gencode default-stream "
    "keep-dir t threads "
    "split-compile-extended fdevice-time-trace time ftemplate-depth ftemplate-backtrace-limit "
    "brief-diagnostics brief-diag jump-table-density jtd device-stack-protector frandom-seed "
    "compress-mode sanitize builtin-move-forward builtin-initializer-list".split()
)
# For nvcc's host compiler. They do not affect device code, unless they define a macro.
_HOST = frozenset(["Xcompiler", "compiler-options"])
_HOST_IGNORED = ("-W", "-f", "-g", "-m", "-O", "-w", "-pthread", "-std=", "/W", "/O")
_MACROS = ("-D", "-U", "-I")


def translate(options: Sequence[str], must: bool = False) -> list[str] | None:
    """Translate nvcc's options to NVRTC's, one word each; None if only nvcc can handle them.

    must: nvcc is not available. Then options that only nvcc has are dropped, and unknown ones are
    passed to NVRTC, which rejects them. Raises TypeError if one is not a str.
    """
    result: list[str] = []
    words = iter(options)
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"options must be a sequence of str, not of {type(word).__name__}")
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("-"):  # another source, or the value of an unknown option
            if not must:
                return None
            result.append(word)
        elif word[:2] in _MACROS and len(word) > 2:
            result.append(word)
        elif name in _IGNORED and not equals:
            continue
        elif name in _FLAGS and not equals:
            result.append(word)
        elif name in _VALUES or name in _IGNORED_VALUES:
            if not equals:
                value = next(words, "")
            if name in _VALUES:
                result += _with_value(word.partition("=")[0], name, value)
        elif name in _HOST:
            if not equals:
                value = next(words, "")
            for one in value.split(","):
                if must and one[:2] in _MACROS:  # nvcc preprocesses with the host's compiler
                    result.append(one)
                elif not must and not one.startswith(_HOST_IGNORED):
                    return None
        elif not must:
            return None
        elif name in _NVCC and not equals:
            continue
        elif name in _NVCC_VALUES:
            if not equals:
                next(words, "")
        elif word[:2] not in ("-l", "-L") or word.startswith("--"):
            result.append(word)
    return result


def _with_value(word: str, name: str, value: str) -> list[str]:
    if name in ("D", "I", "U"):
        return [f"-{name}{value}"]
    if name in ("include", "pre-include"):
        return [f"--pre-include={value}"]
    if name == "isystem":
        return [f"-I{value}"]
    if name in ("Xptxas", "ptxas-options"):  # nvcc accepts several at once
        return [f"--ptxas-options={one}" for one in value.split(",") if one]
    if name == "arch":
        return [f"--gpu-architecture={value}"]
    if name in ("rdc", "relocatable-device-code"):
        return [f"--relocatable-device-code={value}"]
    return [f"{word}={value}"]


# ---- compiling ----------------------------------------------------------------------------------


def architecture(major: int, minor: int) -> str:
    """Return the architecture to compile for, so that a device of this compute capability can run
    the result.

    If NVRTC is older than the device, it is the newest that NVRTC knows, as PTX, which the driver
    compiles.
    """
    load()
    architectures = _cuda()._nvrtc_architectures()
    number = 10 * major + minor
    if not architectures or number in architectures:
        return f"sm_{number}"
    older = [one for one in architectures if one < number]
    if not older:
        raise _make_error(
            "RuntimeError",
            "",
            "nvrtcCompileProgram",
            209,
            "no kernel image is available for execution on the device",
            f"the device has compute capability {major}.{minor}, and this NVRTC knows only "
            f"sm_{min(architectures)} and newer: install an older one",
            "",
        )
    same_major = [one for one in older if one // 10 == major]
    return f"sm_{max(same_major)}" if same_major else f"compute_{max(older)}"


def compile_source(
    source: str, name: str, options: Iterable[str], expressions: Sequence[str] = ()
) -> tuple[int, Compiled]:
    """Compile CUDA C++. The status is 0, or COMPILATION if the source is wrong.

    options are NVRTC's own. Raises RuntimeError if NVRTC itself fails.
    """
    load()
    words = [*options]
    simulated = is_simulated()
    headers = {} if simulated else dict(HEADERS)
    headers["pygpu_prelude.h"] = prelude(source, simulated)
    words.append("--pre-include=pygpu_prelude.h")
    status, text, log, cubin, ptx, lowered = _cuda()._nvrtc_compile(
        source,
        name,
        tuple(words),
        tuple(headers),
        tuple(headers.values()),
        tuple(expressions),
    )
    log = log.strip("\n\0")
    if status not in (0, COMPILATION) and not log:
        log = text
    return status, Compiled(cubin, ptx, log, lowered)
