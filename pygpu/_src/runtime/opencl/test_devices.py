"""Runs a test on every OpenCL device: ``ctx_factory`` and related fixtures for pytest.

The environment variable PYGPU_TEST, or PYOPENCL_TEST, chooses the devices: entries
``platform:device,device`` joined by ``;``, each an index or part of a name or vendor.
``0:0,1;portable`` is the first two devices of the first platform and all devices of the one called
"Portable Computing Language".
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pygpu._src.util.memoize import clear_first_arg_caches

if TYPE_CHECKING:
    import pytest

    from pygpu import _opencl as cl

_VARIABLES = ("PYGPU_TEST", "PYOPENCL_TEST")
_ARGUMENT_NAMES = ("platform", "device", "ctx_factory", "ctx_getter")


class ContextFactory:
    """Makes a new context on one device when called: a test's ``ctx_factory``."""

    def __init__(self, device: cl.Device) -> None:
        self.device = device

    def __call__(self) -> cl.Context:
        from pygpu import _opencl as cl  # collecting tests must not load a driver

        # Free contexts of earlier tests first: some drivers allow only a few at a time.
        clear_first_arg_caches()
        gc.collect()
        return cl.Context([self.device])

    def __str__(self) -> str:
        # Without an address, so that pytest-xdist's workers agree on the names of the tests.
        return (
            f"<context factory for <pygpu.Device '{self.device.name.strip()}' "
            f"on '{self.device.platform.name.strip()}'>>"
        )


def _find(candidates: Sequence[Any], wanted: str, kind: str, spec: str) -> Any:
    """Return the candidate with index *wanted*, or the first one whose name or vendor contains
    it."""
    wanted = wanted.strip()
    if wanted.isdecimal():
        if int(wanted) < len(candidates):
            return candidates[int(wanted)]
    else:
        for candidate in candidates:
            if wanted.lower() in f"{candidate.name} {candidate.vendor}".lower():
                return candidate
    names = ", ".join(repr(candidate.name) for candidate in candidates) or "none"
    raise RuntimeError(f"{kind} '{wanted}' of '{spec}' not found; there are: {names}")


def get_test_platforms_and_devices(
    plat_dev_string: str | None = None,
) -> list[tuple[cl.Platform, list[cl.Device]]]:
    """Return the devices to test on, as (platform, devices) pairs.

    plat_dev_string: like ``0:0,1;intel:i5``, see this module's docstring; None reads PYGPU_TEST or
    else PYOPENCL_TEST, and if both are unset or empty, uses all devices. Raises RuntimeError if a
    part of the string matches nothing or has more than one colon.
    """
    from pygpu import _opencl as cl  # collecting tests must not load a driver

    if plat_dev_string is None:
        plat_dev_string = next(filter(None, map(os.environ.get, _VARIABLES)), None)
    platforms = cl.get_platforms()
    if not plat_dev_string:
        return [(platform, platform.get_devices()) for platform in platforms]
    chosen = []
    for entry in plat_dev_string.split(";"):
        platform_part, colon, device_part = entry.partition(":")
        if ":" in device_part:
            raise RuntimeError(
                f"invalid syntax of PYOPENCL_TEST: '{entry}' is not 'platform:device,device'"
            )
        platform = _find(platforms, platform_part, "platform", plat_dev_string)
        devices = platform.get_devices()
        if colon:
            devices = [
                _find(devices, part, "device", plat_dev_string) for part in device_part.split(",")
            ]
        chosen.append((platform, devices))
    return chosen


def get_pyopencl_fixture_arg_names(
    metafunc: pytest.Metafunc, extra_arg_names: list[str] | None = None
) -> list[str]:
    """Return those of platform, device, ctx_factory, ctx_getter and *extra_arg_names* that a test
    requests."""
    return [
        name
        for name in (*_ARGUMENT_NAMES, *(extra_arg_names or ()))
        if name in metafunc.fixturenames
    ]


def get_pyopencl_fixture_arg_values() -> tuple[list[dict[str, Any]], Callable[[Any], str]]:
    """Return the values of those arguments for each device, and the function for their test ids."""
    values = []
    for platform, devices in get_test_platforms_and_devices():
        for device in devices:
            factory = ContextFactory(device)
            values.append(
                {
                    "platform": platform,
                    "device": device,
                    "ctx_factory": factory,
                    "ctx_getter": factory,
                }
            )
    return values, _test_id


def _test_id(value: Any) -> str:
    if isinstance(value, ContextFactory):
        return str(value)
    kind = type(value).__name__
    name = getattr(value, "name", None)
    return f"<pygpu.{kind} '{name.strip()}'>" if isinstance(name, str) else str(value)


def pytest_generate_tests_for_pyopencl(metafunc: pytest.Metafunc) -> None:
    """Run every test that takes *ctx_factory*, *device* or *platform* once for each OpenCL device.

    In a test file or in conftest.py::

        from pygpu.tools import pytest_generate_tests_for_pyopencl as pytest_generate_tests

    Without any device such tests are skipped, and the reason says what the driver loader found.
    """
    names = get_pyopencl_fixture_arg_names(metafunc)
    if names:
        values, ids = device_parameters(names)
        metafunc.parametrize(names, values, ids=ids)


def device_parameters(names: Sequence[str]) -> tuple[list[Any], Callable[[Any], str]]:
    """Return the values for ``Metafunc.parametrize`` after *names*: a tuple for each device, or
    one that is skipped if there is no device."""
    import pytest  # pygpu does not depend on it

    from pygpu.errors import Error

    try:
        values, ids = get_pyopencl_fixture_arg_values()
        reason = "no OpenCL device"
    except Error as error:
        values, ids, reason = [], _test_id, f"no OpenCL device: {error}"
    if not values:
        return [pytest.param(*[None] * len(names), marks=pytest.mark.skip(reason=reason))], ids
    return [tuple(value[name] for name in names) for value in values], ids
