"""The caches' rule: what others can have written is as if it were not there."""

import os
import stat

import pytest
from broken_files import FILES, OTHER, breaks_file, breaks_folder, needs_root

import pygpu as cl
from pygpu import cache
from pygpu._src.util import private_files

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")


# ---- the rule itself ----------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    assert private_files.write(str(tmp_path / "cache"), "name", b"code")
    return tmp_path / "cache"


def read(folder, most=100):
    return private_files.read(str(folder), "name", most)


def test_what_was_written_is_read(folder):
    assert read(folder) == b"code"
    assert private_files.write(str(folder), "name", b"other")
    assert read(folder) == b"other"
    assert [path.name for path in folder.iterdir()] == ["name"]


def test_what_is_too_large_is_not_read(folder):
    assert read(folder, most=4) == b"code"
    assert read(folder, most=3) is None


@breaks_file
def test_file_that_others_can_have_written(folder, break_rule):
    break_rule(folder / "name")
    assert read(folder) is None


@breaks_folder
def test_folder_that_others_can_write_to(folder, break_rule):
    break_rule(folder)
    assert read(folder) is None
    assert not private_files.write(str(folder), "new", b"code")


@needs_root
def test_files_of_the_administrator_are_read(folder, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: OTHER)
    assert read(folder) == b"code"


def test_folders_are_made_for_one_user_alone(tmp_path):
    before = os.umask(0)
    try:
        assert private_files.write(str(tmp_path / "a" / "b" / "c"), "name", b"code")
    finally:
        os.umask(before)
    for made in ("a", "a/b", "a/b/c"):
        assert stat.S_IMODE((tmp_path / made).stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a/b/c/name").stat().st_mode) == 0o600


def test_temporary_file_follows_no_link(folder, monkeypatch):
    """Even a name that somebody guesses."""
    victim = folder.parent / "victim"
    victim.write_text("precious")
    monkeypatch.setattr(os, "urandom", bytes)
    (folder / f"name{bytes(8).hex()}.tmp").symlink_to(victim)
    assert not private_files.write(str(folder), "name", b"new")
    assert victim.read_text() == "precious" and read(folder) == b"code"


def test_pruning_follows_no_link(tmp_path):
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "mine.program").write_text("precious")
    folder = tmp_path / "cache"
    folder.mkdir()
    (folder / "ab").symlink_to(victim)
    cache.clear(folder)
    assert (victim / "mine.program").read_text() == "precious"


# ---- the caches that keep it --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["writable by all", "a pipe"])
def test_opencl_programs(ctx, tmp_path, name):
    source = "kernel void k(global int *x) { *x = 1; }"
    if ctx.devices[0].platform.name == "rusticl":
        pytest.skip("there is no cache for rusticl")
    assert not cl.Program(ctx, source).build(cache_dir=tmp_path)._cached
    [entry] = tmp_path.glob("??/*.program")
    FILES[name](entry)
    assert not cl.Program(ctx, source).build(cache_dir=tmp_path)._cached
