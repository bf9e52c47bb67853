"""The rule of private_files.py in the simulator's cache and in that of CUDA programs."""

import os
import stat
import subprocess
import sys

import pytest
from broken_files import breaks_file, breaks_folder

from pygpu._src.runtime.cuda import source_module as cuda_compiler

SIMULATOR = """
from simulator.conftest import LIBRARY, Simulator
Simulator(LIBRARY).compile('extern "C" __global__ void k(int *x) { *x = 1; }')
"""


class Compiler:
    """The simulator's compiler in a process of its own, and how often it ran a C++ compiler."""

    def __init__(self, folder):
        self.cache = folder / "cache"
        self.count = folder / "count"
        self.wrapper = folder / "cxx"
        self.wrapper.write_text(f'#!/bin/sh\necho "$@" >> {self.count}\nexec g++ "$@"\n')
        self.wrapper.chmod(0o755)

    def runs(self):
        self.count.write_text("")
        environment = os.environ | {
            "PYGPU_CACHE_DIR": str(self.cache),
            "PYGPU_SIM_CXX": str(self.wrapper),
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        command = [sys.executable, "-c", SIMULATOR]
        subprocess.run(command, check=True, env=environment, umask=0)
        return sum("--version" not in line for line in self.count.read_text().splitlines())


@pytest.fixture(scope="module")
def compiler(tmp_path_factory, simulator):
    made = Compiler(tmp_path_factory.mktemp("simulator"))
    made.runs()
    return made


def test_the_simulators_folders_are_made_for_one_user_alone(compiler):
    for path in (compiler.cache, compiler.cache / "simulator"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    for path in (compiler.cache / "simulator").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@breaks_file
def test_the_simulators_images(compiler, break_rule):
    folder = compiler.cache / "simulator"
    if compiler.runs():
        assert compiler.runs() == 0
    for path in list(folder.iterdir()):
        break_rule(path)
    assert compiler.runs() > 0
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        elif not path.is_file() or path.is_symlink() or path.name == "moved":
            path.unlink()


@breaks_folder
def test_the_simulators_folder(compiler, break_rule):
    folder = compiler.cache / "simulator"
    if compiler.runs():
        assert compiler.runs() == 0
    before = sorted(folder.iterdir())
    break_rule(folder)
    assert compiler.runs() > 0
    assert sorted(folder.iterdir()) == before
    if folder.is_symlink():
        folder.unlink()
        folder.with_name("moved").rename(folder)
    os.chown(folder, os.geteuid(), -1)
    folder.chmod(0o700)


@breaks_file
def test_cuda_programs(tmp_path, break_rule):
    store = cuda_compiler._store(tmp_path)
    store.write("0" * 64, b"image", {})
    assert store.read("0" * 64)[0] == b"image"
    break_rule(store.path("0" * 64))
    assert store.read("0" * 64) is None
