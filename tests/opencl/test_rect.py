"""Copies of boxes against NumPy's slicing, with pitches and origins drawn at random."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pygpu as cl
from pygpu import _opencl

mf = cl.mem_flags
RELAXED = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def queue(ctx):
    return cl.CommandQueue(ctx)


class Side:
    """A box in bytes: where it begins, the pitches, and the bytes around it."""

    def __init__(self, draw, region):
        self.origin = tuple(draw(st.integers(0, 5)) for _ in range(3))
        rows = draw(st.integers(region[1], region[1] + 3))  # rows in a slice
        self.row = max(region[0] + draw(st.integers(0, 7)), 1)
        self.slice = self.row * rows
        last = (
            self.origin[0]
            + (self.origin[1] + region[1] - 1) * self.row
            + (self.origin[2] + region[2] - 1) * self.slice
        )
        self.size = last + region[0] + draw(st.integers(0, 9))
        seed = draw(st.integers(0, 2**16))
        self.bytes = np.random.default_rng(seed).integers(0, 256, self.size, dtype=np.uint8)
        self.region = region

    def box(self, bytes_):
        """The region as a view of the given bytes."""
        start = self.origin[0] + self.origin[1] * self.row + self.origin[2] * self.slice
        return np.lib.stride_tricks.as_strided(
            bytes_[start:], self.region[::-1], (self.slice, self.row, 1)
        )

    @property
    def pitches(self):
        return (self.row, self.slice)


@st.composite
def two_sides(draw):
    region = tuple(draw(st.integers(1, n)) for n in (9, 5, 4))
    return region, Side(draw, region), Side(draw, region)


@RELAXED
@given(two_sides(), st.booleans())
def test_to_the_host(ctx, queue, sides, blocking):
    region, device, host = sides
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=device.bytes)
    result = host.bytes.copy()
    cl.enqueue_copy(
        queue, result, buffer, buffer_origin=device.origin, host_origin=host.origin, region=region,
        buffer_pitches=device.pitches, host_pitches=host.pitches, is_blocking=blocking,
    ).wait()  # fmt: skip
    expected = host.bytes.copy()
    host.box(expected)[...] = device.box(device.bytes)
    assert (result == expected).all()


@RELAXED
@given(two_sides(), st.booleans())
def test_to_the_device(ctx, queue, sides, blocking):
    region, device, host = sides
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=device.bytes)
    cl.enqueue_copy(
        queue, buffer, host.bytes, buffer_origin=device.origin, host_origin=host.origin,
        region=region, buffer_pitches=device.pitches, host_pitches=host.pitches,
        is_blocking=blocking,
    ).wait()  # fmt: skip
    result = np.empty_like(device.bytes)
    cl.enqueue_copy(queue, result, buffer)
    expected = device.bytes.copy()
    device.box(expected)[...] = host.box(host.bytes)
    assert (result == expected).all()


@RELAXED
@given(two_sides())
def test_between_buffers(ctx, queue, sides):
    region, a, b = sides
    source = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=a.bytes)
    target = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=b.bytes)
    cl.enqueue_copy(
        queue,
        target,
        source,
        src_origin=a.origin,
        dst_origin=b.origin,
        region=region,
        src_pitches=a.pitches,
        dst_pitches=b.pitches,
    )
    result = np.empty_like(b.bytes)
    cl.enqueue_copy(queue, result, target)
    expected = b.bytes.copy()
    b.box(expected)[...] = a.box(a.bytes)
    assert (result == expected).all()


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_defaults(ctx, queue, dims):
    """Without pitches the box is packed; missing numbers are origin 0 and size 1."""
    region = (6, 3, 2)[:dims]
    n = int(np.prod(region))
    host = np.arange(n, dtype=np.uint8)
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(n, np.uint8))
    zeros = (0,) * dims
    cl.enqueue_copy(queue, buffer, host, buffer_origin=zeros, host_origin=zeros, region=region)
    result = np.zeros(n, np.uint8)
    cl.enqueue_copy(
        queue,
        result,
        buffer,
        buffer_origin=(),
        host_origin=[],
        region=np.array(region),
        host_pitches=None,
        buffer_pitches=(),
    )
    assert (result == host).all()
    other = cl.Buffer(ctx, mf.READ_WRITE, n)
    cl.enqueue_copy(queue, other, buffer, src_origin=zeros, dst_origin=zeros, region=region)
    cl.enqueue_copy(queue, result, other)
    assert (result == host).all()


def test_part_of_a_matrix(ctx, queue):
    """What the feature is for: rows and columns of an array of several bytes an item."""
    matrix = np.arange(20 * 30, dtype=np.float32).reshape(20, 30)
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=matrix)
    part = np.zeros((7, 11), np.float32)
    cl.enqueue_copy(
        queue,
        part,
        buffer,
        buffer_origin=(4 * 5, 3),
        host_origin=(0, 0),
        region=(4 * 11, 7),
        buffer_pitches=(4 * 30,),
    )
    assert (part == matrix[3:10, 5:16]).all()


GOOD = dict(
    buffer_origin=(0, 0, 0),
    host_origin=(0, 0, 0),
    region=(4, 2, 2),
    buffer_pitches=(8, 32),
    host_pitches=(8, 32),
)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"region": (0, 1, 1)}, ValueError), ({"region": (4, 0, 1)}, ValueError),
        ({"region": (4, 2, 0)}, ValueError), ({"region": ()}, None),
        ({"region": (9, 2, 2)}, ValueError), ({"region": (8, 5, 2)}, ValueError),
        ({"region": (4, 2, 3)}, ValueError), ({"region": (4, 2, 2, 1)}, ValueError),
        ({"region": (-1, 1, 1)}, ValueError), ({"region": (2**63, 1, 1)}, OverflowError),
        ({"region": (2**62, 2**62, 2**62)}, ValueError), ({"region": "abc"}, TypeError),
        ({"region": (1.0, 1, 1)}, TypeError), ({"region": None}, None),
        ({"buffer_origin": (5, 3, 1)}, ValueError),
        ({"buffer_origin": (0, 0, 2**63 - 1)}, ValueError), ({"buffer_origin": (64,)}, ValueError),
        ({"buffer_origin": (-1, 0, 0)}, ValueError), ({"host_origin": (5, 3, 1)}, ValueError),
        ({"host_origin": (2**63 - 1, 2**63 - 1)}, ValueError),
        ({"buffer_pitches": (3, 32)}, ValueError), ({"buffer_pitches": (8, 31)}, ValueError),
        ({"buffer_pitches": (8, 8)}, ValueError),
        ({"buffer_pitches": (2**62, 2**63 - 1)}, ValueError),
        ({"buffer_pitches": (2**62, 0)}, ValueError), ({"host_pitches": (9, 32)}, ValueError),
        ({"host_pitches": (8, 32, 3)}, ValueError), ({"host_pitches": ("8",)}, TypeError),
        ({"byte_count": 3}, TypeError), ({"src_origin": (0, 0, 0)}, TypeError),
        ({"wait_for": [1]}, TypeError),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_origins_regions_and_pitches_are_refused(ctx, queue, change, error):
    before = np.arange(64, dtype=np.uint8)
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=before)
    host = np.full(64, 200, np.uint8)
    keywords = {**GOOD, **change}
    if error is None:
        cl.enqueue_copy(queue, host, buffer, **keywords)
        assert host[0] == 0 and (host[1:] == 200).all()
        return
    with pytest.raises(error):
        cl.enqueue_copy(queue, host, buffer, **keywords)
    with pytest.raises(error):
        cl.enqueue_copy(queue, buffer, host, **keywords)
    assert (host == 200).all()
    names = {
        "buffer_origin": "src_origin",
        "host_origin": "dst_origin",
        "buffer_pitches": "src_pitches",
        "host_pitches": "dst_pitches",
    }
    other = cl.Buffer(ctx, mf.READ_WRITE, 64)
    if "src_origin" not in change:
        with pytest.raises(error):
            cl.enqueue_copy(
                queue, other, buffer, **{names.get(k, k): v for k, v in keywords.items()}
            )
    result = np.empty_like(before)
    cl.enqueue_copy(queue, result, buffer)
    assert (result == before).all()


@pytest.mark.parametrize("missing", ["buffer_origin", "host_origin", "region"])
def test_missing_keywords(ctx, queue, missing):
    buffer, host = cl.Buffer(ctx, mf.READ_WRITE, 64), np.zeros(64, np.uint8)
    keywords = {k: v for k, v in GOOD.items() if k != missing}
    with pytest.raises(TypeError, match=f"needs the keyword argument '{missing}'"):
        cl.enqueue_copy(queue, host, buffer, **keywords)


def test_refused_memory(ctx, device, queue):
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 64)
    read_only = np.zeros(64, np.uint8)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        cl.enqueue_copy(queue, read_only, buffer, **GOOD)
    cl.enqueue_copy(queue, buffer, read_only, **GOOD)
    with pytest.raises(ValueError, match="contiguous"):
        cl.enqueue_copy(queue, buffer, np.zeros(128, np.uint8)[::2], **GOOD)
    foreign = cl.Buffer(cl.Context([device]), mf.READ_WRITE, 64)
    with pytest.raises(cl.LogicError, match="another context"):
        cl.enqueue_copy(queue, foreign, read_only, **GOOD)
    buffer.release()
    with pytest.raises(cl.LogicError, match="released"):
        cl.enqueue_copy(queue, buffer, read_only, **GOOD)


def test_overlap_within_a_buffer_is_refused(ctx, queue):
    """The driver must not be asked to copy a box onto itself."""
    data = np.arange(64, dtype=np.uint8)
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=data)
    place = dict(region=(4, 3), src_pitches=(8,), dst_pitches=(8,))
    cl.enqueue_copy(
        queue, buffer, buffer, src_origin=(0, 0), dst_origin=(4, 1), **place
    )  # side by side
    matrix = data.reshape(8, 8)
    matrix[1:4, 4:] = matrix[:3, :4].copy()
    result = np.empty_like(data)
    cl.enqueue_copy(queue, result, buffer)
    assert (result == data).all()
    for origin in [(0, 0), (1, 0), (3, 2), (0, 1)]:
        with pytest.raises(cl.Error, match="OVERLAP"):
            cl.enqueue_copy(queue, buffer, buffer, src_origin=(0, 0), dst_origin=origin, **place)


def bytes_of(origin, region, pitches):
    """The places of all bytes of a box."""
    x, y, z = (np.arange(n) for n in region)
    start = origin[0] + origin[1] * pitches[0] + origin[2] * pitches[1]
    return (start + x + (y * pitches[0])[:, None] + (z * pitches[1])[:, None, None]).ravel()


@RELAXED
@given(st.data())
def test_overlap_is_found_exactly(ctx, queue, data):
    """Against the bytes themselves; the data tell that nothing was copied, or the right bytes."""
    draw = data.draw
    region = tuple(draw(st.integers(1, n)) for n in (6, 4, 3))
    row = region[0] + draw(st.integers(0, 7))
    pitches = (row, row * (region[1] + draw(st.integers(0, 3))))
    origins = [tuple(draw(st.integers(0, 9)) for _ in range(3)) for _ in range(2)]
    source, target = (bytes_of(origin, region, pitches) for origin in origins)
    size = 1 + int(max(source.max(), target.max())) + draw(st.integers(0, 3))
    before = np.random.default_rng(7).integers(0, 256, size, dtype=np.uint8)
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=before)
    keywords = dict(src_origin=origins[0], dst_origin=origins[1], region=region)
    keywords |= dict(src_pitches=pitches, dst_pitches=pitches)
    if np.intersect1d(source, target).size:
        with pytest.raises(cl.RuntimeError, match="OVERLAP"):
            cl.enqueue_copy(queue, buffer, buffer, **keywords)
        expected = before
    else:
        expected = before.copy()
        try:
            cl.enqueue_copy(queue, buffer, buffer, **keywords)
            expected[target] = before[source]
        except cl.Error as error:  # drivers may be more careful than they need to be
            assert error.code == cl.status_code.MEM_COPY_OVERLAP
            assert not isinstance(error, ValueError), "found by pygpu itself"
    result = np.empty_like(before)
    cl.enqueue_copy(queue, result, buffer)
    assert (result == expected).all()


def test_pitches_of_one_buffer_are_the_same(ctx, queue):
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 64)
    for pitches in [{"src_pitches": (4,), "dst_pitches": (8,)}, {"dst_pitches": (4, 16)}]:
        with pytest.raises(ValueError, match="must be the same"):
            cl.enqueue_copy(
                queue, buffer, buffer, src_origin=(0,), dst_origin=(32,), region=(4, 2), **pitches
            )


# Boxes whose last row or slice is followed by a gap that reaches past the end of the buffer.
TIGHT = [
    ((4, 2, 1), (0, 0, 0), (8, 16)),
    ((4, 2, 1), (2, 1, 0), (8, 64)),
    ((4, 2, 1), (1, 0, 3), (8, 16)),
    ((4, 3, 1), (0, 0, 0), (5, 0)),
    ((4, 1, 2), (0, 0, 0), (8, 16)),
    ((4, 2, 2), (0, 0, 0), (8, 32)),
    ((4, 2, 3), (3, 1, 1), (8, 32)),
    ((1, 1, 2), (0, 0, 0), (1, 2)),
    ((3, 4, 5), (1, 2, 3), (7, 70)),
]


@pytest.mark.parametrize("refuses", [False, True])
@pytest.mark.parametrize("kind", ["read", "write", "from", "to"])
@pytest.mark.parametrize(("region", "origin", "pitches"), TIGHT, ids=str)
def test_gap_past_the_end(ctx, queue, region, origin, pitches, kind, refuses, balance):
    """NVIDIA's driver refuses these boxes as a whole; others are made to."""
    routine = {"read": "Read", "write": "Write"}.get(kind, "Copy")
    full = (pitches[0], pitches[1] or pitches[0] * region[1])
    places = bytes_of(origin, region, full)
    tight = np.arange(places.max() + 1, dtype=np.uint8)
    dense = np.arange(places.size, dtype=np.uint8)[::-1].copy()
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=tight)
    other = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=dense)
    here, there = dict(origin=origin, pitches=pitches), dict(origin=(0, 0, 0), pitches=None)
    if kind in ("read", "write"):
        pair = (dense, buffer) if kind == "read" else (buffer, dense)
        sides = {"buffer": here, "host": there}
    else:
        pair = (other, buffer) if kind == "from" else (buffer, other)
        sides = {"src": here, "dst": there} if kind == "from" else {"src": there, "dst": here}
    keywords = {f"{side}_{name}": v for side, d in sides.items() for name, v in d.items()}
    expected = tight.copy()
    if kind in ("read", "from"):
        expected = tight[places]
    else:
        expected[places] = dense
    if refuses:
        _opencl._fault(f"clEnqueue{routine}BufferRect", cl.status_code.INVALID_VALUE)
    try:
        event = cl.enqueue_copy(queue, *pair, region=region, **keywords)
    finally:
        _opencl._fault(None, 0)
    event.wait()
    del event
    result = np.empty_like(expected)
    cl.enqueue_copy(queue, result, pair[0]) if kind != "read" else np.copyto(result, dense)
    assert (result == expected).all()


def test_first_part_of_a_box_that_fails(ctx, queue, balance):
    buffer, host = cl.Buffer(ctx, mf.READ_WRITE, 20), bytearray(12)
    box = dict(buffer_origin=(0,), host_origin=(0,), region=(4, 3), buffer_pitches=(8,))
    _opencl._fault("clEnqueueReadBufferRect", cl.status_code.INVALID_VALUE, times=2)
    try:
        with pytest.raises(cl.Error) as caught:
            cl.enqueue_copy(queue, host, buffer, **box)
        assert _opencl._fault_hits() == 2
    finally:
        _opencl._fault(None, 0)
    assert caught.value.routine == "clEnqueueReadBufferRect"
    host.append(1)
    del caught


@pytest.mark.parametrize(
    "routine", ["clEnqueueReadBufferRect", "clEnqueueWriteBufferRect", "clEnqueueCopyBufferRect"]
)
def test_driver_failures(ctx, queue, routine, balance):
    buffer, host = cl.Buffer(ctx, mf.READ_WRITE, 64), bytearray(64)
    keywords, pair = GOOD, {"R": (host, buffer), "W": (buffer, host)}.get(routine[9])
    if pair is None:
        pair, keywords = (
            (cl.Buffer(ctx, mf.READ_WRITE, 64), buffer),
            dict(src_origin=(0,), dst_origin=(0,), region=(4, 2)),
        )
    _opencl._fault(routine, cl.status_code.OUT_OF_HOST_MEMORY)
    try:
        with pytest.raises(cl.Error) as caught:
            cl.enqueue_copy(queue, *pair, **keywords)
    finally:
        _opencl._fault(None, 0)
    assert caught.value.routine == routine
    host.append(1)
    del caught, pair
