"""Images of generated CUDA kernels on disk: found without a compiler, by what made them."""

import os
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pygpu._src.runtime.cuda import kernel_images as images
from pygpu._src.runtime.cuda import source_module as compiler

pytestmark = pytest.mark.parametrize("make", ["cuda"], indirect=True)

TEXT = """
PG_KERNEL void twice(PG_ARRAY(pg_i32, x), pg_i32 by, pg_i64 n)
{
    PG_START(pg_i32, x);
    PG_FOR(i, n)
        x[i] *= by;
}
"""


@pytest.fixture
def backend(make, tmp_path, monkeypatch):
    monkeypatch.setenv("PYGPU_CACHE_DIR", str(tmp_path))
    for name in ("PYGPU_NO_CACHE", "PYOPENCL_NO_CACHE", "PYCUDA_DISABLE_CACHE", "PYCUDA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    return make.backend


def compiled(backend, monkeypatch, text=TEXT, features=()):
    """(kernel, how often a compiler was asked) of a new compilation."""
    asked = []  # by this thread: chains of operations are compiled by another one

    def ask(real, *arguments, **options):
        if threading.current_thread() is threading.main_thread():
            asked.append(1)
        return real(*arguments, **options)

    for name in ("compile_generated", "SourceModule"):
        monkeypatch.setattr(compiler, name, partial(ask, getattr(compiler, name)))
    kernel = backend.compile(backend.dialect.prefix(features) + text).kernel("twice")
    monkeypatch.undo()
    return kernel, len(asked)


def test_found_without_a_compiler(make, backend, monkeypatch):
    cache = os.environ["PYGPU_CACHE_DIR"]

    def again(text=TEXT):
        monkeypatch.setenv("PYGPU_CACHE_DIR", cache)
        return compiled(backend, monkeypatch, text)

    assert again()[1] == 1
    kernel, asked = again()
    assert asked == 0
    x = make(np.arange(5, dtype=np.int32))
    backend.launch(kernel, None, 1, 32, [*backend.arguments(x), np.int32(3), 5])
    assert x.get().tolist() == [0, 3, 6, 9, 12]
    with pytest.raises((TypeError, ValueError, OverflowError)):  # it knows that `by` is an int
        backend.launch(kernel, None, 1, 32, [*backend.arguments(x), 1.5, 5])
    (entry,) = Path(cache).glob("**/*.program")  # the simulator keeps files of its own
    whole = entry.read_bytes()
    for damaged in (b"", whole[:100], whole[:-1], whole[:-40] + bytes(40)):
        entry.write_bytes(damaged)
        assert again()[1] == 1
        assert again()[1] == 0


def test_made_by_files_that_changed(backend, monkeypatch, tmp_path):
    library = tmp_path / "library"
    library.write_text("1")
    cache = os.environ["PYGPU_CACHE_DIR"]

    def again():
        monkeypatch.setenv("PYGPU_CACHE_DIR", cache)
        monkeypatch.setattr(images, "makers", lambda half: [images._identity(str(library))])
        return compiled(backend, monkeypatch)[1]

    assert (again(), again()) == (1, 0)
    library.write_text("22")
    assert (again(), again()) == (1, 0)
    library.unlink()
    assert (again(), again()) == (1, 1)


def test_what_may_depend_on_more_is_not_kept(backend):
    key = images.key_of("", TEXT, (), (9, 0))
    assert key is not None and key == images.key_of("", TEXT, (), (9, 0))
    others = [
        images.key_of("", TEXT, ("--fmad=false",), (9, 0)),
        images.key_of("", TEXT, (), (8, 0)),
        images.key_of("", TEXT + " ", (), (9, 0)),
        images.key_of(" ", TEXT, (), (9, 0)),
    ]
    assert len({key, *others}) == 5
    for line in ('#include "a.h"', "#  import <a>", "__DATE__", "%:inc\\\nlude <a>", "??=pragma"):
        assert images.key_of("", TEXT + line, (), (9, 0)) is None
    for gap in ("\\\n", "\\\r\n", "\\\r", "\\ \n"):  # a line that goes on in the next one
        assert images.key_of("", TEXT + f"#define F(x) {gap} x", (), (9, 0)) is not None
        assert images.key_of("", TEXT + f"#inc{gap}lude <a>", (), (9, 0)) is None
