"""Packs of the cache: what is taken along, what is refused, and what is left behind."""

import hashlib
import json
import os
import struct
import subprocess
import sys

import pytest

from pygpu import cache
from pygpu._src.runtime import cache_pack, disk_cache

pytestmark = pytest.mark.sampled(3)

KEYS = ["0" * 63 + "a", "ab" * 32, "f" * 64]
MAGIC = cache_pack._MAGIC


@pytest.fixture
def folder(tmp_path):
    entries = disk_cache.Entries(tmp_path / "from")
    for i, key in enumerate(KEYS):
        entries.write(key, bytes([i]) * 100, {"log": "", "arguments": {}})
    return tmp_path / "from"


@pytest.fixture
def packed(folder, tmp_path):
    assert cache.pack(tmp_path / "pack", folder=folder).entries == 3
    return tmp_path / "pack"


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}


def sealed(head, rest=b""):
    head = json.dumps(head).encode() if not isinstance(head, bytes) else head
    body = struct.pack("<Q", len(head)) + head + rest
    return MAGIC + hashlib.sha256(body).digest() + body


def entry(key):
    return disk_cache._pack(key, b"binary", {"log": ""})


def test_what_is_unpacked_is_what_was_packed(folder, packed, tmp_path):
    assert cache.unpack(packed, tmp_path / "to") == (3, [])
    assert files(tmp_path / "to") == files(folder)
    entries = disk_cache.Entries(tmp_path / "to")
    assert entries.read(KEYS[2])[0] == bytes([2]) * 100
    assert (tmp_path / "to").stat().st_mode & 0o777 == 0o700
    assert cache.unpack(packed, tmp_path / "to") == (3, [])  # once more changes nothing
    assert files(tmp_path / "to") == files(folder)


def test_damaged_entries_are_not_packed(folder, tmp_path):
    path = disk_cache.Entries(folder).path(KEYS[0])
    path.write_bytes(path.read_bytes()[:-1])
    (folder / "ab" / "other.program").write_bytes(b"x")
    assert cache.pack(tmp_path / "pack", folder=folder).entries == 2


def test_an_empty_cache_has_no_pack(tmp_path):
    with pytest.raises(cache.PackError, match="no entries"):
        cache.pack(tmp_path / "pack", folder=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("at", [0, 20, 60, 300, -1])
def test_a_changed_byte_is_noticed(packed, tmp_path, at):
    data = bytearray(packed.read_bytes())
    data[at] ^= 1
    packed.write_bytes(data)
    with pytest.raises(cache.PackError, match=f"{packed} is damaged"):
        cache.unpack(packed, tmp_path / "to")
    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize("size", [0, 10, 40, 55, 200])
def test_a_truncated_pack_is_refused(packed, tmp_path, size):
    packed.write_bytes(packed.read_bytes()[:size])
    with pytest.raises(cache.PackError, match="is damaged"):
        cache.unpack(packed, tmp_path / "to")
    assert not (tmp_path / "to").exists()


ONE = entry(KEYS[1])
CRAFTED = {
    "a path": sealed({"entries": [["../../" + KEYS[1][6:], len(ONE), None]]}, ONE),
    "a path behind a line": sealed({"entries": [[KEYS[1] + "\n", len(ONE), None]]}, ONE),
    "a name that is not a string": sealed({"entries": [[7, len(ONE), None]]}, ONE),
    "another entry's name": sealed({"entries": [[KEYS[0], len(ONE), None]]}, ONE),
    "a negative size": sealed({"entries": [[KEYS[1], -1, None]]}, ONE),
    "a size of no number": sealed({"entries": [[KEYS[1], "9", None]]}, ONE),
    "a size past the end": sealed({"entries": [[KEYS[1], 1 << 60, None]]}, ONE),
    "more than its entries": sealed({"entries": [[KEYS[1], len(ONE), None]]}, ONE + b"x"),
    "an entry that is none": sealed({"entries": [[KEYS[1], 4, None]]}, b"text"),
    "no entries": sealed({}),
    "a list": sealed([1, 2]),
    "no JSON": sealed(b"{"),
    "deep JSON": sealed(b"[" * 100_000),
}


@pytest.mark.parametrize("data", CRAFTED.values(), ids=CRAFTED)
def test_a_crafted_pack_is_refused(tmp_path, data):
    (tmp_path / "pack").write_bytes(data)
    with pytest.raises(cache.PackError, match=f"{tmp_path / 'pack'} is damaged"):
        cache.unpack(tmp_path / "pack", tmp_path / "to")
    assert not (tmp_path / "to").exists()


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX's modes")
def test_files_of_others_are_refused(packed, tmp_path):
    packed.chmod(0o664)
    with pytest.raises(cache.PackError, match="others may write"):
        cache.unpack(packed, tmp_path / "to")
    packed.chmod(0o644)
    (tmp_path / "link").symlink_to(packed)
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "from", "missing"):
        with pytest.raises(cache.PackError, match=name):
            cache.unpack(tmp_path / name, tmp_path / "to")
    assert not (tmp_path / "to").exists()


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX's modes")
def test_nothing_stays_where_an_entry_cannot_be_written(packed, tmp_path):
    target = tmp_path / "to"
    (target / KEYS[2][:2]).mkdir(parents=True)
    (target / KEYS[2][:2]).chmod(0o777)  # the last one's folder breaks the rule
    with pytest.raises(cache.PackError, match=KEYS[2]):
        cache.unpack(packed, target)
    assert not files(target)


def test_more_than_the_cache_may_have_is_refused(packed, tmp_path, monkeypatch):
    monkeypatch.setenv("PYGPU_CACHE_SIZE", "0.0001")
    with pytest.raises(cache.PackError, match="PYGPU_CACHE_SIZE"):
        cache.unpack(packed, tmp_path / "to")
    assert not (tmp_path / "to").exists()


def test_the_command(folder, tmp_path):
    def run(*words):
        command = [sys.executable, "-m", "pygpu.cache", *map(str, words)]
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100)
        return done.returncode, done.stdout, done.stderr

    assert run("pack", tmp_path / "p", "--folder", folder) == (0, "3 entries\n", "")
    assert run("unpack", tmp_path / "p", "--folder", tmp_path / "to") == (0, "3 entries\n", "")
    code, _, said = run("unpack", tmp_path / "none", "--folder", tmp_path / "to")
    assert code == 2 and said.startswith("python -m pygpu.cache: cache.unpack: ")


# ---- CUDA ---------------------------------------------------------------------------------------

PROGRAM = """
import numpy as np
import pygpu.cuda.autoprimaryctx
from pygpu._src.runtime.backends import backend_of
from pygpu.cuda.compiler import SourceModule
import pygpu.cuda.gpuarray as gpuarray

backend = backend_of(gpuarray.zeros(1, np.int32))
text = "PG_KERNEL void f(PG_ARRAY(pg_i32, x)) { PG_START(pg_i32, x); x[0] = 1; }"
backend.compile(backend.dialect.prefix() + text).kernel("f")
SourceModule("__global__ void k(int *x) { *x = 1; }").get_function("k")
"""
RECORD = "import pygpu.cache, sys; print(pygpu.cache.pack({file!r}, {arch!r}, {folder!r}))"


def run_python(code, **more):
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path)), **more)
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache") / "c"
    run_python(PROGRAM, PYGPU_CUDA="simulator", PYGPU_CACHE_DIR=str(folder))
    return folder


def test_recorded_sources_are_compiled_without_a_gpu(simulated, tmp_path):
    find = "from pygpu._src.runtime.cuda import nvrtc; nvrtc.load()"
    try:
        run_python(find)
    except AssertionError as error:
        pytest.skip(f"needs NVRTC: {error}"[:80])
    before = len(list(simulated.rglob("??/*.*")))
    file = tmp_path / "pack"
    code = RECORD.format(file=str(file), arch="sm_80,sm_90,sm_80", folder=str(simulated))
    assert run_python(code) == f"Report(entries={before + 4}, left_out=[])\n"
    entries = cache_pack._parse(str(file), file.read_bytes())
    images = [disk_cache._unpack(one.key, one.data)[0] for one in entries]
    machine = [
        struct.unpack_from("<H", image, 18)[0] for image in images if image[:4] == b"\x7fELF"
    ]
    assert machine.count(190) == 4  # EM_CUDA
    made = [one for one in entries if one.compiler]
    assert len(made) == 2
    other = cache_pack._Entry(made[0].key, made[0].data, [1, 2])
    assert "compiled by NVRTC 1.2" in check_adapted(other)


def check_adapted(other):
    code = (
        "import base64; from pygpu._src.runtime import cache_pack as c; "
        f"print(c._adapted(c._Entry({other.key!r}, base64.b16decode({other.data.hex().upper()!r}), "
        f"{other.compiler!r})))"
    )
    return run_python(code)


def test_an_architecture_that_is_none(simulated, tmp_path):
    code = RECORD.format(file=str(tmp_path / "p"), arch="x86", folder=str(simulated))
    code = f"try:\n    {code}\nexcept (ValueError, pygpu.cache.PackError) as e: print(e)"
    assert "cache.pack: " in run_python(code)
    assert not (tmp_path / "p").exists()


def test_a_simulated_program_starts_from_a_pack(simulated, tmp_path):
    cache.pack(tmp_path / "pack", folder=simulated)
    cache.unpack(tmp_path / "pack", tmp_path / "to")
    watched = (
        "import pygpu._src.runtime.cuda.nvrtc as n\n"
        "def fail(*a): raise SystemExit('compiled')\n"
        "n.compile_source = fail\n"
    )
    settings = {"PYGPU_CUDA": "simulator", "PYGPU_SIM_CXX": os.environ.get("PYGPU_SIM_CXX")}
    settings = {name: value for name, value in settings.items() if value}
    run_python(watched + PROGRAM, PYGPU_CACHE_DIR=str(tmp_path / "to"), **settings)
