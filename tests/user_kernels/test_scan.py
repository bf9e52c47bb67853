"""Scans on both backends: values, segments, order of operands, writes in place."""

from __future__ import annotations

import numpy as np
import pytest

from pygpu.scan import (
    ExclusiveScanKernel,
    GenericDebugScanKernel,
    GenericScanKernel,
    InclusiveScanKernel,
    ScanTemplate,
    get_cumsum_kernel,
)

SIZES = (0, 1, 2, 255, 257, 2048, 4097, 60013)


@pytest.fixture(scope="module")
def kernels() -> dict:
    return {}


def make(kernels, side, cls, *args, **kwargs):
    key = side.name, cls, str(args), str(kwargs)
    if key not in kernels:
        kernels[key] = cls(side.context, *args, **kwargs)
    return kernels[key]


def integers(n, low=-9, high=9, dtype=np.int32, seed=0):
    return np.random.default_rng(seed).integers(low, high, n).astype(dtype)


@pytest.mark.parametrize("cls", [GenericScanKernel, GenericDebugScanKernel])
def test_item_prev_item_last_item(side, kernels, cls):
    kernel = make(
        kernels,
        side,
        cls,
        np.int64,
        "int *x, long *y, long *before, long *total",
        input_expr="x[i] * 2",
        scan_expr="a + b",
        neutral="0",
        output_statement="y[i] = item; before[i] = prev_item; total[i] = last_item - N;",
    )
    for n in SIZES:
        x = integers(n)
        y, before, total = (side.array(np.full(n, -1)) for _ in range(3))
        event = kernel(side.array(x), y, before, total)
        assert (event is None) == (side.name == "cuda")
        expected = np.cumsum(2 * x.astype(np.int64))
        assert np.array_equal(y.get(), expected), n
        assert np.array_equal(before.get(), expected - 2 * x)
        assert (total.get() == (expected[-1] - n if n else 0)).all()


def test_operands_keep_their_order(side, kernels):
    """Composition of maps x -> p x + q modulo 251 is associative, not commutative."""
    expr = (
        "((unsigned int)(((a >> 16) * (b >> 16) % 251) << 16"
        " | ((a & 0xFFFF) * (b >> 16) + (b & 0xFFFF)) % 251))"
    )
    kernel = make(kernels, side, InclusiveScanKernel, np.uint32, expr)
    for n in (5, 3000, 60013):
        p, q = integers(n, 1, 251), integers(n, 0, 251, seed=1)
        array = side.array((p.astype(np.uint32) << 16) | q.astype(np.uint32))
        assert kernel(array) is array
        got = array.get()
        scale, shift = 1, 0
        for k in range(n):
            scale, shift = scale * p[k] % 251, (shift * p[k] + q[k]) % 251
            if k in (0, 1, n // 2, n - 1):
                assert (got[k] >> 16, got[k] & 0xFFFF) == (scale, shift), k


def test_segments(side, kernels):
    kernel = make(
        kernels,
        side,
        GenericScanKernel,
        np.int32,
        "int *x, char *start, int *y, int *before",
        input_expr="x[i]",
        scan_expr="across_seg_boundary ? b : (a + b)",
        neutral="0",
        is_segment_start_expr="start[i] || a == 77",
        output_statement="y[i] = item; before[i] = prev_item;",
    )
    for n, chance in ((1, 1.0), (300, 0.1), (5000, 0.001), (60013, 0.05), (60013, 0.0001)):
        x = integers(n)
        x[n // 2 :: 1777] = 77
        start = (np.random.default_rng(1).random(n) < chance).astype(np.int8)
        y, before = side.array(np.zeros(n, np.int32)), side.array(np.zeros(n, np.int32))
        kernel(side.array(x), side.array(start), y, before)
        expected, previous, acc = np.zeros(n, int), np.zeros(n, int), 0
        for k in range(n):
            acc = 0 if start[k] or x[k] == 77 else acc
            previous[k] = acc
            acc += x[k]
            expected[k] = acc
        assert np.array_equal(y.get(), expected)
        assert np.array_equal(before.get(), previous)


def test_fetches_and_writes_in_place(side, kernels):
    """Each item is compared with the one before it, which the output overwrites."""
    kernel = make(
        kernels,
        side,
        GenericScanKernel,
        np.int32,
        "int *x",
        input_expr="(i == 0 || previous != current) ? 1 : 0",
        scan_expr="a + b",
        neutral="0",
        input_fetch_exprs=[("previous", "x", -1), ("current", "x", 0)],
        output_statement="x[i] = item;",
    )
    for n in (1, 3, 2050, 60013):
        x = np.sort(integers(n, 0, 40))
        array = side.array(x)
        kernel(array)
        assert np.array_equal(array.get(), np.cumsum(np.r_[1, np.diff(x) != 0]))


def test_compaction_by_scattered_writes_and_size(side, kernels):
    kernel = make(
        kernels,
        side,
        GenericScanKernel,
        np.int32,
        "int *x, int *out, int *count, int limit",
        input_expr="x[i] > limit ? 1 : 0",
        scan_expr="a + b",
        neutral="0",
        output_statement=(
            "if (prev_item != item) out[item - 1] = x[i]; if (i == N - 1) *count = item;"
        ),
    )
    x = integers(5000)
    out, count = side.array(np.zeros(5000, np.int32)), side.array(np.zeros(1, np.int32))
    kernel(side.array(x), out, count, 4, size=3000)
    expected = x[:3000][x[:3000] > 4]
    assert count.get()[0] == len(expected)
    assert np.array_equal(out.get()[: len(expected)], expected)
    with pytest.raises(ValueError, match="size must be from 0 to 5000"):
        kernel(side.array(x), out, count, 4, size=5001)
    with pytest.raises(TypeError, match="takes 4 arguments"):
        kernel(side.array(x), out, count)
    with pytest.raises(TypeError, match="np.int32"):
        kernel(side.array(x.astype(np.int64)), out, count, 4)
    with pytest.raises(ValueError, match="contiguous"):
        kernel(
            _every_second(side),
            out,
            count,
            4,
        )


def _every_second(side):
    host = np.zeros(10, np.int32)
    return side.view(side.array(host), host, host[::2])


def test_inclusive_exclusive(side, kernels):
    inclusive = make(kernels, side, InclusiveScanKernel, np.int32, "max(a, b)")
    exclusive = make(kernels, side, ExclusiveScanKernel, np.int32, "a + b", "0")
    for n in (0, 1, 1000, 30000):
        x = integers(n) - 20
        array = side.array(x)
        assert np.array_equal(inclusive(array, "new").get(), np.maximum.accumulate(x))
        out = side.array(np.zeros(n, np.int32))
        assert exclusive(array, out) is out
        assert np.array_equal(out.get(), np.cumsum(x) - x)
        assert np.array_equal(array.get(), x)
    with pytest.raises(ValueError, match="neutral"):
        ExclusiveScanKernel(side.context, np.int32, "a + b")
    with pytest.raises(ValueError, match="neutral"):
        GenericScanKernel(side.context, np.int32, "int *x", "x[i]", "a+b", None, "x[i] = item")
    with pytest.raises(ValueError, match="one-dimensional"):
        inclusive(side.array(np.zeros((2, 2), np.int32)))
    with pytest.raises(ValueError, match="same shape"):
        inclusive(side.array(np.zeros(2, np.int32)), side.array(np.zeros(3, np.int32)))


def test_structures(side, kernels):
    dtype = np.dtype([("total", np.int64), ("largest", np.int32), ("count", np.int32)])
    if side.name == "opencl":
        from pygpu.tools import get_or_register_dtype

        inline = ""
    else:
        from pygpu.cuda.tools import get_or_register_dtype

        inline = "__device__ "
    get_or_register_dtype("generators_scan", dtype)
    word = "long" if side.name == "opencl" else "long long"
    preamble = f"""
typedef struct {{ {word} total; int largest, count; }} generators_scan;
{inline}generators_scan three({word} t, int l, int c)
{{ generators_scan s; s.total = t; s.largest = l; s.count = c; return s; }}
"""
    kernel = make(
        kernels,
        side,
        GenericScanKernel,
        dtype,
        "int *x, long *t, int *l",
        input_expr="three(x[i], x[i], 1)",
        scan_expr=(
            "three(a.total + b.total, a.largest > b.largest ? a.largest : b.largest, "
            "a.count + b.count)"
        ),
        neutral="three(0, -2147483647, 0)",
        output_statement="t[i] = item.total + item.count; l[i] = item.largest;",
        preamble=preamble,
    )
    x = integers(20011, -1000, 1000)
    t, largest = side.array(np.zeros(20011, np.int64)), side.array(np.zeros(20011, np.int32))
    kernel(side.array(x), t, largest)
    assert np.array_equal(t.get(), np.cumsum(x.astype(np.int64)) + np.arange(1, 20012))
    assert np.array_equal(largest.get(), np.maximum.accumulate(x))


def test_cumsum_kernel(side):
    x = integers(3000)
    y = side.array(np.zeros(3000, np.int64))
    get_cumsum_kernel(side.context, np.dtype(np.int32), np.dtype(np.int64))(side.array(x), y)
    assert np.array_equal(y.get(), np.cumsum(x))


def test_template(opencl):
    template = ScanTemplate(
        "item_t *x, scan_t *y",
        "x[i]",
        "a + b",
        "0",
        "y[i] = item * %(factor)s;",
        template_processor="printf",
    )
    kernel = template.build(
        opencl.context,
        type_aliases=(("item_t", np.dtype(np.int32)), ("scan_t", np.dtype(np.int64))),
        var_values=(("factor", "3"),),
    )
    x, y = integers(1000), opencl.array(np.zeros(1000, np.int64))
    kernel(opencl.array(x), y)
    assert np.array_equal(y.get(), 3 * np.cumsum(x))


def test_macros_of_cluda_and_the_source_of_the_stages(opencl):
    """Texts that programs generate for PyOpenCL's and PyCUDA's scan use the words of _cluda; they
    look at the generated source, and may define the words themselves."""
    from pygpu._src.user_kernels.cluda import OPENCL_PREAMBLE

    function = "WITHIN_KERNEL int twice(GLOBAL_MEM int *x, long i) { return 2 * x[i]; }"
    for more in ("", OPENCL_PREAMBLE):
        kernel = GenericScanKernel(
            opencl.context, np.int32, "__global int *x, __global int *y", "twice(x, i)", "a + b",
            "0", "y[i] = item;", preamble=more + function,
        )  # fmt: skip
        x = integers(100)
        y = opencl.array(np.zeros_like(x))
        kernel(opencl.array(x), y)
        assert np.array_equal(y.get(), np.cumsum(2 * x))
    infos = kernel.first_level_scan_info, kernel.second_level_scan_info, kernel.final_update_info
    for info in infos:
        assert function in info.kernel.program.source and info.wg_size >= 1


def test_pycudas_form(cuda):
    from pygpu.cuda import scan

    x = integers(5000)
    array = cuda.array(x)
    assert np.array_equal(
        scan.InclusiveScanKernel(np.int32, "a+b")(array, "new").get(), np.cumsum(x)
    )
    assert scan.ExclusiveScanKernel(np.int32, "a+b", neutral=0)(array) is array
    assert np.array_equal(array.get(), np.cumsum(x) - x)
