"""Each test of arrays runs on both backends: OpenCL and CUDA (a GPU, else the simulator)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from array_fixtures import Maker, cuda_context, current_context, make, opencl_maker  # noqa: F401


@pytest.fixture
def unfused() -> Iterator[None]:
    """For tests that count launches or blocks: operations are not deferred, whatever PYGPU_FUSE."""
    from pygpu import fusion
    from pygpu._src.array import chains

    fusion.off()
    yield
    chains.set_from_environment()


@pytest.fixture
def on(make: Maker) -> Iterator[Maker]:  # noqa: F811
    """The namespace ``pygpu.xp`` with the maker's device as the default."""
    from pygpu import xp

    before = xp.set_default_device(make.queue if make.name == "opencl" else make.backend.context)
    yield make
    xp.set_default_device(before)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Iterator[Any]:
    """Skips what needs double precision where the device lacks it: most tests rely on it."""
    try:
        return (yield)
    except (TypeError, pytest.fail.Exception) as error:  # the latter by pytest.warns(), around it
        if "has no double precision" not in f"{error} {error.__context__}":
            raise
        pytest.skip("the device has no double precision")
