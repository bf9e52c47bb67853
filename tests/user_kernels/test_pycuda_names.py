"""Private names of PyCUDA's modules that packages written for it use."""

from __future__ import annotations

import hashlib
import math
import struct

import numpy as np
import pytest

from pygpu.cuda.gpuarray import empty_like, to_gpu, zeros

F4, I4 = np.dtype(np.float32), np.dtype(np.int32)


def launch(kernel, n, *args):
    kernel.prepared_call((2, 1), (64, 1, 1), *(getattr(a, "gpudata", a) for a in args), n)


def test_operations_with_a_result(cuda):
    from pygpu.cuda.gpuarray import _get_broadcasted_binary_op_result, _get_common_dtype

    hx, hy = np.linspace(1, 2, 100, dtype=F4), np.linspace(-3, 3, 100, dtype=F4)
    x, y = to_gpu(hx), to_gpu(hy)
    out = empty_like(x)
    half = F4.type(0.5)
    for result, expected in (
        (lambda: x._axpbyz(2, y, np.float64(-0.5), out), 2 * hx - half * hy),
        (lambda: x._axpbz(2, 3, out), 2 * hx + 3),
        (lambda: x._elwise_multiply(y, out), hx * hy),
        (lambda: y._div(x, out), hy / hx),
        (lambda: x._rdiv_scalar(3, out), 3 / hx),
        (lambda: x._axpbyz(1, y, 2, x), hx + 2 * hy),  # the result is an operand
    ):
        got = result()
        assert got.dtype == F4 and np.allclose(got.get(), expected, rtol=1e-6), expected
    assert got is x
    squares = y._pow(2, new=True)
    assert squares is not y and np.allclose(squares.get(), hy**2)
    assert y._pow(2, new=False) is y and np.allclose(y.get(), hy**2)
    whole = to_gpu(np.arange(-3, 4, dtype=I4))
    assert (whole._div(to_gpu(np.full(7, 2, I4)), whole).get() == np.arange(-3, 4) // 2).all()
    with pytest.raises(TypeError):
        x._elwise_multiply(y, zeros(100, I4))
    with pytest.raises(ValueError):
        x._axpbyz(1, y, 1, zeros(99, F4))

    assert _get_common_dtype(x, whole) == np.float64 and _get_common_dtype(x, 2) == F4
    one = zeros((), np.float64)
    assert _get_broadcasted_binary_op_result(one, x).shape == (100,)
    assert _get_broadcasted_binary_op_result(x, one).dtype == np.float64
    with pytest.raises(NotImplementedError, match=r"\(100,\).*\(7,\)"):
        _get_broadcasted_binary_op_result(x, whole)


def test_kernels_that_read_textures(cuda):
    from pygpu.cuda import elementwise

    rng = np.random.default_rng(3)
    a, b = rng.random(500).astype(F4), rng.random(500).astype(F4)
    index = rng.permutation(300).astype(I4)
    ga, gb, gi, x, y = to_gpu(a), to_gpu(b), to_gpu(index), zeros(300, F4), zeros(300, F4)
    kernel, sources = elementwise.get_take_kernel(F4, I4, vec_count=2)
    with pytest.raises(ValueError, match="'take'.*'source0'.*bind_to_texref_ext"):
        launch(kernel, 300, gi, x, y)
    ga.bind_to_texref_ext(sources[0], allow_double_hack=True)
    gb[10:].bind_to_texref_ext(sources[1])
    launch(kernel, 300, gi, x, y)
    assert (x.get() == a[index]).all() and (y.get() == b[10:][index]).all()
    assert kernel.num_regs == kernel.function.num_regs

    target, other = zeros(300, F4), zeros(300, F4)
    kernel, sources = elementwise.get_take_put_kernel(F4, I4, True, vec_count=2)
    ga.bind_to_texref_ext(sources[0])
    gb.bind_to_texref_ext(sources[1])
    to = to_gpu(np.arange(299, -1, -1, dtype=I4))
    kernel.prepared_async_call(
        *((2, 1), (64, 1, 1), None),
        *(array.gpudata for array in (to, gi, target, other)),
        *(100, 7, 300),
    )
    assert (target.get()[::-1] == a[index + 100]).all()
    assert (other.get()[::-1] == b[index + 7]).all()
    kernel, sources = elementwise.get_take_put_kernel(F4, I4, False)
    ga.bind_to_texref(sources[0])
    assert (
        kernel.prepared_timed_call((2, 1), (64, 1, 1), gi.gpudata, gi.gpudata, x.gpudata, 300)()
        >= 0
    )
    assert (x.get() == a[:300]).all()

    launch(elementwise.get_put_kernel(F4, I4), 300, gi, target, x)
    assert (target.get()[index] == a[:300]).all()

    kernel, sources = elementwise.get_linear_combination_kernel(
        ((True, F4, F4), (False, F4, F4)), F4
    )
    to_gpu(np.array(3, F4)).bind_to_texref_ext(sources[0])
    launch(kernel, 300, ga, 2, gb, x)
    assert np.allclose(x.get(), 3 * a[:300] + 2 * b[:300])


def test_makers_of_earlier_versions(cuda):
    from pygpu.cuda import elementwise

    a, b = np.arange(1, 101, dtype=F4), np.arange(2, 102, dtype=F4)
    x, y, z = to_gpu(a), to_gpu(b), zeros(100, F4)
    launch(elementwise.get_multiply_kernel(F4, F4, F4), 100, x, y, z)
    assert (z.get() == a * b).all()
    launch(elementwise.get_divide_kernel(F4, F4, F4), 100, x, y, z)
    assert np.allclose(z.get(), a / b)
    launch(elementwise.get_pow_kernel(F4), 100, 2, x, z)
    assert (z.get() == a**2).all()


def test_makers_of_operations_with_a_number(cuda):
    from pygpu.cuda import elementwise

    a = np.arange(1, 101, dtype=F4)
    x, z = to_gpu(a), zeros(100, F4)
    launch(elementwise.get_scalar_op_kernel(F4, F4, F4, "-"), 100, x, 3, z)
    assert (z.get() == a - 3).all()
    launch(elementwise.get_pow_array_kernel(F4, F4, F4, False, True), 100, 2, x, z)
    assert np.allclose(z.get(), np.exp2(a))
    launch(elementwise.get_binary_minmax_kernel("min", F4, F4, F4, True), 100, x, 50, z)
    assert (z.get() == np.minimum(a, 50)).all()
    launch(elementwise.get_unary_func_kernel("sqrtf", F4), 100, x, z)
    assert np.allclose(z.get(), np.sqrt(a))


def md5_block(words, state=(0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)):
    """RFC 1321's operation on one block of 16 words."""
    mask, (a, b, c, d) = 0xFFFFFFFF, state
    shifts = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))
    for k in range(64):
        if k < 16:
            f, g = (b & c) | (~b & d), k
        elif k < 32:
            f, g = (d & b) | (~d & c), (5 * k + 1) % 16
        elif k < 48:
            f, g = b ^ c ^ d, (3 * k + 5) % 16
        else:
            f, g = c ^ (b | (~d & mask)), 7 * k % 16
        f = (f + a + int(abs(math.sin(k + 1)) * 2**32) + words[g]) & mask
        s = shifts[k // 16][k % 4]
        a, d, c, b = d, c, b, (b + (f << s | f >> (32 - s))) & mask
    return tuple((x + y) & mask for x, y in zip((a, b, c, d), state, strict=True))


def test_md5_code(cuda):
    from pygpu.cuda.curandom import md5_code
    from pygpu.cuda.elementwise import get_elwise_kernel

    padded = struct.unpack("<16I", b"abc\x80" + bytes(52) + struct.pack("<Q", 24))
    assert struct.pack("<4I", *md5_block(padded)) == hashlib.md5(b"abc").digest()

    n, threads, seed = 1003, 128, 0xDEADBEEF
    store = "".join(f"if ((i += total_threads) < n) dest[i] = {name};" for name in "bcd")
    kernel = get_elwise_kernel(
        "unsigned int *dest, unsigned int seed", md5_code + "dest[i] = a;" + store, "md5_rng_int"
    )
    result = zeros(n, np.uint32)
    launch(kernel, n, result, seed)
    expected = np.zeros(n, np.uint32)
    for thread in range(threads):
        i = thread
        while i < n:
            place = (thread % 64, 0, 0, thread // 64, 0, 0, seed, i, n, 64, 1, 1, 2, 1, 1, 0)
            for word in md5_block(place):
                if i < n:
                    expected[i] = word
                i += threads
    assert (result.get() == expected).all()


@pytest.mark.parametrize(
    "name, state", [("XORWOW", "curandState"), ("MRG32k3a", "curandStateMRG32k3a")]
)
def test_states_of_generators(cuda, name, state):
    from pygpu.cuda import curandom
    from pygpu.cuda.compiler import SourceModule

    generator = getattr(curandom, f"{name}RandomNumberGenerator")(
        lambda count: to_gpu(np.arange(count, dtype=I4)), offset=3
    )
    groups, size = generator.block_count, generator.generators_per_block
    memory = generator.state
    assert generator.state is memory
    function = SourceModule(
        f"""#include <curand_kernel.h>
        extern "C" __global__ void draw({state} *states, float *drawn, float *own) {{
            int k = blockIdx.x * blockDim.x + threadIdx.x;
            {state} mine;
            curand_init(k, k, 3, &mine);
            drawn[k] = curand_uniform(&states[k]);
            own[k] = curand_uniform(&mine);
        }}""",
        no_extern_c=True,
    ).get_function("draw")
    drawn, own = zeros(groups * size, F4), zeros(groups * size, F4)
    function(memory, drawn, own, block=(size, 1, 1), grid=(groups, 1))
    assert (drawn.get() == own.get()).all() and drawn.get().std() > 0.2
    if name == "XORWOW":
        with pytest.raises(NotImplementedError, match="Sobol32.*state"):
            curandom.Sobol32RandomNumberGenerator().state  # noqa: B018


def test_generators_of_programs(cuda):
    """What packages derive from PyCUDA's base: a kind of states that PyCUDA does not have."""
    from pygpu.cuda import curandom as names
    from pygpu.cuda.compiler import SourceModule
    from pygpu.cuda.driver import Out

    class Philox(names._PseudoRandomNumberGeneratorBase):
        has_box_muller = True
        gen_info = [names._RandomNumberGeneratorBase.gen_info[k] for k in (3, 4, 6)]
        gen_log_info = names._RandomNumberGeneratorBase.gen_log_info[1:2]
        gen_poisson_inplace_info = ()

        def __init__(self, seed_getter=None, offset=0):
            super().__init__(
                *(seed_getter, offset, "curandStatePhilox4_32_10_t", "unsigned int", 32),
                names.xorwow_random_source
                + names.xorwow_skip_ahead_sequence_source
                + names.random_skip_ahead64_source,
            )

    def seeds(count):
        return to_gpu(np.arange(count, dtype=I4))

    generator = Philox(seeds, offset=2)
    threads = generator.block_count * generator.generators_per_block
    assert sorted(generator.generators) == [
        *("normal_float", "normal_float2", "normal_log_double", "poisson_int", "uniform_double")
    ]
    assert len(generator._kernels()) == 10
    n = 2 * threads + 2
    function = SourceModule(
        """#include <curand_kernel.h>
        extern "C" __global__ void draw(double *drawn, float2 *pairs, unsigned *counts, int n) {
            int k = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
            curandStatePhilox4_32_10_t s;
            curand_init(k, k, 2, &s);
            for (int i = k; i < n; i += threads) drawn[i] = curand_uniform_double(&s);
            skipahead(7, &s);
            skipahead_sequence(3, &s);
            for (int i = k; i < n / 2; i += threads) pairs[i] = curand_normal2(&s);
            skipahead(k, &s);
            skipahead_sequence(k, &s);
            for (int i = k; i < n; i += threads) counts[i] = curand_poisson(&s, 2.5);
        }""",
        no_extern_c=True,
    ).get_function("draw")
    drawn, pairs, counts = np.zeros(n), np.zeros(n, F4), np.zeros(n, np.uint32)
    function(
        *(Out(drawn), Out(pairs), Out(counts), np.int32(n)),
        block=(generator.generators_per_block, 1, 1),
        grid=(generator.block_count, 1),
    )
    assert (generator.gen_uniform(n, np.float64).get() == drawn).all()
    generator.call_skip_ahead(7)
    generator.call_skip_ahead_sequence(3)
    assert (generator.gen_normal(n, F4).get() == pairs).all()
    steps = to_gpu(np.arange(threads, dtype=np.uint64))
    generator.call_skip_ahead_array(steps)
    generator.call_skip_ahead_sequence_array(steps)
    assert (generator.gen_poisson(n, np.uint32, 2.5).get() == counts).all()
    assert abs(np.log(generator.gen_log_normal(3001, np.float64, 1, 0.5).get()).mean() - 1) < 0.06
    generator.fill_uniform(zeros(0, np.float64))
    for wrong, message in (
        (lambda: generator.gen_uniform(3, np.int64), "makes 32 bits"),
        (lambda: generator.gen_normal(3, np.float64), "does not support float64"),
        (lambda: generator.fill_uniform(drawn), "a GPUArray is needed.*float64"),
        (lambda: generator.fill_poisson(zeros(3, F4), 1), "among u4, not float32"),
        (lambda: Philox(lambda count: zeros(3, I4)), "Philox: seed must be"),
    ):
        with pytest.raises(TypeError, match=message):
            wrong()
    with pytest.raises(ValueError, match="contiguous"):
        generator.fill_uniform(zeros((4, 4), np.float64)[:, ::2])
    with pytest.raises(AttributeError, match="no_such_source"):
        names.no_such_source  # noqa: B018


@pytest.mark.parametrize("size", [1, 96])
def test_stages_of_reductions(cuda, size):
    from pygpu.cuda import reduction

    x, y = np.arange(1, 1001, dtype=F4) % 7, np.arange(1000, dtype=I4) % 5
    first, types = reduction.get_reduction_kernel_and_types(
        *(1, "double", size, "0", "a+b", "a[i]*b[i]*factor"),
        arguments="const float *a, const int *b, double factor",
    )
    assert types == ["P", "P", "d"]
    second, types = reduction.get_reduction_kernel_and_types(2, "double", size, "0", "a+b")
    assert types == ["P"]
    groups = -(-1000 // (size * 3))
    partial, result = zeros(groups, np.float64), zeros(1, np.float64)
    block, shared = (size, 1, 1), {"shared_size": size * 8}
    grid = (groups, 1)
    first.prepared_call(
        *(grid, block, partial.gpudata, to_gpu(x).gpudata, to_gpu(y).gpudata, 0.5, 3, 1000),
        **shared,
    )
    parts = np.append(x * y * 0.5, np.zeros(groups * size * 3 - 1000)).reshape(groups, -1)
    assert (partial.get() == parts.sum(axis=1)).all()
    turns = -(-groups // size)
    second.prepared_call((1, 1), block, result.gpudata, partial.gpudata, turns, groups, **shared)
    assert result.get()[0] == (x * y * 0.5).sum()


def test_stages_of_a_type_of_the_preamble(cuda):
    from pygpu.cuda import reduction

    preamble = "struct Pair { float key; int place; };"
    first, _ = reduction.get_reduction_kernel_and_types(
        *(1, "Pair", 32, "Pair{0, 0}", "a.key > b.key ? a : b", "Pair{x[i], (int)i}"),
        **{"arguments": "const float *x", "preamble": preamble},
    )
    result = zeros(1, np.dtype([("key", F4), ("place", I4)]))
    x = to_gpu(np.array([3, 9, 4], F4))
    first.prepared_call(
        (1, 1), (32, 1, 1), result.gpudata, x.gpudata, 1, 3, shared_size=32 * result.dtype.itemsize
    )
    assert result.get()[0].item() == (9, 1)


@pytest.mark.parametrize("size", [3, 5000])
def test_subclasses_launch_the_stages(cuda, size):
    from pygpu.cuda.reduction import ReductionKernel
    from pygpu.cuda.tools import VectorArg

    class Sum(ReductionKernel):
        def __call__(self, *args):
            given = [getattr(arg, "gpudata", arg) for arg in args]
            n, func, more = args[0].size, self.stage1_func, []
            while True:
                groups = -(-n // (4 * self.block_size))
                result = zeros(groups, self.dtype_out)
                func(
                    *((groups, 1), (self.block_size, 1, 1), None),
                    *(result.gpudata, *more, *given, 4, n),
                    shared_size=self.block_size * self.dtype_out.itemsize,
                )
                if groups == 1:
                    return result
                n, func, more = groups, self.stage2_func, [result.gpudata]

    x = np.arange(size, dtype=F4) % 11
    for arguments in (None, [VectorArg(F4, "in")]):
        plain = Sum(F4, "0", "a+b", arguments=arguments)
        assert plain(to_gpu(x)).get()[0] == x.sum()
        assert (plain.stage1_arg_types, plain.stage2_arg_types) == (["P"], ["P", "P"])
    scaled = Sum(np.float64, "0", "a+b", "x[i]*t", "const float *x, float t", name="scaled")
    assert scaled(to_gpu(x), 0.5).get()[0] == x.sum() / 2
    assert scaled.stage2_arg_types == ["P", "P", "f"]


def test_stages_of_reductions_refuse(cuda):
    from pygpu.cuda import reduction

    for arguments, message in (
        ((3, "float", 32, "0", "a+b"), "stage is 1 or 2, not 3"),
        ((1, "float", 32, "0", "a+b"), "stage 1 needs arguments"),
        ((2, "float", 0, "0", "a+b"), "block_size must be from 1 to 1024, not 0"),
        ((2, "float", 2048, "0", "a+b"), "not 2048"),
    ):
        with pytest.raises(ValueError, match=message):
            reduction.get_reduction_kernel_and_types(*arguments)


def test_functions_of_arguments_other_than_arrays(cuda):
    from pygpu.cuda import curandom, gpuarray

    host = np.arange(6, dtype=F4)
    for name in ("sum", "any", "all", "min", "max", "transpose"):
        with pytest.raises(
            TypeError, match=f"{name}: a GPUArray is needed, not ndarray; use to_gpu"
        ):
            getattr(gpuarray, name)(host)
    picks = to_gpu(np.array([1, 2], I4))
    with pytest.raises(TypeError, match="take: a GPUArray is needed, not list"):
        gpuarray.take([1, 2, 3], picks)
    with pytest.raises(TypeError, match="reshape: a GPUArray is needed, not int"):
        gpuarray.reshape(5, 1)
    for name in ("sum", "min", "max"):
        with pytest.raises(TypeError, match=f"subset_{name}: an array on the device"):
            getattr(gpuarray, f"subset_{name}")(picks, host)
    for count in (-1, 20001, 1 << 70):
        with pytest.raises(ValueError, match="generate_direction_vectors: count"):
            curandom.generate_direction_vectors(count)
    with pytest.raises(TypeError):
        curandom.generate_direction_vectors(1.5)
    seeds = curandom.seed_getter_unique(1000).get()
    assert seeds.dtype == I4 and (seeds >= 0).all() and len(set(seeds.tolist())) > 990
    same = curandom.seed_getter_uniform(100).get()
    assert same.dtype == I4 and (same == same[0]).all() and same[0] >= 0
    for make in (curandom.seed_getter_unique, curandom.generate_scramble_constants64):
        with pytest.raises((MemoryError, ValueError)):
            make(1 << 58)
    assert len(np.unique(curandom.generate_scramble_constants64(100).get())) == 100


def test_copies_and_places_that_programs_make_themselves(cuda):
    """As reikna does: an array at an address in an allocation, of which it is told afterwards."""
    from pygpu.cuda import driver, gpuarray

    host = np.arange(24, dtype=np.int32).reshape(4, 6)
    whole = gpuarray.to_gpu(host)
    part = gpuarray.empty((2, 3), np.int32)
    gpuarray._memcpy_discontig(part, whole[1::2, ::-2])
    assert (part.get() == host[1::2, ::-2]).all()
    gpuarray._memcpy_discontig(whole[:2, :3], host[2:, 3:])
    back = np.zeros((6, 4), np.int32).T
    gpuarray._memcpy_discontig(back, whole)
    host[:2, :3] = host[2:, 3:]
    assert (back == host).all()
    with pytest.raises(ValueError, match="differ in shape or dtype"):
        gpuarray._memcpy_discontig(part, whole)

    memory = driver.to_device(np.arange(10, dtype=np.int32))
    view = gpuarray.GPUArray((5,), np.int32, strides=(-8,), gpudata=int(memory) + 36)
    view.base_data = memory
    assert view.offset == 36 and (view.get() == [9, 7, 5, 3, 1]).all()
    view.offset = 32
    assert (view.get() == [8, 6, 4, 2, 0]).all()
