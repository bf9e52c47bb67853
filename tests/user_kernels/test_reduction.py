"""ReductionKernel on both backends: values, types, layouts, ranges."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(scope="module")
def kernels() -> dict:
    return {}


def make(kernels, side, dtype, neutral, reduce_expr, **kwargs):
    key = side.name, str(dtype), neutral, reduce_expr, str(kwargs)
    if key not in kernels:
        kernels[key] = side.reduction(dtype, neutral, reduce_expr, **kwargs)
    return kernels[key]


def integers(shape, dtype, seed=0):
    return np.random.default_rng(seed).integers(-9, 9, shape).astype(dtype)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 255, 256, 1023, 4097, 100003])
def test_dot(side, kernels, n):
    kernel = make(
        kernels,
        side,
        np.int64,
        "0",
        "a+b",
        map_expr="(long)x[i] * y[i]",
        arguments="const int *x, const int *y",
        name="dot",
    )
    x, y = integers(n, np.int32), integers(n, np.int32, 1)
    result = kernel(side.array(x), side.array(y))
    assert result.shape == () and result.dtype == np.int64
    assert result.get() == x.astype(np.int64) @ y


def test_float_sum_is_exact_for_integers_and_close_for_others(side, kernels):
    kernel = make(kernels, side, np.float32, "0", "a+b", arguments="float *in")
    x = integers(30011, np.float32)
    assert kernel(side.array(x)).get() == x.sum()
    x = np.random.default_rng(0).random(30011, np.float32)
    assert abs(float(kernel(side.array(x)).get()) - x.sum(dtype=np.float64)) < 0.01


def test_names_of_arguments_may_be_those_of_the_operands(side, kernels):
    kernel = make(
        kernels, side, np.float32, "0", "a+b", map_expr="a[i]*b[i]", arguments="float *a, float *b"
    )
    a = integers((6, 8), np.float32)
    whole = side.array(a)
    part = a[:, ::2]
    assert (
        kernel(side.view(whole, a, part), side.array(np.ones((6, 1), np.float32))).get()
        == part.sum()
    )


def test_scalars_reach_both_stages_and_comments_are_allowed(side, kernels):
    kernel = make(
        kernels,
        side,
        np.float32,
        "low",
        "fmax(fmax(a, b), low) // the larger one",
        map_expr="in[i] * factor",
        arguments="float *in, float factor, float low",
    )
    x = integers(20000, np.float32)
    assert kernel(side.array(x), 2, -100).get() == 2 * x.max()
    assert kernel(side.array(x), 2, 77).get() == 77


def test_min_max_struct(side, kernels):
    dtype = np.dtype([("low", np.int32), ("high", np.int32)])
    if side.name == "opencl":
        from pygpu.tools import get_or_register_dtype

        inline = "inline"
    else:
        from pygpu.cuda.tools import get_or_register_dtype

        inline = "__device__ inline"
    get_or_register_dtype("generators_extremes", dtype)
    preamble = f"""
typedef struct {{ int low, high; }} generators_extremes;
static {inline} generators_extremes both(int x, int y)
{{ generators_extremes r; r.low = x; r.high = y; return r; }}
"""
    kernel = make(
        kernels,
        side,
        dtype,
        "both(10000, -10000)",
        "both(a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high)",
        map_expr="both(x[i], x[i])",
        arguments="int *x",
        preamble=preamble,
    )
    x = np.random.default_rng(3).integers(-5000, 5000, 7001).astype(np.int32)
    result = kernel(side.array(x)).get()
    assert (int(result["low"]), int(result["high"])) == (x.min(), x.max())
    result = kernel(side.array(x[:0])).get()
    assert (int(result["low"]), int(result["high"])) == (10000, -10000)


def test_range_slice_and_out(side, kernels):
    kernel = make(kernels, side, np.int64, "0", "a+b", map_expr="x[i] + i", arguments="long *x")
    x = np.arange(1000) * 3
    array = side.array(x)
    indices = np.arange(1000)
    assert kernel(array, range=slice(10, 900, 7)).get() == (4 * indices[10:900:7]).sum()
    assert kernel(array, slice=np.s_[-1:100:-3]).get() == (4 * indices[-1:100:-3]).sum()
    assert kernel(array, slice=np.s_[5:5]).get() == 0
    out = side.array(np.full(3, -1))
    result = kernel(array, out=out)
    assert result is out and out.get().tolist() == [(4 * indices).sum(), -1, -1]
    with pytest.raises(ValueError, match="same dtype"):
        kernel(array, out=side.array(np.zeros(1, np.int32)))
    with pytest.raises(ValueError, match="empty"):
        kernel(array, out=side.array(np.zeros(0, np.int64)))
    with pytest.raises(ValueError, match="1000 items"):
        kernel(array, range=slice(0, 1001))
    with pytest.raises(TypeError, match="np.int64"):
        kernel(side.array(np.zeros(3, np.int32)))


def test_without_arrays(side, kernels):
    kernel = make(
        kernels, side, np.float64, "0", "a+b", map_expr="scale * i", arguments="double scale"
    )
    queue = {} if side.name == "cuda" else {"queue": side.queue}
    assert kernel(0.5, range=slice(0, 1001), **queue).get() == 250250
    with pytest.raises(TypeError, match="range"):
        kernel(0.5, **queue)


def test_two_launches_at_most(side, kernels):
    kernel = make(kernels, side, np.float32, "0", "a+b", arguments="float *in")
    array = side.array(np.ones(50000, np.float32))
    kernel(array)
    launches = array.backend.cache_for(kernel._do)
    assert len(launches) == 2
    counted = []
    for key, launch in list(launches.items()):
        launches[key] = lambda *a, _launch=launch, **k: (counted.append(1), _launch(*a, **k))[1]
    # what C has remembered of the first call
    array.backend.cache_for(kernel._do.first)["plans"].clear()
    try:
        assert kernel(side.array(np.ones(50000, np.float32))).get() == 50000
    finally:
        kernels.clear()
    assert len(counted) == 2


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.complex64])
def test_ready_made_kernels(side, dtype):
    if side.name == "opencl":
        import pygpu.reduction as reduction

        extra = (side.context,)
    else:
        import pygpu.cuda.reduction as reduction

        extra = ()
    dtype = np.dtype(dtype)
    x = np.random.default_rng(5).integers(0, 10, 999).astype(dtype)
    if dtype.kind == "c":
        x = x + x[::-1] * dtype.type(1j)
    array = side.array(x)
    wide = np.dtype("complex64" if dtype.kind == "c" else "float64")
    assert reduction.get_sum_kernel(*extra, wide, dtype)(array).get() == x.astype(wide).sum()
    assert np.allclose(
        reduction.get_dot_kernel(*extra, wide, dtype, dtype)(array, array).get(),
        (x.astype(wide) ** 2).sum(),
    )
    picks = np.array([5, 7, 5, 900], np.int32)
    subset = reduction.get_subset_sum_kernel(*extra, wide, picks.dtype, dtype)
    assert subset(side.array(picks), array).get() == x[picks].astype(wide).sum()
    if dtype.kind != "c":
        assert reduction.get_minmax_kernel(*extra, "min", dtype)(array).get() == x.min()
        assert reduction.get_minmax_kernel(*extra, "max", dtype)(array).get() == x.max()
        if dtype.kind == "f":
            x[500] = np.nan
            for what in ("min", "max"):
                assert np.isnan(
                    reduction.get_minmax_kernel(*extra, what, dtype)(side.array(x)).get()
                )


def test_any_and_all(side):
    if side.name == "opencl":
        from pygpu.reduction import get_all_kernel, get_any_kernel

        any_of = get_any_kernel(side.context, np.complex64)
        all_of = get_all_kernel(side.context, np.float32)
    else:
        from pygpu.cuda.reduction import get_all_kernel, get_any_kernel

        any_of = get_any_kernel(np.int8, np.complex64)
        all_of = get_all_kernel(np.int8, np.float32)
    for values in ([], [0, 0], [0, 1j], [1, 1j], [np.nan, 0]):
        array = np.array(values, np.complex64)
        assert bool(any_of(side.array(array)).get()) == array.any()
        assert bool(all_of(side.array(array.real)).get()) == array.real.all()


def test_template(opencl):
    from pygpu.reduction import ReductionTemplate
    from pygpu.tools import ScalarArg

    template = ReductionTemplate(
        "item_t *x",
        "0",
        "a + b",
        "x[i] * %(factor)s + shift",
        name_prefix="scaled",
        template_processor="printf",
    )
    kernel = template.build(
        opencl.context,
        type_aliases=(("item_t", np.dtype(np.int32)), ("reduction_t", np.dtype(np.int64))),
        var_values=(("factor", "3"),),
        more_arguments=(ScalarArg(np.int32, "shift"),),
    )
    x = integers(500, np.int32)
    assert kernel(opencl.array(x), 2).get() == 3 * x.sum() + 1000


def test_the_text_of_the_stages(opencl):
    """Programs that generate kernels keep the source for whoever wants to see it."""
    kernel = opencl.reduction(
        np.int32, "0", "a + b", map_expr="3 * x[i]", arguments="__global int *x"
    )
    assert "3 * x[i]" in kernel.stage_1_inf.source
    for stage in (kernel.stage_1_inf, kernel.stage_2_inf):
        assert stage.program.kernel_names and stage.group_size >= 1
        assert stage.kernel.function_name in stage.source and stage.context is opencl.context
