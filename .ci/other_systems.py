"""Compiles the C files of the three extensions for macOS and Windows, without a warning.

.ci/other_systems.py [SYSTEM ...], of those in SYSTEMS. Needs ziglang, which is clang with both
systems' headers, and a network: NumPy's wheels have the headers as configured there. CPython's
headers are those of this Python. Nothing is linked or run.
"""

import os
import subprocess
import sys
import sysconfig
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "other_systems"
SYSTEMS = {  # zig's target, and the platform of NumPy's wheel
    "macos-arm64": ("aarch64-macos", "macosx_14_0_arm64"),
    "macos-x86-64": ("x86_64-macos", "macosx_14_0_x86_64"),
    "windows": ("x86_64-windows-gnu", "win_amd64"),
}
# A long has 4 bytes there, a wchar_t 2, and nothing of POSIX is promised.
WINDOWS_PYCONFIG = """\
#define MS_WINDOWS
#define MS_WIN64
#define NT_THREADS
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_VOID_P 8
#define SIZEOF_WCHAR_T 2
#define HAVE_SYS_TYPES_H 1
#define HAVE_WCHAR_H 1
"""
FLAGS = (
    *("-std=c11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"),
    *("-D_GNU_SOURCE=1", '-DPYGPU_VERSION="0"', "-c", "-o", os.devnull),
    "-DNPY_NO_DEPRECATED_API=NPY_1_25_API_VERSION",
    "-DNPY_TARGET_VERSION=NPY_1_25_API_VERSION",
)


def numpy_headers(platform: str) -> Path:
    folder = BUILD / platform
    if not folder.exists():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", BUILD]
        pip += ["--only-binary=:all:", "--python-version=3.12", f"--platform={platform}", "numpy"]
        subprocess.run(pip, check=True)
        [wheel] = BUILD.glob(f"numpy-*{platform}.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder, [n for n in archive.namelist() if n.endswith(".h")])
    return folder / "numpy" / "_core" / "include"


def python_headers(system: str) -> Path:
    """Return a folder with CPython's headers, on Windows with a pyconfig.h of its own."""
    here = Path(sysconfig.get_path("include"))
    if system != "windows":
        return here
    folder = BUILD / f"python{sys.version_info.minor}"
    folder.mkdir(exist_ok=True)
    for file in here.iterdir():
        (folder / file.name).unlink(missing_ok=True)
        (folder / file.name).symlink_to(file)
    (folder / "pyconfig.h").unlink()
    (folder / "pyconfig.h").write_text(WINDOWS_PYCONFIG, "utf-8")
    return folder


def check(system: str) -> list[str]:
    """Return what the compiler says of each file that it does not accept."""
    target, platform = SYSTEMS[system]
    command = [sys.executable, "-m", "ziglang", "cc", "-target", target, *FLAGS, "-Isrc"]
    for folder in (python_headers(system), numpy_headers(platform)):
        command += ["-isystem", str(folder)]

    def compile_one(file: Path) -> str:
        done = subprocess.run([*command, file], capture_output=True, text=True, cwd=ROOT)
        return done.stderr or f"{file}: exit status {done.returncode}\n" if done.returncode else ""

    files = [file for part in ("common", "opencl", "cuda", "array") for file in sources(part)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [text for text in pool.map(compile_one, files) if text]


def sources(part: str) -> list[Path]:
    return sorted(path.relative_to(ROOT) for path in (ROOT / "src" / part).rglob("*.c"))


def main(systems: list[str]) -> int:
    BUILD.mkdir(parents=True, exist_ok=True)
    failed = 0
    for system in systems or SYSTEMS:
        rejected = check(system)
        failed += len(rejected)
        print(*rejected, f"{system}: {len(rejected)} files not accepted", sep="\n")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
