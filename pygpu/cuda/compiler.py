"""CUDA C++ to modules: SourceModule and what is under it.

NVRTC compiles, in this process and without a toolkit. nvcc does where it is asked for (`nvcc=`
names a path), where an option needs it, or where NVRTC cannot open an include and an nvcc is
installed.

What was compiled is kept on disk, keyed by source, options, the headers' contents, the compiler's
version and the architecture, so that nothing is ever out of date; see docs/cuda_cache.md.

Environment: PYCUDA_DEFAULT_NVCC_FLAGS, PYCUDA_CACHE_DIR, PYCUDA_DISABLE_CACHE as in PyCUDA,
PYGPU_CACHE_DIR, PYGPU_NO_CACHE, PYGPU_CACHE_SIZE as for OpenCL, PYGPU_NVRTC_LIBRARY.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pygpu import cache as disk
from pygpu.errors import Error

from . import nvrtc
from .advice import advice, source_text
from .driver import Context, Module, init, module_from_buffer
from .errors import CompileError
from .loader import simulator_path

__all__ = [
    "DEFAULT_NVCC_FLAGS",
    "CudaModule",
    "DynamicModule",
    "DynamicSourceModule",
    "SourceModule",
    "compile",
    "compile_plain",
    "get_nvcc_version",
    "preprocess_source",
]

DEFAULT_NVCC_FLAGS: list[str] = os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", "").split()

_NAME = "kernel.cu"
_CACHE_FORMAT = "cuda 1"
_TARGETS = ("cubin", "ptx", "fatbin")


# ---- the public functions -----------------------------------------------------------------------


def compile(
    source: str,
    nvcc: str = "nvcc",
    options: Sequence[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | None = None,
    code: str | None = None,
    cache_dir: str | os.PathLike[str] | bool | None = None,
    include_dirs: Sequence[str] | None = None,
    target: str = "cubin",
) -> bytes:
    """The cubin (or PTX, or with nvcc a fatbin) of a source, as bytes.

    options are nvcc's; arch is sm_XX or compute_XX, that of the current device if left out (needs
    no device then if it is given). Raises CompileError with the compiler's messages.
    """
    result = _compile(
        "compile",
        source,
        nvcc,
        options,
        keep,
        no_extern_c,
        arch,
        code,
        cache_dir,
        include_dirs,
        target,
    )
    wanted = result.ptx if target == "ptx" else result.cubin
    return wanted or result.ptx or b""


def compile_plain(
    source: str,
    options: Sequence[str],
    keep: bool,
    nvcc: str,
    cache_dir: str | os.PathLike[str] | bool | None,
    target: str = "cubin",
) -> bytes:
    """compile() of a source as it stands, without architecture or include folders of our own."""
    return compile(source, nvcc, options, keep, True, "", None, cache_dir, None, target)


def compile_generated(source: str, options: Sequence[str]) -> nvrtc.Compiled:
    """What SourceModule compiles, for a caller who keeps it himself."""
    return _compile(
        "SourceModule", source, "nvcc", options, False, True, None, None, False, None, "cubin"
    )


def preprocess_source(source: str, options: Sequence[str], nvcc: str) -> str:
    """The source with its macros and includes expanded, by nvcc. Raises CompileError."""
    with tempfile.TemporaryDirectory(prefix="pygpu-") as folder:
        path = os.path.join(folder, _NAME)
        Path(path).write_text(source, "utf-8")
        command = [nvcc, "--preprocess", *options, path]
        done = _run(command, folder)
        if done.returncode != 0:
            raise CompileError(f"nvcc preprocessing of {path} failed", command, stderr=done.stderr)
        return done.stdout


@cache
def get_nvcc_version(nvcc: str) -> str:
    """What `nvcc --version` prints."""
    try:
        done = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout:
            return done.stdout
    except OSError:
        pass
    warnings.warn("NVCC version could not be determined.", stacklevel=2)
    return "nvcc unknown version"


# ---- modules ------------------------------------------------------------------------------------


class CudaModule:
    """Base of what holds a Module made from source."""

    module: Module

    def _bind_module(self) -> None:
        self.get_global = self.module.get_global
        self.get_texref = self.module.get_texref
        self.get_surfref = self.module.get_surfref

    def get_function(self, name: str) -> Any:
        """The kernel of this name. Raises LogicError if there is none."""
        return self.module.get_function(name)


class SourceModule(CudaModule):
    """A module compiled from CUDA C++.

    The source is put into extern "C" unless no_extern_c, so that kernels keep their names; other
    parameters are those of compile(). name_expressions (no_extern_c is implied) are kernels such as
    "scale<float>", templates included, that get_function() then finds by the same text.
    """

    def __init__(
        self,
        source: str,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | os.PathLike[str] | bool | None = None,
        include_dirs: Sequence[str] | None = None,
        *,
        name_expressions: Sequence[str] = (),
    ) -> None:
        init()  # what compiles has to suit what will load it
        source = source_text("SourceModule", source)
        result = _compile(
            "SourceModule",
            source,
            nvcc,
            options,
            keep,
            no_extern_c or bool(name_expressions),
            arch,
            code,
            cache_dir,
            include_dirs,
            "cubin",
            tuple(name_expressions),
        )
        self.module = _load(result, source)
        self._lowered = result.lowered
        self._bind_module()

    def get_function(self, name: str) -> Any:
        return self.module.get_function(self._lowered.get(name, name))


def _load(result: nvrtc.Compiled, source: str) -> Module:
    """The module of a compiled source; its PTX where the cubin does not fit the device."""
    try:
        module = module_from_buffer(result.cubin or result.ptx or b"")
    except Error:
        if not result.cubin or not result.ptx:
            raise
        module = module_from_buffer(result.ptx)
    module._set_source(source, result.ptx)
    return module


class DynamicModule(CudaModule):
    """A module linked from several sources, objects and libraries; see Linker.

    options of the constructor hold for all sources; link_options are pairs of jit_option and value.
    """

    def __init__(
        self,
        nvcc: str = "nvcc",
        link_options: Sequence[tuple[int, int]] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | os.PathLike[str] | bool | None = None,
        include_dirs: Sequence[str] | None = None,
        message_handler: Any = None,
        log_verbose: bool = False,
        cuda_libdir: str | None = None,
    ) -> None:
        from .driver import Linker

        init()
        self.nvcc, self.keep, self.no_extern_c = nvcc, keep, no_extern_c
        self.arch, self.code, self.cache_dir = arch, code, cache_dir
        self.cuda_libdir = cuda_libdir
        self.include_dirs = include_dirs
        self.libdir: str | None = None
        self.linker = Linker(message_handler, link_options, log_verbose)

    def add_source(
        self, source: str, nvcc_options: Sequence[str] | None = None, name: str = "kernel.ptx"
    ) -> DynamicModule:
        """Compile a source to relocatable code and add it."""
        from .driver import jit_input_type

        options = [*(DEFAULT_NVCC_FLAGS if nvcc_options is None else nvcc_options)]
        if not any("rdc" in o or "relocatable-device-code" in o for o in options):
            options.append("-rdc=true")
        result = _compile(
            type(self).__name__,
            source,
            self.nvcc,
            options,
            self.keep,
            self.no_extern_c,
            self.arch,
            self.code,
            self.cache_dir,
            self.include_dirs,
            "ptx",
        )
        self.linker.add_data(result.ptx or b"", jit_input_type.PTX, name)
        return self

    def add_data(self, data: bytes, input_type: int, name: str = "unknown") -> DynamicModule:
        """Add a cubin, PTX, fatbin, object or library, of jit_input_type."""
        self.linker.add_data(data, input_type, name)
        return self

    def add_file(self, filename: str, input_type: int) -> DynamicModule:
        """Add a file of jit_input_type."""
        self.linker.add_file(filename, input_type)
        return self

    def add_stdlib(self, libname: str) -> DynamicModule:
        """Add a library of the toolkit, such as "cudadevrt". Raises FileNotFoundError."""
        from .driver import jit_input_type

        if libname == "cudadevrt" and nvrtc._cuda()._is_simulator():
            return self  # its code is for GPUs, and kernels that would need it do not compile there
        file = f"{libname}.lib" if sys.platform == "win32" else f"lib{libname}.a"
        tried = list(self._library_folders())
        for folder in tried:
            path = os.path.join(folder, file)
            if os.path.isfile(path):
                self.libdir = folder
                self.linker.add_file(path, jit_input_type.LIBRARY)
                return self
        raise FileNotFoundError(
            f"{file} was found in none of {', '.join(tried) or 'no folder'}: give cuda_libdir, "
            "or set CUDA_ROOT to the toolkit's folder"
        )

    def _library_folders(self) -> Sequence[str]:
        if self.cuda_libdir is not None:
            return [self.cuda_libdir]
        folders = []
        for base in nvrtc._toolkits():
            parts = ("lib/x64",) if sys.platform == "win32" else ("lib64", "lib")
            folders += [os.path.join(base, part) for part in parts]
        folders += [one for one in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if one]
        folders += nvrtc._library_folders()
        found = shutil.which(self.nvcc)
        if found:
            folders.append(os.path.join(os.path.dirname(os.path.dirname(found)), "lib64"))
        return list(dict.fromkeys(folders))

    def link(self) -> DynamicModule:
        """Link what was added; get_function() and get_global() work from now on."""
        self.module = self.linker.link_module()
        self._bind_module()
        return self


class DynamicSourceModule(DynamicModule):
    """A module from one source that is linked, with cudadevrt where that is found.

    The parameters are those of SourceModule and DynamicModule.
    """

    def __init__(
        self,
        source: str,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | os.PathLike[str] | bool | None = None,
        include_dirs: Sequence[str] | None = None,
        cuda_libdir: str | None = None,
    ) -> None:
        super().__init__(
            nvcc=nvcc,
            link_options=None,
            keep=keep,
            no_extern_c=no_extern_c,
            arch=arch,
            code=code,
            cache_dir=cache_dir,
            include_dirs=include_dirs,
            cuda_libdir=cuda_libdir,
        )
        self.add_source(source, options)
        try:
            self.add_stdlib("cudadevrt")
        except FileNotFoundError:
            if cuda_libdir is not None:
                raise
        self.link()


# ---- how ----------------------------------------------------------------------------------------


def _own_include_folder() -> str:
    """Where the headers are that PyCUDA's programs include."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")


def _check(call: str, options: object, target: str) -> None:
    if isinstance(options, str):
        raise TypeError(
            f"{call}: options must be a list of str, such as {options.split()!r}, not one str"
        )
    if target not in _TARGETS:
        raise ValueError(f"{call}: target must be one of {', '.join(_TARGETS)}, not {target!r}")


def _compile(
    call: str,
    source: str,
    nvcc: str,
    options: Sequence[str] | None,
    keep: bool,
    no_extern_c: bool,
    arch: str | None,
    code: str | None,
    cache_dir: str | os.PathLike[str] | bool | None,
    include_dirs: Sequence[str] | None,
    target: str,
    expressions: tuple[str, ...] = (),
) -> nvrtc.Compiled:
    from . import driver

    _check(call, options, target)
    source = source_text(call, source)
    if not no_extern_c:
        source = f'extern "C" {{\n#line 1 "{_NAME}"\n{source}\n}}\n'
    words = [*(DEFAULT_NVCC_FLAGS if options is None else options)]
    if driver.CUDA_DEBUGGING:
        cache_dir, keep = False, True
        words += ["-G"]
    folders = [*(include_dirs or ()), _own_include_folder()]
    if isinstance(include_dirs, str):
        raise TypeError(f"{call}: include_dirs must be a list of str, not one str")
    # What is loaded at once has to be the simulator's; nvcc's output can only be kept.
    simulated = call != "compile" and bool(nvrtc._cuda()._is_simulator())
    use_nvcc = (nvcc != "nvcc" or target == "fatbin") and not simulated
    translated = None if use_nvcc else nvrtc.translate(words, must=simulated)
    job = _Job(call, source, folders, keep, target, expressions, _store(cache_dir))
    if translated is None:
        return job.with_nvcc(nvcc, words, arch, code)
    try:
        return job.with_nvrtc(translated, arch, code)
    except nvrtc.NvrtcMissing:
        if shutil.which(nvcc) is None:
            raise
    except CompileError as error:
        if (
            not _needs_files(error.stderr or "")
            or nvrtc.is_simulated()
            or shutil.which(nvcc) is None
        ):
            raise
    return job.with_nvcc(nvcc, words, arch, code)


def _needs_files(log: str) -> bool:
    return "could not open source file" in log or "cannot open source file" in log


def _device_architecture() -> tuple[int, int]:
    return Context.get_device().compute_capability()


def _store(cache_dir: str | os.PathLike[str] | bool | None) -> disk.Entries | None:
    """The cache to use, None for none."""
    if cache_dir is False or os.environ.get("PYCUDA_DISABLE_CACHE") is not None:
        return None
    if cache_dir is None or cache_dir is True:
        cache_dir = os.environ.get("PYCUDA_CACHE_DIR") or disk.default_folder()
        if disk._switched_off() or cache_dir is None:
            return None
    if not isinstance(cache_dir, (str, os.PathLike)):
        raise TypeError(f"cache_dir must be a path, None or False, not {type(cache_dir).__name__}")
    return disk.Entries(Path(cache_dir))


class _Job:
    """One source to compile: the same steps around both compilers."""

    def __init__(
        self,
        call: str,
        source: str,
        folders: Sequence[str],
        keep: bool,
        target: str,
        expressions: tuple[str, ...],
        store: disk.Entries | None,
    ) -> None:
        self.call, self.source, self.folders, self.keep = call, source, folders, keep
        self.target, self.expressions, self.store = target, expressions, store

    def with_nvrtc(self, words: list[str], arch: str | None, code: str | None) -> nvrtc.Compiled:
        words = [*words, *(f"-I{folder}" for folder in self.folders)]
        given = any(word.startswith("--gpu-architecture=") for word in words)
        target = None if given else _real_architecture(arch, code)
        # The driver first: the simulator brings its own NVRTC.
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
        status, result = nvrtc.compile_source(self.source, _NAME, words, self.expressions)
        if self.keep:
            files = {
                _NAME: self.source.encode(),
                "kernel.ptx": result.ptx,
                "kernel.cubin": result.cubin,
            }
            _keep(files)
        if status != 0:
            command = ["nvrtc", *words, _NAME]
            log = result.log + advice(result.log)
            raise CompileError(f"nvrtc compilation of {_NAME} failed", command, "", log)
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
            path = os.path.join(folder, _NAME)
            Path(path).write_text(self.source, "utf-8")
            if self.keep:
                print(f"*** compiler output in {folder}")
                words = [*words, "--keep"]
            command = [nvcc, f"--{self.target}", *words, _NAME]
            done = _run(command, folder)
            made = Path(folder, f"kernel.{self.target}")
            if done.returncode != 0 or not made.is_file():
                log = done.stderr + advice(done.stderr)
                raise CompileError(f"nvcc compilation of {path} failed", command, done.stdout, log)
            data = made.read_bytes()
        finally:
            if not self.keep:
                shutil.rmtree(folder, ignore_errors=True)
        log = (done.stdout + done.stderr).strip()
        is_ptx = self.target == "ptx"
        return nvrtc.Compiled(None if is_ptx else data, data if is_ptx else None, log, {})

    def _cached(
        self, words: list[str], compiler: Any, opaque: Sequence[str], run: Any
    ) -> nvrtc.Compiled:
        key = None if self.store is None or self.keep else self._key(words, compiler, opaque)
        if key is not None and self.store is not None:
            entry = self.store.read(key)
            result = _unpack(entry) if entry is not None else None
            if result is not None:
                return result
        result = run(words)
        if result.log:
            warnings.warn(
                "The CUDA compiler succeeded, but said the following:\n" + result.log,
                stacklevel=6,
            )
        if key is not None and self.store is not None:
            binary = (result.cubin or b"") + (result.ptx or b"")
            facts = {"cubin": len(result.cubin or b""), "lowered": result.lowered}
            self.store.write(key, binary, facts)
        return result

    def _key(self, words: list[str], compiler: Any, opaque: Sequence[str]) -> str | None:
        """A name for the result; None if what it depends on cannot be found out."""
        import hashlib

        key = hashlib.sha256()
        scan = disk._Scan([*self.folders, *_include_words(words), *opaque], opaque)
        source = self.source.encode("utf-8", "surrogateescape")
        scan.scan(source)
        if not scan.known:
            return None
        key.update(repr((_CACHE_FORMAT, words, compiler, self.expressions)).encode())
        key.update(repr((len(source), scan.found)).encode("utf-8", "surrogateescape"))
        key.update(source)
        return key.hexdigest()


def _include_words(words: Sequence[str]) -> list[str]:
    return [word[2:] for word in words if word.startswith("-I") and len(word) > 2]


def _simulator_version() -> tuple[object, ...]:
    """Which simulator compiles, and its settings; empty if NVRTC does."""
    return _simulator_identity() if nvrtc.is_simulated() else ()


def _simulator_identity() -> tuple[object, ...]:
    settings = sorted(item for item in os.environ.items() if item[0].startswith("PYGPU_SIM_"))
    file = simulator_path().stat()  # an image of another build need not be one that this one loads
    return (file.st_size, file.st_mtime_ns, *settings)


def _real_architecture(arch: str | None, code: str | None) -> str | None:
    """What to compile for, None for the device's own, "" for the compiler's choice."""
    chosen = code if code and code.startswith("sm_") else arch
    return chosen


def _unpack(entry: tuple[bytes, dict[str, Any]]) -> nvrtc.Compiled | None:
    binary, facts = entry
    try:
        size = int(facts["cubin"])
        lowered = {str(name): str(text) for name, text in facts["lowered"].items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return nvrtc.Compiled(binary[:size] or None, binary[size:] or None, "", lowered)


def _keep(files: dict[str, bytes | None]) -> None:
    folder = tempfile.mkdtemp(prefix="pygpu-")
    print(f"*** compiler output in {folder}")
    for name, data in files.items():
        if data:
            Path(folder, name).write_bytes(data)


def _run(command: list[str], folder: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise CompileError(
            f"{command[0]} could not be started ({error}). Leave nvcc= and nvcc's own options out "
            "to compile with NVRTC, or install the CUDA toolkit",
            command,
        ) from None
