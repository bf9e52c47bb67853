"""The default folder of the cache is the one that platformdirs gives, on each system."""

from __future__ import annotations

import ntpath
import os
import posixpath
from pathlib import PurePosixPath, PureWindowsPath
from types import SimpleNamespace

import pytest

from pygpu._src.runtime import disk_cache

platformdirs = pytest.importorskip("platformdirs", minversion="4.14")


def ours(monkeypatch, system):
    """Our folder, as if this were another system."""
    windows = system == "win32"
    with monkeypatch.context() as patch:
        path = ntpath if windows else posixpath
        patch.setattr(disk_cache, "os", SimpleNamespace(environ=os.environ, path=path))
        patch.setattr(disk_cache, "sys", SimpleNamespace(platform=system))
        patch.setattr(disk_cache, "Path", PureWindowsPath if windows else PurePosixPath)
        return str(disk_cache.default_folder())


def theirs(system):
    from platformdirs import macos, unix, windows

    classes = {"linux": unix.Unix, "darwin": macos.MacOS, "win32": windows.Windows}
    return classes[system]("pygpu", appauthor=False, version="opencl-v1").user_cache_dir


@pytest.mark.parametrize("xdg", [None, "", "/elsewhere/cache", "relative/cache"])
@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_the_folder_is_that_of_platformdirs(monkeypatch, system, xdg):
    monkeypatch.delenv("PYGPU_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", "/home/someone")
    local = r"C:\Users\someone\AppData\Local"
    monkeypatch.setenv("LOCALAPPDATA", local)
    monkeypatch.setenv("WIN_PD_OVERRIDE_LOCAL_APPDATA", local)  # instead of a call of the shell's
    if xdg is None:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", xdg)
    expected = theirs(system)
    if system == "win32":
        expected = expected.replace("/", "\\")  # platformdirs joins with the running system's sign
    assert ours(monkeypatch, system) == expected
    assert "pygpu" in expected and expected.endswith("opencl-v1")
