"""Compiles one CUDA C++ source to an image, by NVRTC or nvcc, with the cache on disk.

`pygpu.cuda.compiler` decides which compiler to use; these are the steps around both.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pygpu._cuda import Context
from pygpu._src.drivers.cuda_loader import simulator_path
from pygpu._src.runtime import disk_cache
from pygpu._src.util import child_process, log
from pygpu._src.util.user_frame import user_stacklevel
from pygpu.errors import CompileError

from . import nvrtc
from .advice import advised
from .kernel_sources import Key, Lookup

NAME = "kernel.cu"
_CACHE_FORMAT = "cuda 2"
# The simulator's messages on a machine without a C++ compiler (src/simulator/compiler/spawn.c).
_NO_COMPILER = re.compile(r"pygpu's simulator needs a C\+\+ compiler|PYGPU_SIM_CXX names a C\+\+")


@cache
def get_nvcc_version(nvcc: str) -> str:
    """Return the output of `nvcc --version`."""
    try:
        done = child_process.run([nvcc, "--version"], text=True)
        said: str = done.stdout
        if done.returncode == 0 and said:
            return said
    except OSError:
        pass
    warnings.warn("NVCC version could not be determined.", stacklevel=2)
    return "nvcc unknown version"


def _device_architecture() -> tuple[int, int]:
    return Context.get_device().compute_capability()


class Compilation:
    """The compilation of one source: the same steps around both compilers."""

    def __init__(
        self,
        call: str,
        source: str,
        folders: Sequence[str],
        keep: bool,
        target: str,
        expressions: tuple[str, ...],
        lookup: Lookup,
    ) -> None:
        self.call, self.source, self.folders, self.keep = call, source, folders, keep
        self.target, self.expressions, self.lookup = target, expressions, lookup
        # NVRTC's options, if the device determines the architecture.
        self.words: list[str] | None = None

    def with_nvrtc(self, words: list[str], arch: str | None, code: str | None) -> nvrtc.Compiled:
        given = any(word.startswith("--gpu-architecture=") for word in words)
        if not given and not arch and not code and self.call != "compile":
            self.words = words
        words = [*words, *(f"-I{folder}" for folder in self.folders)]
        target = None if given else _real_architecture(arch, code)
        # Load the driver first: the simulator brings its own NVRTC.
        device = _device_architecture() if not given and target is None else None
        nvrtc.load()
        if device is not None:
            target = nvrtc.architecture(*device)
        if target:
            words.append(f"--gpu-architecture={target}")
        toolkit = nvrtc.include_folders()
        words += [f"-I{folder}" for folder in toolkit]
        compiler = ("nvrtc", nvrtc.version(), _simulator_version())
        return self._cached(words, compiler, toolkit, self._run_nvrtc)

    def _run_nvrtc(self, words: list[str]) -> nvrtc.Compiled:
        status, result = nvrtc.compile_source(self.source, NAME, words, self.expressions)
        if self.keep:
            files = {
                NAME: self.source.encode(),
                "kernel.ptx": result.ptx,
                "kernel.cubin": result.cubin,
            }
            _keep(files)
        if status != 0:
            command = ["nvrtc", *words, NAME]
            log = advised(result.log, NAME)
            headline = f"nvrtc compilation of {NAME} failed"
            if _NO_COMPILER.match(result.log):
                headline = f"{NAME} cannot be compiled for the simulator without a C++ compiler"
            raise CompileError(headline, command, "", log)
        return result

    def with_nvcc(
        self, nvcc: str, words: list[str], arch: str | None, code: str | None
    ) -> nvrtc.Compiled:
        if arch is None and not any(word.startswith(("-arch", "--gpu-arch")) for word in words):
            arch = "sm_{}{}".format(*_device_architecture())
        words = [*words, *(["-arch", arch] if arch else []), *(["-code", code] if code else [])]
        words += [f"-I{folder}" for folder in self.folders]
        compiler = ("nvcc", get_nvcc_version(nvcc), self.target)
        return self._cached(words, compiler, (), lambda words: self._run_nvcc(nvcc, words))

    def _run_nvcc(self, nvcc: str, words: list[str]) -> nvrtc.Compiled:
        folder = tempfile.mkdtemp(prefix="pygpu-")
        try:
            path = os.path.join(folder, NAME)
            Path(path).write_text(self.source, "utf-8")
            if self.keep:
                print(f"*** compiler output in {folder}")
                words = [*words, "--keep"]
            command = [nvcc, f"--{self.target}", *words, NAME]
            done = run(command, folder)
            made = Path(folder, f"kernel.{self.target}")
            if done.returncode != 0 or not made.is_file():
                log = advised(done.stderr, NAME)
                raise CompileError(f"nvcc compilation of {path} failed", command, done.stdout, log)
            data = made.read_bytes()
        finally:
            if not self.keep:
                shutil.rmtree(folder, ignore_errors=True)
        log = (done.stdout + done.stderr).strip()
        is_ptx = self.target == "ptx"
        return nvrtc.Compiled(None if is_ptx else data, data if is_ptx else None, log, {})

    def _cached(
        self,
        words: list[str],
        compiler: Any,
        opaque: Sequence[str],
        run: Callable[[list[str]], nvrtc.Compiled],
    ) -> nvrtc.Compiled:
        key = None if self.keep else self._key(words, compiler, opaque)

        def made() -> nvrtc.Compiled:
            with log.compiling(self.source, lambda: _architecture_of(words)):
                result = run(words)
            if result.log:
                said = "The CUDA compiler succeeded, but said the following:\n" + result.log
                warnings.warn(said, stacklevel=user_stacklevel())
            store = self.lookup.store
            if key is not None and store is not None and self.words is not None:
                from . import recipes

                if self.target == "cubin":
                    recipes.record_module(
                        store, self.source, self.words, self.folders, self.expressions
                    )
            return result

        return self.lookup.or_compile(key, made)

    def _key(self, words: list[str], compiler: Any, opaque: Sequence[str]) -> Key | None:
        """Return the key of the result; None if there is no cache, or if the result's dependencies
        cannot be determined."""
        if self.lookup.store is None:
            return None
        import hashlib

        key = hashlib.sha256()
        named = [word[2:] for word in words if word.startswith("-I") and len(word) > 2]
        scan = disk_cache._Scan([*self.folders, *named, *opaque], opaque)
        scan.add_options(words)
        source = self.source.encode("utf-8", "surrogateescape")
        scan.scan(source)
        if not scan.complete:
            return None
        key.update(repr((_CACHE_FORMAT, words, compiler, self.expressions)).encode())
        key.update(repr((len(source), scan.found)).encode("utf-8", "surrogateescape"))
        key.update(source)
        return Key(key.hexdigest(), lasting=not scan.found)


def _architecture_of(words: Sequence[str]) -> str:
    """Name the target for messages: sm_90, or the simulator."""
    if nvrtc.is_simulated():
        return "the simulator"
    found = [word.partition("=")[2] for word in words if word.startswith("--gpu-architecture=")]
    return found[-1] if found else "CUDA"


def _simulator_version() -> tuple[object, ...]:
    """Identify the simulator and its settings; empty if NVRTC compiles."""
    return simulator_identity() if nvrtc.is_simulated() else ()


def simulator_identity() -> tuple[object, ...]:
    settings = sorted(item for item in os.environ.items() if item[0].startswith("PYGPU_SIM_"))
    file = simulator_path().stat()  # another build may make images that this one cannot load
    return (file.st_size, file.st_mtime_ns, *settings)


def _real_architecture(arch: str | None, code: str | None) -> str | None:
    """Return the architecture to compile for: None for the device's own, "" for the compiler's
    choice."""
    chosen = code if code and code.startswith("sm_") else arch
    return chosen


def _keep(files: dict[str, bytes | None]) -> None:
    folder = tempfile.mkdtemp(prefix="pygpu-")
    print(f"*** compiler output in {folder}")
    for name, data in files.items():
        if data:
            Path(folder, name).write_bytes(data)


def run(command: list[str], folder: str) -> subprocess.CompletedProcess[str]:
    try:
        return child_process.run(command, cwd=folder, text=True, errors="replace")
    except OSError as error:
        raise CompileError(
            f"{command[0]} could not be started ({error}). Leave nvcc= and nvcc's own options out "
            "to compile with NVRTC, or install the CUDA toolkit",
            command,
        ) from None
