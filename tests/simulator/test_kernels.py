"""Kernels for single features of CUDA C++; kernel_files.py says how they are written.

They run on the simulator or, with PYGPU_CUDA=driver, on a GPU.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import cuda_by_ctypes as cuda  # noqa: E402
import kernel_files  # noqa: E402

CASES = kernel_files.read_all()


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYGPU_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
            yield cuda.open_driver()
    except (OSError, cuda.CudaError) as error:
        pytest.skip(f"no CUDA driver and no simulator: {error}")


@pytest.fixture(scope="module")
def nvrtc():
    library = cuda.open_nvrtc()
    if library is None:
        pytest.skip("NVIDIA's NVRTC is not installed")
    return library


def compare(case, name, got, expected, initial):
    expected = np.broadcast_to(np.asarray(expected), got.shape)
    rtol, atol, ulp = (case.setting(key, 0) for key in ("rtol", "atol", "ulp"))
    where = f"{case.file}.cu:{case.line}: {name}"
    if ulp:
        np.testing.assert_array_max_ulp(got, expected.astype(got.dtype), ulp)
    elif rtol or atol:
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol, err_msg=where)
    else:
        np.testing.assert_array_equal(got, expected.astype(got.dtype), err_msg=where)


def run(driver, case):
    names = case.namespace()
    made, arguments = {}, []
    for kind, name, expression in case.arguments:
        value = eval(expression, names)
        if kind == "texture":
            made[name] = cuda.Texture(driver, **value)
            arguments.append(made[name].value)
        elif kind == "surface":
            made[name] = cuda.Surface(driver, **value)
            arguments.append(made[name].value)
            value = value["data"]
        elif isinstance(value, np.ndarray):
            made[name] = driver.to_device(value)
            arguments.append(made[name].address)
        else:
            arguments.append(value)
        names[name] = value
    module = driver.module(case.source, case.options)
    module.launch(
        case.settings.get("kernel", "k"),
        case.setting("grid", 1),
        case.setting("block", 32),
        arguments,
        shared=case.setting("shared", 0),
        cooperative=case.setting("cooperative", False),
    )
    results = {
        name: made[name].get() for kind, name, _ in case.arguments if kind in ("out", "surface")
    }
    try:
        for name, got in results.items():
            if name in case.expects:
                compare(case, name, got, eval(case.expects[name], names), names[name])
        for check in case.checks:
            assert eval(check, {**names, **results}), f"{case.file}.cu:{case.line}: {check}"
    finally:
        module.unload()
        for holder in made.values():
            holder.free()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_kernel(driver, case):
    if not driver.simulated and "simulator" in case.settings:
        pytest.skip("is about the simulator alone")
    run(driver, case)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_kernel_is_valid_cuda(nvrtc, case):
    """NVIDIA's compiler takes the same text."""
    if "simulator" in case.settings:
        pytest.skip("is about the simulator alone")
    nvrtc.compile(case.source, ("-arch=sm_90", *cuda.toolkit_options(), *case.options))


def test_every_case_compares_something():
    for case in CASES:
        assert case.expects or case.checks, case.id
        written = {name for kind, name, _ in case.arguments if kind in ("out", "surface")}
        assert set(case.expects) <= written, case.id
    assert len({case.id for case in CASES}) == len(CASES)
    assert len(CASES) >= 100
