"""The public names of PyOpenCL, PyCUDA and numba.cuda, of the lists that tools/compare_names.py
wrote: each is there under pygpu.compat, or left out with a reason."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "tools"))

import compare_names  # noqa: E402


def recorded(peer):
    """The dotted names of its list."""
    lines = (compare_names.RECORDS / f"{peer}.txt").read_text("utf-8").splitlines()[1:]
    pairs = (line.split(": ") for line in lines)
    return [f"{where}.{name}" for where, names in pairs for name in names.split()]


@pytest.mark.parametrize("peer", ["pyopencl", "pycuda", "numba"])
def test_public_names_are_there_or_left_out_with_a_reason(peer):
    missing = compare_names.missing_names(recorded(peer))
    reasons = [(key, why) for key, why in compare_names.left_out() if key.startswith(peer)]
    undecided = [n for n in missing if not any(fnmatchcase(n, key) for key, _ in reasons)]
    assert undecided == []
    there_now = [key for key, _ in reasons if not any(fnmatchcase(n, key) for n in missing)]
    assert there_now == []
    assert all(why for _, why in reasons)


def test_a_missing_name_is_seen():
    names = ["pyopencl.Buffer", "pyopencl.Buffer.no", "pyopencl.no.Buffer", "pycuda.gl.no"]
    assert compare_names.missing_names(names) == names[1:]


def test_names_are_read_from_sources(tmp_path):
    package = tmp_path / "peer"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import os\nfrom peer.a import f as g\nfrom json import dumps\n"
        "if True:\n    x, _y = 1, 2\nelse:\n    z = 3\n"
    )
    (package / "a.py").write_text(
        "class C:\n    n: int = 1\n    def m(self): pass\ndef f(): pass\n"
    )
    (package / "test").mkdir()
    (package / "test" / "b.py").write_text("no = 1\n")
    assert compare_names.names_in_package("peer", package) == {
        "peer": {"g", "x", "_y", "z"},
        "peer.a": {"C", "f"},
        "peer.a.C": {"n", "m"},
    }
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "c.py").write_text("import peer as p\nfrom peer.a import C\np.a._q.r()\n")
    found = compare_names.uses("peer", tmp_path / "user")
    assert {"peer", "peer.a.C", "peer.a._q.r"} <= set(found)
