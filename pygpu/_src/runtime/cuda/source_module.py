"""CUDA C++ to modules: SourceModule and its implementation.

NVRTC compiles in this process and without a toolkit. nvcc compiles if requested (`nvcc=` names a
path), if an option needs it, or if NVRTC cannot open an include and an nvcc is installed.

Results are cached on disk, keyed by source, options, the headers' contents, the compiler's version
and the architecture, so entries are never out of date; see docs/cuda/compiling.md.

Environment: PYCUDA_DEFAULT_NVCC_FLAGS, PYCUDA_CACHE_DIR, PYCUDA_DISABLE_CACHE as in PyCUDA,
PYGPU_CACHE_DIR, PYGPU_NO_CACHE, PYGPU_CACHE_SIZE as for OpenCL, PYGPU_NVRTC_LIBRARY.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache as once
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

from pygpu._cuda import Function, Module, init, module_from_buffer
from pygpu._src.runtime import disk_cache
from pygpu._src.runtime.cuda.debugging import is_debugging
from pygpu._src.util.package_folder import PACKAGE_FOLDER
from pygpu._src.util.public import publish
from pygpu._src.util.sequences import as_list
from pygpu.errors import CompileError, Error

from . import nvrtc
from .advice import source_text
from .compilation import NAME, Compilation, _device_architecture, get_nvcc_version, run
from .kernel_images import KERNEL
from .kernel_sources import Lookup

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
    """Return the cubin (or PTX, or with nvcc a fatbin) of a source, as bytes.

    options are nvcc's; arch is sm_XX or compute_XX, by default that of the current device (with
    arch, no device is needed). Raises CompileError with the compiler's messages.
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
    """compile() for an unmodified source, without an architecture or include folders added by
    pygpu."""
    return compile(source, nvcc, options, keep, True, "", None, cache_dir, None, target)


def compile_generated(
    source: str, options: Sequence[str], arch: str | None = None
) -> nvrtc.Compiled:
    """Compile a source as SourceModule does, for callers that cache the image themselves. arch:
    compile for this architecture, without a device."""
    call = "SourceModule" if arch is None else "compile"

    def made(words: Sequence[str]) -> nvrtc.Compiled:
        return _compile(call, source, "nvcc", words, False, True, arch, None, False, None, "cubin")

    try:
        minimal = nvrtc.has_minimal()
    except nvrtc.NvrtcMissing:  # nvcc may be available
        minimal = False
    if minimal:
        try:
            return made([*options, "-minimal"])
        except CompileError:
            # The user's source may need what -minimal drops; otherwise it fails again.
            pass
    return made(options)


def known_options(options: Sequence[str]) -> list[str]:
    """Return the options of a generated source, without those that this NVRTC does not know."""
    try:
        if nvrtc.has_fast_compile():
            return list(options)
    except nvrtc.NvrtcMissing:
        pass
    return [option for option in options if not option.startswith("--Ofast-compile")]


def preprocess_source(source: str, options: Sequence[str], nvcc: str) -> str:
    """Return the source with macros and includes expanded by nvcc. Raises CompileError."""
    with tempfile.TemporaryDirectory(prefix="pygpu-") as folder:
        path = os.path.join(folder, NAME)
        Path(path).write_text(source, "utf-8")
        command = [nvcc, "--preprocess", *options, path]
        done = run(command, folder)
        if done.returncode != 0:
            raise CompileError(f"nvcc preprocessing of {path} failed", command, stderr=done.stderr)
        return done.stdout


# ---- modules ------------------------------------------------------------------------------------


class CudaModule:
    """Base of classes that hold a Module compiled from source."""

    module: Module
    get_global: Callable[[str], tuple[int, int]]
    get_texref: Callable[[str], NoReturn]
    get_surfref: Callable[[str], NoReturn]

    def _bind_module(self) -> None:
        self.get_global = self.module.get_global
        self.get_texref = self.module.get_texref
        self.get_surfref = self.module.get_surfref

    def __repr__(self) -> str:
        cls, module = type(self), getattr(self, "module", None)  # none while it is being made
        source = getattr(module, "_source", None) or ""
        kernels = ", ".join(map(repr, dict.fromkeys(KERNEL.findall(source))))
        return f"<{cls.__module__}.{cls.__qualname__}{f' with {kernels}' * bool(kernels)}>"

    def get_function(self, name: str) -> Function:
        """Return the kernel with this name. Raises LogicError if there is none."""
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
        init()  # compile for the driver that will load it
        source = source_text("SourceModule", source)
        try:
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
        except CompileError as error:
            error.__traceback__ = None  # the message has the compiler's lines
            raise
        self.module: Module = _load(result, _definitions(options) + source)
        self._lowered = result.lowered
        self._bind_module()

    def get_function(self, name: str) -> Function:
        return self.module.get_function(self._lowered.get(name, name))


def _definitions(options: Sequence[str] | None) -> str:
    """Return the macros that options define, as source lines, because declarations of kernels may
    use them."""
    words = iter(DEFAULT_NVCC_FLAGS if options is None else options)
    lines = []
    for word in words:
        if word in ("-D", "--define-macro"):
            word = f"-D{next(words, '')}"
        word = word.replace("--define-macro=", "-D", 1)
        if word.startswith("-D"):
            name, _, value = word[2:].strip().partition("=")
            lines.append(f"#define {name} {value or 1}\n")
    return "".join(lines)


def _load(result: nvrtc.Compiled, source: str) -> Module:
    """Load the module of a compiled source; from its PTX if the cubin does not fit the device."""
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

    options of the constructor apply to all sources; link_options are pairs of jit_option and value.
    """

    nvcc: str
    keep: bool
    no_extern_c: bool
    arch: str | None
    code: str | None
    cache_dir: str | os.PathLike[str] | bool | None

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
        from pygpu._cuda import Linker

        init()
        self.nvcc, self.keep, self.no_extern_c = nvcc, keep, no_extern_c
        self.arch, self.code, self.cache_dir = arch, code, cache_dir
        self.cuda_libdir = cuda_libdir
        self.include_dirs = include_dirs
        self.libdir: str | None = None
        self.linker: Linker = Linker(message_handler, link_options, log_verbose)

    def add_source(
        self, source: str, nvcc_options: Sequence[str] | None = None, name: str = "kernel.ptx"
    ) -> DynamicModule:
        """Compile a source to relocatable code and add it."""
        from pygpu._src.runtime.cuda.enums import jit_input_type

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
        from pygpu._src.runtime.cuda.enums import jit_input_type

        if libname == "cudadevrt" and nvrtc._cuda()._is_simulator():
            return self  # it has code for GPUs, and kernels that need it do not compile there
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
        """Link everything that was added; then get_function() and get_global() can be used."""
        self.module: Module = self.linker.link_module()
        self._bind_module()
        return self


class DynamicSourceModule(DynamicModule):
    """A module from one source, linked with cudadevrt if it is found.

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


# ---- implementation -----------------------------------------------------------------------------


@once
def _include_folder() -> str:
    """Return the folder of headers for PyCUDA's programs."""
    return str(PACKAGE_FOLDER / "cuda" / "include")


_find_pycuda_include_path = _include_folder  # PyCUDA's name, which other packages import


def _check_target(call: str, target: str) -> None:
    if target not in _TARGETS:
        raise ValueError(f"{call}: target must be one of {', '.join(_TARGETS)}, not {target!r}")


def _strings(call: str, name: str, given: Any) -> list[str]:
    """Return the argument *name*, an iterable of str or paths, as a list of str."""
    if isinstance(given, str):
        raise TypeError(
            f"{call}: {name} must be a list of str, such as {given.split()!r}, not one str"
        )
    items = as_list(given or (), call, name)
    for item in items:
        if not isinstance(item, (str, os.PathLike)):
            raise TypeError(
                f"{call}: {name} must contain str, not {type(item).__name__} ({item!r})"
            )
    return [os.fspath(item) for item in items]


def _on_simulator() -> bool:
    """Whether the simulator would run the code; compiling needs no device then."""

    try:
        return bool(nvrtc._cuda()._is_simulator())
    except Error:
        return False


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

    _check_target(call, target)
    source = source_text(call, source)
    words = _strings(call, "options", DEFAULT_NVCC_FLAGS if options is None else options)
    folders = _strings(call, "include_dirs", include_dirs)
    if is_debugging():
        cache_dir, keep = False, True
        words += ["-G"]
    question = None
    if call == "SourceModule" and cache_dir is not False and not keep:
        if not any(["include" in word for word in words]):  # a missing file may exist later
            parts = (source, bool(no_extern_c), nvcc, arch, code, cache_dir, expressions)
            question = (parts, _device_architecture(), tuple(words), tuple(folders))
    lookup = Lookup(source, lambda: _store(cache_dir), question)

    def compiled() -> nvrtc.Compiled:
        folders.append(_include_folder())
        text = source if no_extern_c else f'extern "C" {{\n#line 1 "{NAME}"\n{source}\n}}\n'
        job = Compilation(call, text, folders, keep, target, expressions, lookup)
        return _with_any_compiler(job, nvcc, words, arch, code)

    return lookup.get(compiled)


def _with_any_compiler(
    job: Compilation, nvcc: str, words: list[str], arch: str | None, code: str | None
) -> nvrtc.Compiled:
    # Code that is loaded at once must be the simulator's; nvcc's output can only be stored.
    simulated = job.call != "compile" and bool(nvrtc._cuda()._is_simulator())
    use_nvcc = (nvcc != "nvcc" or job.target == "fatbin") and not simulated
    translated = None if use_nvcc else nvrtc.translate(words, must=simulated)
    if translated is None and not use_nvcc and _on_simulator():  # it will most likely be loaded
        translated = nvrtc.translate(words, must=True)
    if translated is None:
        return job.with_nvcc(nvcc, words, arch, code)
    try:
        return job.with_nvrtc(translated, arch, code)
    except nvrtc.NvrtcMissing:
        if simulated or os.environ.get(nvrtc.VARIABLE) or shutil.which(nvcc) is None:
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


def _store(cache_dir: str | os.PathLike[str] | bool | None) -> disk_cache.Entries | None:
    """Return the cache to use, or None."""
    if cache_dir is False or os.environ.get("PYCUDA_DISABLE_CACHE") is not None:
        return None
    if cache_dir is None or cache_dir is True:
        cache_dir = os.environ.get("PYCUDA_CACHE_DIR") or disk_cache.default_folder()
        if disk_cache._switched_off() or cache_dir is None:
            return None
    if not isinstance(cache_dir, (str, os.PathLike)):
        raise TypeError(f"cache_dir must be a path, None or False, not {type(cache_dir).__name__}")
    return _entries(os.fspath(cache_dir))


@lru_cache(16)
def _entries(folder: str) -> disk_cache.Entries:
    return disk_cache.Entries(Path(folder))


publish(globals(), __all__, "pygpu.cuda.compiler")
