"""Builds the C extensions; everything else that describes the package is in pyproject.toml.

No OpenCL or CUDA header or library is needed: a driver is found and loaded when it is first used.
PYGPU_CFLAGS goes last to the compiler and the linker: PYGPU_CFLAGS="-O0 -g" pip install -e .
With PYGPU_WERROR a warning of gcc's or clang's ends the build.
"""

import os
import shlex
import sys
import sysconfig
import tomllib
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path
from zlib import crc32

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
EXTRA = shlex.split(os.environ.get("PYGPU_CFLAGS", ""))

if sys.platform == "win32":
    CFLAGS = ["/std:c11", "/W3"]
else:
    CFLAGS = "-std=c11 -fvisibility=hidden -O2 -Wall -Wextra -Wshadow -Wconversion".split()
    if os.environ.get("PYGPU_WERROR"):  # Python's and NumPy's headers may warn
        SYSTEM = [sysconfig.get_path("include"), numpy.get_include()]
        CFLAGS += ["-Werror", *(word for folder in SYSTEM for word in ("-isystem", folder))]
# Libraries of their own up to glibc 2.33; macOS and Windows have them in what is linked anyway.
LIBRARIES = ["dl", "pthread"] if sys.platform.startswith("linux") else []


def project_urls() -> dict[str, str]:
    """Return the URLs of the repository whose workflow builds the package, forks included."""
    server, name = map(os.environ.get, ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY"))
    if not server or not name or "/" not in name:
        return {}
    owner, repository = name.split("/", 1)
    source = f"{server}/{name}"
    return {
        "Documentation": f"https://{owner.lower()}.github.io/{repository}/",
        "Source": source,
        "Issues": f"{source}/issues",
        "Changelog": f"{source}/blob/main/CHANGELOG.md",
    }


def files(pattern: str) -> list[str]:
    return sorted(glob(pattern, root_dir=ROOT, recursive=True))


def extension(name: str, *folders: str) -> Extension:
    """The extension pygpu.NAME, made from all C files of the folders of src."""
    return Extension(
        f"pygpu.{name}",
        sources=[file for folder in folders for file in files(f"src/{folder}/**/*.c")],
        depends=["setup.py", "pyproject.toml", *files("src/**/*.h"), *files("src/**/*.fn")]
        + files("src/**/*.def"),
        include_dirs=[numpy.get_include(), "src"],
        define_macros=[
            ("_GNU_SOURCE", "1"),  # as Python.h has it; here, so that no order of includes matters
            ("PYGPU_VERSION", f'"{VERSION}"'),
            ("NPY_NO_DEPRECATED_API", "NPY_1_25_API_VERSION"),
            ("NPY_TARGET_VERSION", "NPY_1_25_API_VERSION"),  # the oldest NumPy it shall run with
        ],
        extra_compile_args=CFLAGS + EXTRA,
        extra_link_args=EXTRA,
        libraries=LIBRARIES,
    )


class BuildInParallel(build_ext):
    """Compiles as many files at once as there are cores, and only what changed since last time."""

    def finalize_options(self) -> None:
        super().finalize_options()
        if self.editable_mode:  # pip gives an empty folder, and would compile everything again
            build = self.distribution.get_command_class("build")(self.distribution)
            build.ensure_finalized()
            self.build_temp = build.build_temp
        # Other flags, other folder: sanitized objects are never linked with others.
        self.build_temp += f"-{crc32(repr(EXTRA).encode()):08x}"

    def run(self) -> None:
        super().run()
        if sys.platform.startswith("linux"):
            self.build_simulator()
        else:
            print("pygpu: the CUDA simulator is built on Linux only so far", file=sys.stderr)

    def build_simulator(self) -> None:
        """libpygpu_cudasim.so: the CUDA driver on the CPU, a plain library that knows no Python."""
        folder = ROOT if self.inplace else Path(self.build_lib)
        target = folder / "pygpu" / "cuda" / "simulator" / "libpygpu_cudasim.so"
        ext = extension("cudasim", "simulator")
        ext.depends += files("pygpu/cuda/simulator/include/pygpu_sim_abi.h")
        newest = max(map(os.path.getmtime, ext.sources + ext.depends))
        if not self.force and target.exists() and target.stat().st_mtime > newest:
            return
        compile_all = self.in_parallel(ext)
        objects = compile_all(
            ext.sources,
            output_dir=self.build_temp,
            macros=ext.define_macros,
            include_dirs=["src"],
            debug=self.debug,
            extra_postargs=ext.extra_compile_args,
            depends=ext.depends,
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        self.compiler.link_shared_object(
            objects, str(target), libraries=["dl", "pthread", "m"], extra_postargs=EXTRA
        )

    def in_parallel(self, ext: Extension):
        """The compiler's compile(), many files at once, only those older than their source."""
        compile_list = self.compiler.compile
        changed = max(map(os.path.getmtime, ext.depends))

        def compile_one(source: str, options: dict) -> list[str]:
            [made] = self.compiler.object_filenames([source], output_dir=options["output_dir"])
            newest = max(changed, os.path.getmtime(source))
            if not self.force and os.path.exists(made) and os.path.getmtime(made) > newest:
                return [made]
            return compile_list([source], **options)

        def compile_all(sources: list[str], **options) -> list[str]:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                return sum(pool.map(lambda source: compile_one(source, options), sources), [])

        return compile_all

    def build_extension(self, ext: Extension) -> None:
        if self.compiler.compiler_type != "unix":
            return super().build_extension(ext)
        compile_list = self.compiler.compile
        self.compiler.compile = self.in_parallel(ext)
        try:
            super().build_extension(ext)
        finally:
            self.compiler.compile = compile_list


setup(
    project_urls=project_urls(),
    ext_modules=[
        extension("_opencl", "common", "opencl"),
        extension("_cuda", "common", "cuda"),
        extension("_array", "common", "array"),
    ],
    cmdclass={"build_ext": BuildInParallel},
)
