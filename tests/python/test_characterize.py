"""pygpu.characterize: the answers for this machine's devices, and for devices that no machine
here has.
"""

import types
import warnings

import numpy as np
import pytest

import pygpu as cl
from pygpu import characterize
from pygpu.characterize import performance

GUESS = characterize.CLCharacterizationWarning


def fake_device(**properties):
    """A device that answers only what is given; other queries fail as an unknown one does."""
    platform = types.SimpleNamespace(
        name=properties.pop("platform_name", "Other"),
        vendor=properties.pop("platform_vendor", "Somebody"),
        version=properties.pop("platform_version", "OpenCL 2.0"),
    )
    properties.setdefault("name", "thing")
    properties.setdefault("vendor", "Somebody")
    properties.setdefault("type", cl.device_type.GPU)
    properties.setdefault("extensions", "")
    properties.setdefault("local_mem_size", 48 * 1024)
    properties.setdefault("local_mem_type", cl.device_local_mem_type.LOCAL)
    return types.SimpleNamespace(platform=platform, **properties)


def nvidia(major, minor=0, **properties):
    return fake_device(
        vendor="NVIDIA Corporation",
        warp_size_nv=32,
        compute_capability_major_nv=major,
        compute_capability_minor_nv=minor,
        **properties,
    )


CPU = {"type": cl.device_type.CPU}
AMD = {"vendor": "Advanced Micro Devices, Inc."}


# --- this machine


def test_real_device_answers(device, ctx):
    """Every question is answered with the right type, whatever the device."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GUESS)
        for name in characterize.__all__:
            if not name.startswith("has_"):
                continue
            allowed = (bool, type(None)) if name == "has_src_build_cache" else (bool, str)
            assert isinstance(getattr(characterize, name)(device), allowed), name
        assert characterize.reasonable_work_group_size_multiple(device, ctx) >= 1
        assert characterize.usable_local_mem_size(device) <= device.local_mem_size
        assert characterize.local_memory_access_granularity(device) == 4
        assert characterize.simultaneous_work_items_on_local_access(device) >= 1


def test_double_support_is_what_the_compiler_says(device, ctx):
    source = "__kernel void k(__global double *x) { x[0] *= 2; }"
    try:
        cl.Program(ctx, source).build()
        builds = True
    except cl.RuntimeError:
        builds = False
    assert characterize.has_double_support(device) is builds


def test_multiple_is_the_kernels(device, ctx):
    kernel = cl.Program(ctx, "__kernel void k() {}").build().k
    key = cl.kernel_work_group_info.PREFERRED_WORK_GROUP_SIZE_MULTIPLE
    expected = kernel.get_work_group_info(key, device)
    assert characterize.reasonable_work_group_size_multiple(device) == expected


def test_coarse_svm_is_usable_where_promised(device, ctx, queue):
    if not characterize.has_coarse_grain_buffer_svm(device):
        pytest.skip(f"{device.name} has no shared virtual memory")
    array = cl.csvm_empty(ctx, 10, np.float32)
    with cl.SVM(array).map_rw(queue) as mapped:
        mapped.fill(3)
    program = cl.Program(
        ctx, "__kernel void k(__global float *x) { x[get_global_id(0)] += 1; }"
    ).build()
    program.k(queue, (10,), None, cl.SVM(array))
    with cl.SVM(array).map_ro(queue) as mapped:
        assert (mapped == 4).all()


def test_build_options_build(device, ctx):
    options = characterize.get_fast_inaccurate_build_options(device)
    assert "-cl-fast-relaxed-math" in options
    cl.Program(ctx, "__kernel void k(__global float *x) { x[0] = sin(x[0]); }").build(options)


def test_pocl_version(device):
    version = characterize.get_pocl_version(device.platform)
    if device.platform.name == "Portable Computing Language":
        assert version >= (1, 0)
        assert f"{version[0]}.{version[1]}" in device.platform.version
    else:
        assert version is None


def test_no_struct_arg_bug_here(device, ctx):
    source = "struct two { long a, b; }; __kernel void k(struct two x) { }"
    counts_two = cl.Program(ctx, source).build().k.num_args == 2
    assert bool(characterize.has_struct_arg_count_bug(device, ctx)) is counts_two


# --- other machines


def test_pocl_version_texts():
    def platform(version):
        return types.SimpleNamespace(name="Portable Computing Language", version=version)

    assert characterize.get_pocl_version(platform("OpenCL 1.2 pocl 0.14")) == (0, 14)
    assert characterize.get_pocl_version(platform("OpenCL 3.0 PoCL 10.23+debian x")) == (10, 23)
    with pytest.warns(GUESS, match="PoCL's version"):
        assert characterize.get_pocl_version(platform("OpenCL 9"), (1, 2)) == (1, 2)


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        (fake_device(platform_name="Apple", **CPU), "apple"),
        (fake_device(platform_name="Apple"), False),
        (
            fake_device(
                platform_name="Portable Computing Language", platform_version="OpenCL 1.2 pocl 0.13"
            ),
            "pocl",
        ),
        (fake_device(), False),
    ],
)
def test_struct_arg_bug(device, expected):
    assert characterize.has_struct_arg_count_bug(device) == expected


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        (nvidia(7), 32),
        (fake_device(platform_vendor="NVIDIA Corporation"), 32),
        (fake_device(**CPU), 1),
        (fake_device(**AMD, **CPU), 1),
        (fake_device(**AMD, wavefront_width_amd=64), 64),
        (fake_device(vendor="Rational Atims"), None),
    ],
)
def test_simd_group_size(device, expected):
    assert characterize.get_simd_group_size(device, 4) == expected


def test_capability_and_local_memory():
    assert characterize.nv_compute_capability(nvidia(8, 6)) == (8, 6)
    assert characterize.nv_compute_capability(fake_device()) is None
    old = nvidia(1, 3, local_mem_size=16384)
    assert characterize.usable_local_mem_size(old) == 16384 - 256
    assert characterize.usable_local_mem_size(old, nargs=10) == 16384 - 40
    assert characterize.usable_local_mem_size(nvidia(9), nargs=10) == 48 * 1024
    assert characterize.local_memory_bank_count(old) == 16
    assert characterize.local_memory_bank_count(nvidia(8)) == 32
    assert characterize.simultaneous_work_items_on_local_access(old) == 16
    assert characterize.simultaneous_work_items_on_local_access(fake_device(**CPU)) == 1
    with pytest.warns(GUESS):
        assert characterize.local_memory_bank_count(fake_device()) == 16
    with pytest.warns(GUESS):
        assert characterize.simultaneous_work_items_on_local_access(fake_device()) == 16
    cached = fake_device(local_mem_type=cl.device_local_mem_type.GLOBAL, **CPU)
    with pytest.raises(RuntimeError, match="no banks"):
        characterize.local_memory_bank_count(cached)


@pytest.mark.parametrize(
    ("shape", "stored", "multiplicity"),
    [
        ((32, 32), None, 32),  # a column of a square tile: every entry in the same bank
        ((32, 32), (32, 33), 1),  # the classic remedy
        ((32, 32), (32, 34), 2),
        ((32, 16), None, 16),
        ((64,), None, 1),
        ((4, 4), None, 1),
    ],
)
def test_bank_conflicts(shape, stored, multiplicity):
    found, text = characterize.why_not_local_access_conflict_free(nvidia(8), 4, shape, stored)
    assert found == multiplicity
    assert (text is None) == (multiplicity == 1)
    if text:
        assert f"{multiplicity}x conflict on axis 1" in text


def test_bank_conflicts_of_other_sizes():
    with pytest.warns(GUESS, match="4 bytes, not 8"):
        assert characterize.why_not_local_access_conflict_free(nvidia(8), 8, (32,))[0] == 2
    with pytest.raises(ValueError, match="different numbers of axes"):
        characterize.why_not_local_access_conflict_free(nvidia(8), 4, (32, 32), (32,))


def test_doubles_svm_and_caches_elsewhere():
    assert characterize.has_double_support(fake_device(extensions="cl_khr_fp64 cl_khr_x"))
    assert not characterize.has_double_support(fake_device(extensions="cl_khr_fp64_not"))
    assert characterize.has_double_support(fake_device(double_fp_config=63))
    assert characterize.has_amd_double_support(fake_device(extensions="a cl_amd_fp64"))
    assert not characterize.has_amd_double_support(fake_device(extensions="cl_khr_fp64"))
    flags = cl.device_svm_capabilities
    fine = fake_device(svm_capabilities=flags.COARSE_GRAIN_BUFFER | flags.FINE_GRAIN_BUFFER)
    assert characterize.has_coarse_grain_buffer_svm(fine) is True
    assert characterize.has_fine_grain_buffer_svm(fine) is True
    assert characterize.has_fine_grain_buffer_svm_atomics(fine) is False
    assert characterize.has_fine_grain_system_svm(fine) is False
    everything = fake_device(svm_capabilities=15)
    assert characterize.has_fine_grain_system_svm_atomics(everything) is True
    assert characterize.has_coarse_grain_buffer_svm(fake_device()) is False
    amd = fake_device(platform_name="AMD Accelerated Parallel Processing")
    assert characterize.has_src_build_cache(amd) is False
    assert characterize.has_src_build_cache(nvidia(8)) is True
    assert characterize.has_src_build_cache(fake_device()) is None
    assert "-cl-strict-aliasing" in characterize.get_fast_inaccurate_build_options(
        fake_device(**AMD)
    )


# --- performance


class CountingTimer(performance.Timer):
    """Says that each run takes exactly a millisecond, and counts what it is told."""

    runs = 0

    def start(self):
        self.events = 0

    def add_event(self, evt):
        self.events += 1
        CountingTimer.runs += 1

    def get_elapsed(self):
        return self.events * 1e-3


def test_times_are_per_run(queue):
    CountingTimer.runs = 0
    transfer = performance.DeviceToDeviceTransfer
    assert performance.transfer_latency(queue, transfer, CountingTimer) == pytest.approx(1e-3)
    assert CountingTimer.runs >= 100, "a tenth of a second takes a hundred runs"
    rate = performance.transfer_bandwidth(queue, transfer, 4096, CountingTimer)
    assert rate == pytest.approx(4096 / 1e-3)


def test_transfers_copy(queue):
    for kind in (performance.HostToDeviceTransfer, performance.DeviceToHostTransfer):
        transfer = kind(queue, 100)
        assert transfer.host_buf.nbytes == transfer.dev_buf.size == 100
        transfer.host_buf[:] = 7
        if kind is performance.DeviceToHostTransfer:
            cl.enqueue_fill_buffer(queue, transfer.dev_buf, np.uint8(9), 0, 100)
        transfer.do().wait()
        back = np.zeros(100, np.uint8)
        cl.enqueue_copy(queue, back, transfer.dev_buf)
        np.testing.assert_array_equal(back, transfer.host_buf)


def test_bases_do_not_pretend(queue):
    with pytest.raises(NotImplementedError):
        performance.Timer(queue).get_elapsed()
    with pytest.raises(NotImplementedError):
        performance.HostDeviceTransferBase(queue, 1).do()


def test_measured_figures_are_plausible(ctx, queue):
    assert 1e-8 < performance.get_empty_kernel_time(queue) < 0.1
    extra, profiled = performance.get_profiling_overhead(ctx)
    assert 0 < profiled < 0.1 and extra < profiled
    rate = performance.transfer_bandwidth(queue, performance.HostToDeviceTransfer, 2**20)
    assert 1e6 < rate < 1e13


def test_add_rate(queue):
    """Two types, so that the source is seen to depend on it; at least ten million additions per
    second.
    """
    for scalar in ("float", "int"):
        assert 1e7 < performance.get_add_rate(queue, scalar) < 1e16


def test_what_is_not_a_device():
    """It has none of the properties asked for, which would read as a no."""
    for name in ("has_double_support", "has_fine_grain_system_svm", "local_memory_bank_count"):
        for wrong in (None, 5, "a"):
            with pytest.raises(TypeError, match=f"{name}: dev must be a Device, not"):
                getattr(characterize, name)(wrong)
