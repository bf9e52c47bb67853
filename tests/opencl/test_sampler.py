"""Samplers: what kernels read outside of images and between pixels, against the specification."""

import gc
import weakref

import numpy as np
import pytest

import pygpu as cl
from pygpu import _opencl

MODE, FILTER, KEY = cl.addressing_mode, cl.filter_mode, cl.sampler_properties
MODES = sorted(MODE._members())


@pytest.fixture(autouse=True)
def needs_images(device, queue, balance):  # the queue is counted before and after
    if not device.image_support:
        pytest.skip("the device has no images, and so no samplers")


def make(ctx):
    return cl.Sampler(ctx, False, MODE.CLAMP, FILTER.NEAREST)


def test_attributes(ctx):
    sampler = make(ctx)
    assert sampler.normalized_coords is False
    assert sampler.addressing_mode == MODE.CLAMP
    assert sampler.filter_mode == FILTER.NEAREST
    assert sampler.context == ctx
    assert sampler.reference_count == 1
    assert sampler.get_info(cl.sampler_info.ADDRESSING_MODE) == MODE.CLAMP
    assert sampler.get_info(cl.sampler_info.CONTEXT) == ctx
    with pytest.raises(cl.LogicError):
        sampler.get_info(0x9999)
    with pytest.raises(TypeError):
        sampler.get_info("ADDRESSING_MODE")
    with pytest.raises(AttributeError):
        sampler.filter_mode = FILTER.LINEAR


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["NEAREST", "LINEAR"])
def test_all_modes(ctx, normalized, mode, kind):
    args = (normalized, getattr(MODE, mode), getattr(FILTER, kind))
    if "REPEAT" in mode and not normalized:
        with pytest.raises(ValueError, match="normalized"):
            cl.Sampler(ctx, *args)
        return
    sampler = cl.Sampler(ctx, *args)
    found = sampler.normalized_coords, sampler.addressing_mode, sampler.filter_mode
    assert found == args


def needs_properties(ctx, device):
    if float(device.version.split()[1]) < 2:
        with pytest.raises(cl.LogicError, match=r"OpenCL 2\.0"):
            cl.Sampler(ctx, [])
        pytest.skip("the device has OpenCL 1")


def test_properties(ctx, device):
    needs_properties(ctx, device)
    wanted = [KEY.NORMALIZED_COORDS, True, KEY.ADDRESSING_MODE, MODE.REPEAT]
    sampler = cl.Sampler(ctx, wanted)
    assert sampler.normalized_coords and sampler.addressing_mode == MODE.REPEAT
    assert sampler.filter_mode == FILTER.NEAREST  # the default
    again = cl.Sampler(ctx, (*wanted, 0))
    assert again.addressing_mode == MODE.REPEAT
    if float(device.version.split()[1]) >= 3:
        assert [int(n) for n in sampler.properties] == [*map(int, wanted), 0]
        assert cl.Sampler(ctx, sampler.properties).properties == sampler.properties
    default = cl.Sampler(ctx, ())
    assert (default.addressing_mode, default.filter_mode) == (MODE.CLAMP, FILTER.NEAREST)


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        ((), TypeError, "missing"),
        ((False, MODE.CLAMP), TypeError, "filter"),
        ((False, 1, FILTER.NEAREST), ValueError, "addressing = 1"),
        ((False, MODE.CLAMP, 2), ValueError, "filter = 2"),
        ((False, -1, FILTER.NEAREST), (OverflowError, ValueError), "addressing"),
        ((False, 2**40, FILTER.NEAREST), OverflowError, "addressing"),
        ((False, "CLAMP", FILTER.NEAREST), TypeError, "addressing"),
        ((False, None, FILTER.NEAREST), TypeError, "addressing"),
        ((False, MODE.CLAMP, FILTER.NEAREST, 1), TypeError, "at most"),
        ((5,), TypeError, "sequence"),
        (("abc",), TypeError, "sequence"),
        (([KEY.ADDRESSING_MODE],), ValueError, "pairs"),
        (([0, 0],), ValueError, "not a key"),
        (([KEY.ADDRESSING_MODE, 1],), ValueError, "addressing = 1"),
        (([KEY.FILTER_MODE, 1],), ValueError, "filter = 1"),
        (([KEY.NORMALIZED_COORDS, 0, KEY.ADDRESSING_MODE, MODE.REPEAT],), ValueError, "normalized"),
        (([KEY.FILTER_MODE, 1.5],), TypeError, "properties"),
        (([KEY.FILTER_MODE, -1],), OverflowError, "properties"),
        (([KEY.FILTER_MODE, FILTER.NEAREST] * 40,), ValueError, "80 entries"),
    ],
)
def test_misuse(ctx, args, error, text):
    with pytest.raises(error, match=text):
        cl.Sampler(ctx, *args)


def test_unknown_property(ctx, device):
    needs_properties(ctx, device)
    with pytest.raises(cl.LogicError):
        cl.Sampler(ctx, [0x9999, 1])
    with pytest.raises(TypeError, match="context"):
        cl.Sampler(None, False, MODE.CLAMP, FILTER.NEAREST)
    with pytest.raises(TypeError, match="nonsense"):
        cl.Sampler(ctx, False, MODE.CLAMP, nonsense=1)
    assert cl.Sampler(ctx, False, addressing=MODE.CLAMP, filter=FILTER.LINEAR).filter_mode


def test_level_of_detail(ctx, device):
    needs_properties(ctx, device)
    if "cl_khr_mipmap_image" not in device.extensions.split():
        with pytest.raises(cl.LogicError, match="lod_min"):
            _ = cl.Sampler(ctx, ()).lod_min
        pytest.skip("the device has no cl_khr_mipmap_image")
    sampler = cl.Sampler(
        ctx, [KEY.NORMALIZED_COORDS, 1, KEY.LOD_MIN_KHR, 1.5, KEY.LOD_MAX_KHR, 2.0]
    )
    assert (sampler.lod_min, sampler.lod_max) == (1.5, 2.0)


def test_identity(ctx):
    sampler = make(ctx)
    same = cl.Sampler.from_int_ptr(sampler.int_ptr)
    assert same == sampler and hash(same) == hash(sampler) and same.context == ctx
    assert sampler.reference_count == 2
    assert cl.Sampler(ctx, False, MODE.CLAMP, FILTER.NEAREST) != sampler
    assert sampler != 5 and sampler != sampler.int_ptr
    del same
    assert sampler.reference_count == 1
    for wrong in (0, -1, None, "x"):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            cl.Sampler.from_int_ptr(wrong)
    reference = weakref.ref(sampler)
    assert reference() is sampler


def test_keeps_its_context(device):
    sampler = cl.Sampler(cl.Context([device]), False, MODE.CLAMP, FILTER.NEAREST)
    gc.collect()
    assert sampler.context.devices == [device] and sampler.reference_count == 1


@pytest.mark.parametrize("code", [-30, -6])
def test_making_fails(ctx, device, code):
    modern = float(device.version.split()[1]) >= 2
    name = "clCreateSamplerWithProperties" if modern else "clCreateSampler"
    _opencl._fault(name, code, times=9)
    try:
        with pytest.raises(cl.Error, match=name) as caught:
            cl.Sampler(ctx, False, MODE.CLAMP, FILTER.NEAREST)
        assert caught.value.code == code
    finally:
        _opencl._fault(None, 0)


def test_wrapping_fails(ctx):
    sampler = make(ctx)
    for name in ("clRetainSampler", "clGetSamplerInfo"):
        _opencl._fault(name, -30)
        try:
            with pytest.raises(cl.Error, match=name):
                cl.Sampler.from_int_ptr(sampler.int_ptr)
        finally:
            _opencl._fault(None, 0)
    assert sampler.reference_count == 1


# ---- what kernels read -------------------------------------------------------------------------

SOURCE = """
kernel void sample(
    read_only image2d_t image, sampler_t s, global const float2 *at, global float4 *out)
{
    int i = get_global_id(0);
    out[i] = read_imagef(image, s, at[i]);
}
"""
WIDTH, HEIGHT = 5, 4


@pytest.fixture(scope="module")
def program(ctx, device):
    return cl.Program(ctx, SOURCE).build() if device.image_support else None


def sample(queue, program, sampler, pixels, at):
    ctx = queue.context
    out = np.empty((len(at), 4), np.float32)
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    points = cl.Buffer(ctx, flags, hostbuf=at)
    result = cl.Buffer(ctx, cl.mem_flags.WRITE_ONLY, out.nbytes)
    image = cl.image_from_array(ctx, pixels, 4)
    cl.Kernel(program, "sample")(queue, (len(at),), None, image, sampler, points, result)
    cl.enqueue_copy(queue, out, result)
    return out


def wrapped(mode, u, size):
    """Coordinate in pixels as the specification (8.2) maps it, from one in pixels."""
    s = u / size
    if mode == "REPEAT":
        return (s - np.floor(s)) * size
    if mode == "MIRRORED_REPEAT":
        return np.abs(s - 2 * np.rint(s / 2)) * size
    return u


def fetch(mode, pixels, x, y):
    """Pixels at integer coordinates, those outside by the mode."""
    if mode == "REPEAT":
        x, y = x % WIDTH, y % HEIGHT
    inside = (x >= 0) & (x < WIDTH) & (y >= 0) & (y < HEIGHT)
    found = pixels[np.clip(y, 0, HEIGHT - 1), np.clip(x, 0, WIDTH - 1)]
    return np.where(inside[:, None], found, 0) if mode == "CLAMP" else found


def expected(mode, kind, pixels, at):
    """What read_imagef gives at coordinates in pixels."""
    u, v = wrapped(mode, at[:, 0], WIDTH), wrapped(mode, at[:, 1], HEIGHT)
    if kind == "NEAREST":
        return fetch(mode, pixels, np.floor(u).astype(int), np.floor(v).astype(int))
    x, y = np.floor(u - 0.5).astype(int), np.floor(v - 0.5).astype(int)
    a, b = (u - 0.5 - x)[:, None], (v - 0.5 - y)[:, None]
    return (
        (1 - a) * (1 - b) * fetch(mode, pixels, x, y)
        + a * (1 - b) * fetch(mode, pixels, x + 1, y)
        + (1 - a) * b * fetch(mode, pixels, x, y + 1)
        + a * b * fetch(mode, pixels, x + 1, y + 1)
    )


@pytest.mark.parametrize("kind", ["NEAREST", "LINEAR"])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "NONE"])
def test_kernel_reads(ctx, queue, program, mode, normalized, kind):
    if "REPEAT" in mode and not normalized:
        return  # refused, see test_all_modes
    rng = np.random.default_rng(3)
    pixels = rng.random((HEIGHT, WIDTH, 4), np.float32)
    size = np.array([WIDTH, HEIGHT])
    at = rng.uniform(-1.4, 2.4, (500, 2)) * size
    # Away from the borders between pixels, where rounding decides
    at = at[(np.abs(at - np.rint(at)) > 1e-3).all(1)]
    given = (at / size if normalized else at).astype(np.float32)
    sampler = cl.Sampler(ctx, normalized, getattr(MODE, mode), getattr(FILTER, kind))
    out = sample(queue, program, sampler, pixels, given)
    tolerance = 0 if kind == "NEAREST" else 2e-5
    if kind == "LINEAR" and ctx.devices[0].type & cl.device_type.GPU:
        # Image units know where a point lies between two pixels to 8 bits: half a bit wrong in each
        # of the two directions, where pixels differ by at most 1.
        tolerance += 2 * 2**-9
    assert np.abs(out - expected(mode, kind, pixels, at)).max() <= tolerance
