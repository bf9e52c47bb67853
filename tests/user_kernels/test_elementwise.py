"""ElementwiseKernel on both backends: values, layouts, ranges, and what is refused before a
launch."""

from __future__ import annotations

import numpy as np
import pytest

from pygpu._src.user_kernels.scanner import moves_index, replace_accesses, uses_of

SIZES = (0, 1, 2, 255, 257, 5000)


@pytest.fixture(scope="module")
def kernels() -> dict:
    """Kernels by side and text, so that each is compiled once."""
    return {}


def make(kernels, side, arguments, operation, **kwargs):
    key = side.name, str(arguments), operation, str(kwargs)
    if key not in kernels:
        kernels[key] = side.elementwise(arguments, operation, **kwargs)
    return kernels[key]


def numbers(shape, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.integers(-50, 50, shape)).astype(dtype)


def saxpy(kernels, side):
    return make(kernels, side, "float a, float *x, float *y, float *z", "z[i] = a * x[i] + y[i]")


@pytest.mark.parametrize("n", SIZES)
def test_contiguous(side, kernels, n):
    x, y = numbers(n), numbers(n, seed=1)
    z = side.array(np.full(n, np.nan, np.float32))
    event = saxpy(kernels, side)(2.5, side.array(x), side.array(y), z)
    assert (event is None) == (side.name == "cuda")
    assert np.array_equal(z.get(), 2.5 * x + y)


@pytest.mark.parametrize(
    "part",
    [
        np.s_[::2, ::3],
        np.s_[::-1, ::-1],
        np.s_[:, :1],
        np.s_[1:1, :],
        np.s_[5:6, 2:9],
        np.s_[3, :],
        np.s_[::-2, 4],
        np.s_[None, 1:, None, ::2],
    ],
    ids=str,
)
def test_strided_views(side, kernels, part):
    x, y = numbers((11, 12)), numbers((11, 12), seed=1)
    whole = side.array(x)
    xv, yv = x[part], y[part]
    z = np.zeros(xv.shape, np.float32)
    target = side.array(z)
    saxpy(kernels, side)(2, side.view(whole, x, xv), side.view(side.array(y), y, yv), target)
    assert np.array_equal(target.get(), 2 * xv + yv)


def test_orders_are_mixed_and_written_views_leave_the_rest(side, kernels):
    x, y = numbers((6, 7)), numbers((6, 7), seed=1)
    host = np.full((12, 14), -1, np.float32)
    target = side.array(host)
    part = host[::2, ::-2]
    saxpy(kernels, side)(
        1, side.array(np.asfortranarray(x)), side.array(y), side.view(target, host, part)
    )
    expected = host.copy()
    expected[::2, ::-2] = x + y
    assert np.array_equal(target.get(), expected)


def test_transposed_arrays_of_one_layout_stay_as_they_lie(side, kernels):
    x = np.asfortranarray(numbers((5, 6)))
    z = side.array(np.asfortranarray(np.zeros_like(x)))
    saxpy(kernels, side)(1, side.array(x), side.array(x), z)
    assert np.array_equal(z.get(), 2 * x)


@pytest.mark.parametrize(
    ("a", "b"),
    [((4, 1), (1, 5)), ((5,), (4, 5)), ((), (4, 5)), ((4, 5), (1, 1)), ((2, 1, 3), (4, 1))],
)
def test_broadcasting(side, kernels, a, b):
    x, y = numbers(a), numbers(b, seed=1)
    shape = np.broadcast_shapes(a, b)
    z = side.array(np.zeros(shape, np.float32))
    saxpy(kernels, side)(3, side.array(x), side.array(y), z)
    assert np.array_equal(z.get(), 3 * x + y)


def test_index_is_in_c_order_of_strided_arrays(side, kernels):
    kernel = make(kernels, side, "long *z, long *x", "z[i] = 100 * i + x[i]")
    host = np.zeros((4, 10), np.int64)
    z, x = side.array(host), side.array(np.arange(20).reshape(5, 4).T.copy(order="F"))
    kernel(side.view(z, host, host[:, ::2]), x)
    expected = np.arange(20).reshape(4, 5) * 100 + np.arange(20).reshape(5, 4).T
    assert np.array_equal(z.get()[:, ::2], expected)
    assert not z.get()[:, 1::2].any()


def test_pointers_may_have_other_lengths(side, kernels):
    kernel = make(
        kernels, side, "float *out, int *index, float *table", "out[i] = table[index[i]] + table[0]"
    )
    table = numbers(7)
    index = np.array([6, 0, 3, 3, 5], np.int32)
    out = side.array(np.zeros(5, np.float32))
    kernel(out, side.array(index), side.array(table))
    assert np.array_equal(out.get(), table[index] + table[0])


def test_pointers_must_be_contiguous(side, kernels):
    kernel = make(kernels, side, "float *z, float *x", "z[i] = x[n - 1 - i]")
    x = numbers(10)
    z = side.array(np.zeros(5, np.float32))
    with pytest.raises(ValueError, match="'x' is used as a pointer.*copy"):
        kernel(z, side.view(side.array(x), x, x[::2]))
    kernel(z, side.array(x[:5]))
    assert np.array_equal(z.get(), x[:5][::-1])


def test_range_and_slice(side, kernels):
    kernel = make(kernels, side, "float *z, float *x", "z[i] = x[i] + i")
    x = numbers(100)
    for choice in (
        {"range": slice(3, 50)},
        {"range": slice(90, 3, -7)},
        {"range": slice(None, 10, 3)},
        {"range": slice(10, 10)},
        {"slice": np.s_[10:-10]},
        {"slice": np.s_[::-3]},
        {"slice": np.s_[-5:]},
    ):
        z = side.array(np.zeros(100, np.float32))
        kernel(z, side.array(x), **choice)
        part = choice.get("slice") or choice["range"]
        indices = (
            np.arange(100)[part]
            if "slice" in choice
            else np.arange(part.start or 0, part.stop, part.step or 1)
        )
        expected = np.zeros(100, np.float32)
        expected[indices] = x[indices] + indices
        assert np.array_equal(z.get(), expected), choice


def test_range_refusals(side, kernels):
    kernel = make(kernels, side, "float *z, float *x", "z[i] = x[i] + i")
    z, x = side.array(np.zeros(10, np.float32)), side.array(np.zeros(8, np.float32))
    with pytest.raises(ValueError, match="'x' has 8 items"):
        kernel(z, x, range=slice(0, 9))
    kernel(z, x, range=slice(0, 8))
    with pytest.raises(TypeError, match="both range and slice"):
        kernel(z, x, range=slice(0, 8), slice=slice(0, 8))
    with pytest.raises(TypeError, match="stop"):
        kernel(z, z, range=slice(3, None))
    with pytest.raises(ValueError):
        kernel(z, z, range=slice(0, 3, 0))


def test_range_over_strided_arrays(side, kernels):
    kernel = make(kernels, side, "float *z, float *x", "z[i] = x[i] + i")
    x = numbers((6, 8))
    part = x[:, ::2]
    z = side.array(np.zeros((6, 4), np.float32))
    kernel(z, side.view(side.array(x), x, part), range=slice(1, 20, 2))
    expected = np.zeros(24, np.float32)
    indices = np.arange(1, 20, 2)
    expected[indices] = part.ravel()[indices] + indices
    assert np.array_equal(z.get().ravel(), expected)


def test_wrong_dtype_says_what_to_do(side, kernels):
    kernel = make(kernels, side, "int *a, float *b", "b[i] = a[i]")
    b = side.array(np.zeros(4, np.float32))
    with pytest.raises(TypeError, match=r"argument 1 \('int \*a'\).*int64.*\.astype\(np\.int32\)"):
        kernel(side.array(np.zeros(4, np.int64)), b)
    with pytest.raises(TypeError, match=r"astype\(np\.float32\).*\.view\(np\.float32\)"):
        kernel(side.array(np.zeros(4, np.int32)), side.array(np.zeros(4, np.int32)))
    with pytest.raises(TypeError, match="not ndarray; copy it to the device"):
        kernel(np.zeros(4, np.int32), b)
    with pytest.raises(TypeError, match="takes 2 arguments"):
        kernel(b)
    with pytest.raises(TypeError, match="takes 2 arguments"):
        kernel(b, b, b)
    kernel(side.array(np.arange(4, dtype=np.uint32)), b)  # integers of one size are let through
    assert np.array_equal(b.get(), np.arange(4))


def test_shapes_that_do_not_fit(side, kernels):
    kernel = saxpy(kernels, side)
    x, y = side.array(np.zeros(4, np.float32)), side.array(np.zeros(5, np.float32))
    with pytest.raises(ValueError, match="x has shape .4,., y has shape .5,."):
        kernel(1, x, y, y)
    with pytest.raises(ValueError, match="'z' is written"):
        kernel(1, y, y, side.array(np.zeros(1, np.float32)))
    host = np.zeros(5, np.float32)
    same = side.array(host)._view((5,), (0,), 0, np.dtype(np.float32))
    with pytest.raises(ValueError, match="stride 0"):
        kernel(1, y, y, same)
    scatter = make(kernels, side, "float *z, float *x", "z[i / 2] = x[i]")
    with pytest.raises(ValueError, match="not clear how many"):
        scatter(side.array(np.zeros(2, np.float32)), x)


def test_scalars_of_all_sorts(side, kernels):
    kernel = make(
        kernels,
        side,
        "double *z, float a, int b, unsigned char c, double d, long e",
        "z[i] = a + b + c + d + e",
    )
    z = side.array(np.zeros(3))
    for a, b, c, d, e in [
        (0.5, 1, 2, 3, 4),
        (np.float64(0.5), np.int64(1), np.uint8(2), np.float32(3), np.int16(4)),
        (1, True, np.int64(2), np.int32(3), np.array(4)),
    ]:
        kernel(z, a, b, c, d, e)
        assert np.array_equal(z.get(), np.full(3, float(a) + int(b) + int(c) + float(d) + int(e)))
    for bad, error in [
        ((0.5, 1.5, 0, 0, 0), TypeError),
        ((0, 1 << 31, 0, 0, 0), OverflowError),
        ((0, 0, -1, 0, 0), OverflowError),
        ((1j, 0, 0, 0, 0), TypeError),
        (("1x", 0, 0, 0, 0), TypeError),
        ((z, 0, 0, 0, 0), TypeError),
    ]:
        with pytest.raises(error):
            kernel(z, *bad)


def test_several_outputs_loop_parts_and_continue(side, kernels):
    kernel = make(
        kernels,
        side,
        "float *x, float *a, float *b",
        f"if (x[i] < 0) {{ {side.continue_}; }} a[i] = x[i] + shift; b[i] = twice(x[i])",
        preamble=(
            "float twice(float x) { return 2 * x; }"
            if side.name == "opencl"
            else "__device__ float twice(float x) { return 2 * x; }"
        ),
        loop_prep="float shift = 10",
        after_loop="if (n == 0) shift = 0",
    )
    x = numbers(1000)
    a, b = side.array(np.zeros(1000, np.float32)), side.array(np.zeros(1000, np.float32))
    kernel(side.array(x), a, b)
    assert np.array_equal(a.get(), np.where(x < 0, 0, x + 10))
    assert np.array_equal(b.get(), np.where(x < 0, 0, 2 * x))


def test_loop_variables(side, kernels):
    kernel = make(
        kernels,
        side,
        "long *z",
        "if (i == 0) { z[0] = n; z[1] = total_threads > tid; z[2] = cta_start; }",
    )
    z = side.array(np.full(1000, -1))
    kernel(z)
    assert z.get()[:3].tolist() == [1000, 1, 0]
    # The index may be moved: then each work-item takes items in steps of all work-items.
    kernel = make(kernels, side, "int *z", "z[i] = 1; i += total_threads; if (i < n) z[i] = 2")
    z = side.array(np.zeros(100000, np.int32))
    kernel(z)
    assert set(z.get().tolist()) <= {1, 2}
    assert z.get()[0] == 1


COMPLEX = {
    "opencl": ("cfloat_t", "z[i] = cfloat_add(cfloat_mul(a, x[i]), y[i])"),
    "cuda": ("pycuda::complex<float>", "z[i] = a * x[i] + y[i]"),
}


def test_complex(side, kernels):
    ctype, operation = COMPLEX[side.name]
    kernel = make(kernels, side, f"{ctype} a, {ctype} *x, {ctype} *y, {ctype} *z", operation)
    x = (numbers(40) + 1j * numbers(40, seed=2)).astype(np.complex64)
    z = side.array(np.zeros_like(x))
    kernel(2 - 1j, side.array(x), side.array(x[::-1].copy()), z)
    assert np.allclose(z.get(), (2 - 1j) * x + x[::-1])
    kernel(np.complex64(1j), side.array(x), side.array(x), z)
    assert np.allclose(z.get(), (1 + 1j) * x)


def test_structs(side, kernels):
    dtype = np.dtype([("id", np.int32), ("value", np.float32)])
    if side.name == "opencl":
        from pygpu.tools import get_or_register_dtype
    else:
        from pygpu.cuda.tools import get_or_register_dtype
    get_or_register_dtype("generators_pair", dtype)
    kernel = make(
        kernels,
        side,
        "generators_pair *p, generators_pair add",
        "p[i].value += p[i].id + add.value",
        preamble="typedef struct { int id; float value; } generators_pair;",
    )
    host = np.zeros(9, dtype)
    host["id"] = np.arange(9)
    pairs = side.array(host)
    kernel(pairs, np.array((0, 0.5), dtype)[()])
    assert np.array_equal(pairs.get()["value"], np.arange(9) + 0.5)
    # A field of a structure is a strided array.
    kernel = make(kernels, side, "float *z", "z[i] *= 2")
    kernel(side.view(pairs, host, host["value"]))
    assert np.array_equal(pairs.get()["value"], 2 * np.arange(9) + 1)
    assert np.array_equal(pairs.get()["id"], host["id"])


def test_argument_objects(side, kernels):
    if side.name == "opencl":
        from pygpu.tools import ScalarArg, VectorArg
    else:
        from pygpu.cuda.tools import ScalarArg, VectorArg
    kernel = make(
        kernels, side, [VectorArg(np.float32, "z"), ScalarArg(np.float32, "a")], "z[i] = a * i"
    )
    z = side.array(np.zeros(5, np.float32))
    kernel(z, 3)
    assert np.array_equal(z.get(), 3 * np.arange(5))


def test_needs_an_array(side):
    with pytest.raises(RuntimeError, match="at least one vector argument"):
        side.elementwise("float a", "a = 1")
    with pytest.raises(ValueError):
        side.elementwise("nonsense *a", "a[i] = 1")


def test_syntax_errors_show_the_log(side):
    kernel = side.elementwise("float *z", "z[i] = undefined_thing")
    with pytest.raises(Exception, match="undefined_thing"):
        kernel(side.array(np.zeros(3, np.float32)))


def test_return_is_warned_of(side):
    with pytest.warns(UserWarning, match="PYOPENCL_ELWISE_CONTINUE"):
        side.elementwise("float *z", "if (z[i] > 0) return; z[i] = 1")


def test_uses_of_arguments():
    uses = uses_of("z[ i ] += x[i+1] /* y[i] */ * y [i].s0", "z")
    assert uses.elementwise and uses.written
    assert not uses_of("z[i] = x[i+1]", "x").elementwise
    assert not uses_of("/* y[i] */", "y").used
    assert uses_of("v.x = 1; p->x = x[i] == 2", "x") == uses_of("x[i]", "x")
    assert uses_of("f(&x[i])", "x").written
    assert not uses_of("a & x[i]", "x").written
    assert uses_of("x[i].s0 = 1", "x").written
    assert not uses_of("x[i] == 1 || x[i] <= 2", "x").written
    assert not uses_of("f(x)", "x").elementwise
    assert moves_index("i += 3") and moves_index("++i") and moves_index("for (int i = 0;;)")
    assert not moves_index("a[i] = i == 3; ii = 4; v.i = 2; i <= 4")
    assert replace_accesses('z[i] = x[y[i]] + "x[i]"', {"x": "X", "z": "Z"}) == 'Z = X + "x[i]"'


def test_getters_of_cuda(cuda):
    import pygpu.cuda.elementwise as elementwise

    f4, f8 = np.dtype(np.float32), np.dtype(np.float64)
    x, y = cuda.array(numbers(300)), cuda.array(numbers(300, seed=1))
    z = cuda.array(np.zeros(300, np.float64))
    grid, block = (2, 1), (64, 1, 1)
    kernel = elementwise.get_axpbyz_kernel(f4, f4, f8)
    kernel.prepared_call(grid, block, 2, x.gpudata, 3, y.gpudata, z.gpudata, 300)
    assert np.array_equal(z.get(), 2.0 * x.get() + 3.0 * y.get())
    kernel = elementwise.get_binary_op_kernel(f4, f4, f8, "*", y_is_scalar=True)
    kernel.prepared_call(grid, block, x.gpudata, y.gpudata, z.gpudata, 300)
    assert np.array_equal(z.get(), x.get() * y.get()[0])
    kernel, textures = elementwise.get_linear_combination_kernel(
        ((False, f4, f4), (False, f4, f4)), f8
    )
    kernel.prepared_call(grid, block, 2, x.gpudata, -1, y.gpudata, z.gpudata, 300)
    assert textures == [] and np.array_equal(z.get(), 2.0 * x.get() - y.get())
    elementwise.get_axpbz_kernel(f4, f8).prepared_call(grid, block, 2, x.gpudata, 1, z.gpudata, 300)
    assert np.array_equal(z.get(), 2.0 * x.get() + 1)


def test_getters_of_cudas_functions(cuda):
    import pygpu.cuda.elementwise as elementwise

    f4 = np.dtype(np.float32)
    hx, hy = (8 * numbers(100)).astype(f4), (numbers(100, seed=1) + 0.5).astype(f4)
    x, y = cuda.array(hx), cuda.array(hy)
    z, w = cuda.array(np.zeros(100, f4)), cuda.array(np.zeros(100, f4))

    def run(kernel, *arrays):
        kernel.prepared_call((1, 1), (64, 1, 1), *(a.gpudata for a in arrays), 100)

    run(elementwise.get_fmod_kernel(), x, y, z)
    assert np.array_equal(z.get(), np.fmod(hx, hy))
    run(elementwise.get_modf_kernel(), x, z, w)
    assert np.array_equal(w.get(), np.modf(hx)[0]) and np.array_equal(z.get(), np.modf(hx)[1])
    run(elementwise.get_frexp_kernel(), x, z, w)
    assert np.array_equal(z.get(), np.frexp(hx)[0]) and np.array_equal(w.get(), np.frexp(hx)[1])
    run(elementwise.get_ldexp_kernel(), z, w, z)
    assert np.array_equal(z.get(), hx)
    run(elementwise.get_binary_minmax_kernel("max", f4, f4, f4, False), x, y, z)
    assert np.array_equal(z.get(), np.maximum(hx, hy))


def test_as_many_items_in_another_shape(side):
    """Contiguous arrays of one size are gone through side by side, as PyOpenCL and PyCUDA do."""
    x = numbers(24)
    kernel = side.elementwise("float *x, float *z", "z[i] = 2 * x[i]")
    for given, wanted in [((24,), (4, 6)), ((6, 4), (24,)), ((4, 6), (6, 4)), ((24, 1), (24,))]:
        z = side.array(np.zeros(wanted, np.float32))
        for _ in range(2):
            side.call(kernel, side.array(x.reshape(given)), z)
        assert np.array_equal(z.get(), 2 * x.reshape(wanted))
    transposed = side.array(x.reshape(4, 6)).T
    for z in (np.zeros(24, np.float32), np.zeros((4, 6), np.float32), np.zeros(25, np.float32)):
        with pytest.raises(ValueError, match="do not fit|is written and has shape"):
            side.call(kernel, transposed, side.array(z))
    outer = side.elementwise("float *z, float *x, float *y", "z[i] = x[i] * y[i]")
    z = side.array(np.zeros((3, 3), np.float32))
    side.call(outer, z, side.array(x[:3, None]), side.array(x[4:7]))
    assert np.array_equal(z.get(), x[:3, None] * x[4:7])


def test_getters_of_opencl(opencl):
    from pygpu.elementwise import get_elwise_kernel, get_elwise_program, get_fill_kernel

    queue = opencl.queue
    x = opencl.array(numbers(300))
    kernel = get_elwise_kernel(opencl.context, "float *x, float a", "x[i] *= a", name="scale")
    kernel(queue, (64,), None, x[100:], 2, 200)
    expected = numbers(300)
    expected[100:] *= 2
    assert np.array_equal(x.get(), expected)
    get_fill_kernel(opencl.context, np.dtype(np.float32))(queue, (64,), None, x, 7, 300)
    assert (x.get() == 7).all()
    program = get_elwise_program(opencl.context, "float *x", "x[i] = i", use_range=True)
    program.elwise_kernel(queue, (64,), None, x.base_data, 0, 10, 200, 3)
    assert np.array_equal(x.get()[10:200:3], np.arange(10, 200, 3))
