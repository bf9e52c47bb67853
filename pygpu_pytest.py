"""pytest fixtures for programs that use OpenCL; loaded by pytest wherever pygpu is installed.

* ``ctx_factory``: a function that makes a context. A test that takes it runs once for each device.
* ``pygpu_queue``: a command queue on such a context; finished when the test ends.

PYGPU_TEST or PYOPENCL_TEST choose the devices (see docs/guide/pytest_plugin.md); without a device
these tests are skipped. A test file with its own ``ctx_factory``, or with
``pytest_generate_tests_for_pyopencl`` from pygpu or PyOpenCL, keeps it.

This module is beside the package, not in it: pytest imports it in every project of the
environment, and importing anything in the package would import pygpu and NumPy as well. They are
imported when a test requests a fixture.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import pygpu as cl


@pytest.fixture
def ctx_factory(request: pytest.FixtureRequest) -> Any:
    """Called, returns a new context on the device that this run of the test is for."""
    if hasattr(request, "param"):
        return request.param
    from pygpu._src.runtime.opencl.test_devices import device_parameters

    # A fixture of the same name has replaced this one and uses it: then there is one run only.
    first = device_parameters(["ctx_factory"])[0][0]
    if not isinstance(first, tuple):
        pytest.skip("no OpenCL device")
    return first[0]


@pytest.fixture
def pygpu_queue(ctx_factory: Any) -> Iterator[cl.CommandQueue]:
    """A command queue on a new context; its commands are finished when the test ends."""
    import pygpu as cl

    queue = cl.CommandQueue(ctx_factory())
    yield queue
    queue.finish()


def _is_ours(metafunc: pytest.Metafunc) -> bool:
    """Whether the test's ``ctx_factory`` is this plugin's and has no values yet."""
    if "ctx_factory" not in metafunc.fixturenames:
        return False
    if any("ctx_factory" in call.params for call in metafunc._calls):
        return False  # the plugin was loaded under both of its names
    definitions = getattr(metafunc, "_arg2fixturedefs", {}).get("ctx_factory")
    return not definitions or definitions[-1].func.__module__ == __name__


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test that takes this plugin's ``ctx_factory`` once for each device."""
    if _is_ours(metafunc):
        from pygpu._src.runtime.opencl.test_devices import device_parameters

        values, ids = device_parameters(["ctx_factory"])
        metafunc.parametrize(["ctx_factory"], values, ids=ids, indirect=True)
