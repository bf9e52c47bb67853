"""Fixtures of the CUDA tests: they run on what PYGPU_CUDA says, the simulator if there is no GPU.

A module with `needs_no_device = True` runs anywhere. Tests marked `gpu`
need a real one; tests marked `simulator` are about the simulator alone.
"""

from __future__ import annotations

import gc
import os
import sys
import time
import warnings

import pytest

os.environ.setdefault("PYGPU_CUDA", "auto")

from pygpu import _cuda  # noqa: E402
from pygpu.cuda import driver as cuda  # noqa: E402
from pygpu.cuda.compiler import SourceModule  # noqa: E402


def _why_not() -> str:
    """Why no CUDA test can run here, "" if they can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is no GPU
            _cuda.init()
        if _cuda._is_simulator():  # it is known now; processes that tests start need not say it
            os.environ["PYGPU_CUDA"] = "simulator"
    except Exception as error:
        if sys.platform.startswith("linux"):
            raise  # the simulator is built there: that it does not load is a defect
        return f"no CUDA driver, and no simulator: {error}"
    return ""


_missing = _why_not()
_simulated = not _missing and _cuda._is_simulator()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = os.path.dirname(__file__)
    for item in items:
        if not str(item.path).startswith(folder):
            continue
        if getattr(item.module, "needs_no_device", False):
            continue
        if _missing:
            item.add_marker(pytest.mark.skip(reason=_missing.splitlines()[0]))
        elif _simulated and item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU"))
        elif not _simulated and item.get_closest_marker("simulator"):
            item.add_marker(pytest.mark.skip(reason="is about the CPU simulator"))


@pytest.fixture(scope="session", autouse=True)
def _kept_primary():
    """Keeps the primary context: without it each test makes one, which takes a driver, busy with
    other processes, up to seconds."""
    yield _cuda.Device(0).retain_primary_context() if not _missing else None


@pytest.fixture
def context():
    """The primary context of the first device, current during the test."""
    primary = _cuda.Device(0).retain_primary_context()
    primary.push()
    try:
        yield primary
    finally:
        _cuda.Context.synchronize()
        _cuda.Context.pop()


def _settled_handles() -> dict[str, int]:
    gc.collect()
    _cuda.Context.synchronize()
    gc.collect()
    return _cuda._handle_counts()


@pytest.fixture
def balance(context):
    """Fails the test if it leaves driver handles behind."""
    before: dict[str, int] = {}
    while (now := _settled_handles()) != before:  # what earlier tests left to other threads
        before = now
    yield
    for _ in range(20):
        now = _settled_handles()
        # Fewer there may be: pools of other tests' arrays give back blocks when memory is short.
        more = {kind: n for kind, n in now.items() if n > before.get(kind, 0)}
        if not more:
            break
        time.sleep(0.02)
    assert not more, before


@pytest.fixture(scope="module")
def kept(request: pytest.FixtureRequest):
    """The context, and the module made of the file's SOURCE, kept from test to test."""
    primary = cuda.Device(0).retain_primary_context()
    primary.push()
    module = SourceModule(request.module.SOURCE)
    yield primary, module
    del module
    primary.pop()


@pytest.fixture
def kernels(kept, context):
    return kept[1]
