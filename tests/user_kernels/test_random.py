"""Random numbers: known answers, distributions, independence of device and size."""

from __future__ import annotations

import numpy as np
import pytest

import pygpu.array
from pygpu import cltypes
from pygpu._src.user_kernels.random import Generator
from pygpu.clrandom import PhiloxGenerator, ThreefryGenerator

MAX = 0xFFFFFFFF
PI = [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344]
# (generator, counter, key, words): the published known answers of Random123.
KNOWN = [
    ("philox", [0] * 4, [0, 0], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ("philox", [MAX] * 4, [MAX] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    ("philox", PI, [0xA4093822, 0x299F31D0], [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
    ("threefry", [0] * 4, [0] * 4, [0x9C6CA96A, 0xE17EAE66, 0xFC10ECD4, 0x5256A7D8]),
    ("threefry", [MAX] * 4, [MAX] * 4, [0x2A881696, 0x57012287, 0xF6C7446E, 0xA16A6732]),
    (
        "threefry",
        PI,
        [0xA4093822, 0x299F31D0, 0x082EFA98, 0xEC4E6C89],
        [0x59CD1DBB, 0xB8879579, 0x86B5D00C, 0xAC8B6D84],
    ),
]


def number(words):
    return sum(word << 32 * place for place, word in enumerate(words))


@pytest.mark.parametrize(("name", "counter", "key", "words"), KNOWN)
def test_known_answers(side, name, counter, key, words):
    array = side.array(np.zeros(4, np.uint32))
    Generator(name, key, number(counter)).fill(array, "bits")
    assert array.get().tolist() == words


def test_counter_carries_and_goes_on(side):
    key, start = [5, 6], (1 << 64) - 2
    whole = side.array(np.zeros(40, np.uint32))
    generator = Generator("philox", key, start)
    generator.fill(whole, "bits")
    assert generator.counter == start + 10
    parts = []
    generator = Generator("philox", key, start)
    for n in (4, 0, 3, 1, 25):
        array = side.array(np.zeros(n, np.uint32))
        generator.fill(array, "bits")
        parts.append(array.get())
    expected = whole.get()
    assert np.array_equal(parts[0], expected[:4])
    assert np.array_equal(parts[2], expected[4:7])
    assert np.array_equal(parts[3], expected[8:9])
    assert np.array_equal(parts[4], expected[12:37])
    assert generator.counter == start + 1 + 1 + 1 + 7


@pytest.mark.parametrize(
    ("name", "kind", "dtype"),
    [("philox", "bits", np.uint32), ("threefry", "bits", np.uint32), ("philox", "normal", "f4")],
)
def test_each_size_gets_the_same_numbers_and_no_more(side, name, kind, dtype):
    """CPUs compute 64 blocks of four numbers side by side; the counter carries among them. GPUs
    make full blocks first, of normal numbers in two halves of the array."""
    start = (1 << 64) - 5
    whole = side.array(np.zeros(1024, dtype))
    Generator(name, [5, 6, 7, 8], start).fill(whole, kind)
    expected = whole.get()
    assert len(np.unique(expected)) == 1024
    for n in (1, 4, 11, 12, 252, 255, 256, 257, 511, 513, 1021):
        for first in (3, 4):  # unaligned for stores of a block, and aligned
            array = side.array(np.full(1032, 7, dtype))
            Generator(name, [5, 6, 7, 8], start).fill(array[first : first + n], kind)
            found = array.get()
            assert np.array_equal(found[first : first + n], expected[:n])
            assert (found[:first] == 7).all() and (found[first + n :] == 7).all()


@pytest.mark.parametrize("dtype", ["u4", "f4"])
def test_a_counter_that_does_not_carry(side, dtype):
    """Its upper words are part of Philox's keys on GPUs: the same numbers come where it does."""
    kind = "bits" if dtype == "u4" else "normal"
    start = (0x1234567890ABCDEF << 64) + (0x1020304 << 32)
    for first in (start + 7, start + (1 << 32) - 3):  # the kernel for the latter carries
        near, far = (side.array(np.zeros(40, dtype)) for _ in range(2))
        Generator("philox", [5, 6], first).fill(near, kind)
        for block in range(10):
            Generator("philox", [5, 6], first + block).fill(far[4 * block : 4 * block + 4], kind)
        assert np.array_equal(near.get(), far.get())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["PhiloxGenerator", "ThreefryGenerator"])
def test_distributions(side, name, dtype):
    import pygpu.clrandom as clrandom

    generator = getattr(clrandom, name)(side.context, seed=12)
    n = 40001
    array = side.array(np.full(n, -9, dtype))
    generator.fill_uniform(array, -1, 3)
    x = array.get()
    assert x.min() >= -1 and x.max() < 3 and len(np.unique(x)) > 0.99 * n
    assert abs(x.mean() - 1) < 0.03 and abs(x.var() - 16 / 12) < 0.03
    counts = np.histogram(x, 16, (-1, 3))[0]
    assert ((counts - n / 16) ** 2 / (n / 16)).sum() < 45  # chi squared, 15 degrees: 1e-4
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 0.02
    generator.fill_normal(array, 2, 0.5)
    z = (array.get() - 2) / 0.5
    assert np.isfinite(z).all()
    for moment, expected in ((1, 0), (2, 1), (3, 0), (4, 3)):
        assert abs((z**moment).mean() - expected) < 0.15
    assert abs((np.abs(z) > 1.96).mean() - 0.05) < 0.006


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_are_those_of_the_random_words(side, dtype):
    """Logarithms, roots, sines and cosines are right to the last digits, also in the tails."""
    key, n = [17, 4], 40000
    per_block = 16 // np.dtype(dtype).itemsize
    words = side.array(np.zeros(4 * n // per_block, np.uint32))
    Generator("philox", key, 9).fill(words, "bits")
    word = words.get().astype(np.uint64)
    if dtype == np.float64:
        word = word[0::2] << 32 | word[1::2]
    bits, long = 8 * np.dtype(dtype).itemsize, np.longdouble
    v = (word.astype(long) + 0.5) / long(2) ** bits
    u = v if bits == 32 else ((word >> np.uint64(11)).astype(long) + 1) / long(2) ** 53
    found = {}
    for kind in ("exponential", "laplace", "normal"):
        array = side.array(np.zeros(n, dtype))
        Generator("philox", key, 9).fill(array, kind)
        found[kind] = array.get().astype(long)
    eps = np.finfo(dtype).eps
    assert np.allclose(found["exponential"], -np.log(u), rtol=4 * eps, atol=eps / 2)
    wanted = np.where(v < 0.5, np.log(2 * v), -np.log(2 - 2 * v))
    step = long(2) ** -min(bits, 53) / np.minimum(v, 1 - v)  # of the uniform number, relative
    assert np.all(np.abs(found["laplace"] - wanted) < 4 * step + 4 * eps * np.abs(wanted) + eps)
    first, second = (found["normal"][k::2] for k in (0, 1))
    if bits == 32:
        radius, turn = np.sqrt(-2 * np.log(u[0::2])), word[1::2]
    else:
        odd = (word[0::2] >> np.uint64(11) | np.uint64(1)).astype(long)
        radius, turn = np.sqrt(-2 * np.log(odd / long(2) ** 53)), word[1::2]
    signed = (
        (turn << np.uint64(2)).astype(np.int64 if bits == 64 else np.uint32).view(f"i{bits // 8}")
    )
    half_turns = signed.astype(long) / long(2) ** (bits + 1)  # from an axis that two bits name
    angle = half_turns * long(np.pi) + half_turns * long(1.2246467991473532e-16)  # pi's rest
    along = np.cos(angle) * np.where(turn >> np.uint64(bits - 1), -1, 1)
    odd = (turn >> np.uint64(bits - 2) & np.uint64(1)).astype(bool)
    directions = np.where(odd, np.sin(angle), along), np.where(odd, along, np.sin(angle))
    allowed = 6 * eps * np.maximum(1, radius) + eps / radius
    assert np.all(np.abs(first - radius * directions[0]) < allowed)
    assert np.all(np.abs(second - radius * directions[1]) < allowed)


def test_integers(side):
    from pygpu.clrandom import PhiloxGenerator

    generator = PhiloxGenerator(side.context, seed=3)
    for dtype in (np.int8, np.uint16, np.int32, np.int64, np.uint64):
        array = side.array(np.zeros(3000, dtype))
        low = 0 if np.dtype(dtype).kind == "u" else -3
        generator.fill_uniform(array, low, 5)
        values, counts = np.unique(array.get(), return_counts=True)
        assert values.tolist() == list(range(low, 5))
        assert counts.min() > 0.7 * 3000 / (5 - low)
    array = side.array(np.zeros(2000, np.int64))
    generator.fill_uniform(array, -(1 << 62), 1 << 62)
    assert (array.get() < -(1 << 61)).any() and (array.get() > 1 << 61).any()
    with pytest.raises(OverflowError):
        generator.fill_uniform(side.array(np.zeros(3, np.int8)), 0, 129 + 128)
    with pytest.raises(ValueError, match="no integer"):
        generator.fill_uniform(side.array(np.zeros(3, np.int8)), 4, 4)
    with pytest.raises(TypeError, match="floats"):
        generator.fill_normal(side.array(np.zeros(3, np.int8)))


def test_views_vectors_and_seeds(side):
    from pygpu.clrandom import PhiloxGenerator

    host = np.full((40, 50), -1, np.float32)
    whole = side.array(host)
    part = host[::2, 1::3]
    PhiloxGenerator(side.context, seed=1).fill_uniform(side.view(whole, host, part))
    got = whole.get()
    inside = got[::2, 1::3].copy()
    assert (inside >= 0).all() and len(np.unique(inside)) > 300
    got[::2, 1::3] = -1
    assert (got == -1).all()
    # Not aligned to four items, the same numbers
    flat = side.array(np.zeros(400, np.float32))
    PhiloxGenerator(side.context, seed=1).fill_uniform(flat)
    shifted_host = np.zeros(401, np.float32)
    shifted = side.array(shifted_host)
    PhiloxGenerator(side.context, seed=1).fill_uniform(
        side.view(shifted, shifted_host, shifted_host[1:])
    )
    assert np.array_equal(shifted.get()[1:], flat.get())
    assert np.array_equal(inside.ravel()[:300], flat.get()[:300])
    z = side.array(np.zeros(100, np.complex64))
    PhiloxGenerator(side.context, seed=1).fill_uniform(z)
    assert np.array_equal(z.get().view(np.float32), flat.get()[:200])


def test_clrandom_functions(opencl):
    import pygpu.clrandom as clrandom
    from pygpu import cltypes

    x = clrandom.rand(opencl.queue, (30, 20), np.float32, a=2, b=4)
    assert x.shape == (30, 20) and (x.get() >= 2).all() and (x.get() < 4).all()
    clrandom.fill_rand(x)
    assert (x.get() < 1).all() and len(np.unique(x.get())) > 590
    y = clrandom.rand(opencl.queue, 100, cltypes.float4)
    assert len(np.unique(y.get().view(np.float32))) > 390
    generator = clrandom.PhiloxGenerator(opencl.context, key=[1], counter=[1, 2, 3, 4])
    assert generator.counter == [1, 2, 3, 4]
    assert generator.normal(opencl.queue, (5,), np.float64, mu=100).get().min() > 80
    assert generator.uniform(opencl.queue, (5,), np.float64, a=1, b=2).get().min() >= 1
    with pytest.raises(TypeError, match="seed"):
        clrandom.ThreefryGenerator(opencl.context, key=[1], counter=[1], seed=4)
    with pytest.raises(TypeError, match="float16"):
        clrandom.rand(opencl.queue, 3, np.float16)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "i4", "float4"])
def test_kernels_of_a_generator_fill_as_it_does(opencl, dtype):
    dtype = getattr(cltypes, dtype) if dtype == "float4" else np.dtype(dtype)
    kind = "normal" if np.dtype(dtype).kind == "f" else "uniform"
    for cls, key in ((PhiloxGenerator, [5]), (ThreefryGenerator, [5, 6, 7])):
        generator = cls(opencl.queue.context, key=key, counter=[MAX, 2, 3, 4])
        want = pygpu.array.zeros(opencl.queue, 101, dtype)
        got = pygpu.array.zeros(opencl.queue, 101, dtype)
        fill, rise, each = generator.get_gen_kernel(dtype, kind)
        scale, shift = (10, -3) if dtype == "i4" else (1, 0)
        counter = [MAX, 2, 3, 4]
        rest = got.data, 101 * each, scale, shift
        fill(opencl.queue, (1,), None, *key, *counter, *rest).wait()
        if kind == "normal":
            generator.fill_normal(want)
        else:
            generator.fill_uniform(want, shift, shift + scale)
        assert got.get().tobytes() == want.get().tobytes()
        assert number(generator.counter) - number(counter) <= 101 * rise


def test_wrong_kernels_of_a_generator(opencl):
    generator = PhiloxGenerator(opencl.queue.context)
    for dtype, kind in (("i4", "normal"), ("f4", "binomial")):
        with pytest.raises(ValueError, match=f"distribution '{kind}' of .* pass uniform"):
            generator.get_gen_kernel(dtype, kind)
    with pytest.raises(TypeError, match="random numbers of dtype .* are not supported"):
        generator.get_gen_kernel("S3", "uniform")
    fill = generator.get_gen_kernel("f4", "uniform")[0]
    memory = pygpu.array.zeros(opencl.queue, 4, np.float32).data
    with pytest.raises(TypeError, match="9 arguments, not 2"):
        fill(opencl.queue, (1,), None, 1, 2)
    with pytest.raises(ValueError, match="up to byte 20 of the memory, which has 16"):
        fill(opencl.queue, (1,), None, 1, 0, 0, 0, 0, memory, 5, 1, 0)


def test_curandom(cuda):
    from pygpu.cuda import curandom

    for dtype in (np.float32, np.float64, np.int32, np.uint32):
        x = curandom.rand((50, 60), dtype).get()
        assert x.shape == (50, 60) and len(np.unique(x)) > 2990
        if np.dtype(dtype).kind == "f":
            assert x.min() >= 0 and x.max() < 1 and abs(x.mean() - 0.5) < 0.03
    make = curandom.XORWOWRandomNumberGenerator
    same = [make(lambda n: cuda.array(np.full(n, 7, np.int32)), offset=o) for o in (0, 0, 1)]
    a, b, c = (generator.gen_uniform(100, np.float32).get() for generator in same)
    assert np.array_equal(a, b) and np.array_equal(a[4:], c[:-4])
    assert len(np.unique(make(curandom.seed_getter_unique).gen_uniform(100, np.uint32).get())) > 98
    with pytest.raises(TypeError, match="right length"):
        make(lambda n: cuda.array(np.zeros(n + 1, np.int32)))
    generator = curandom.MRG32k3aRandomNumberGenerator(curandom.seed_getter_uniform)
    generator.call_skip_ahead(4)
    generator.call_skip_ahead_subsequence(2)
    z = generator.gen_log_normal(20001, np.float32, 0.5, 0.25).get()
    assert abs(np.log(z).mean() - 0.5) < 0.02 and abs(np.log(z).std() - 0.25) < 0.02
    assert curandom.get_curand_version() >= (5, 0, 0)


@pytest.mark.parametrize("mean", [0.0, 0.5, 4.0, 13.0, 400.0])
def test_poisson(cuda, mean):
    from pygpu.cuda.curandom import XORWOWRandomNumberGenerator

    generator = XORWOWRandomNumberGenerator(lambda n: cuda.array(np.full(n, 5, np.int32)))
    x = generator.gen_poisson(20000, np.uint32, mean).get().astype(float)
    limit = 6 * np.sqrt(mean / 20000)
    assert abs(x.mean() - mean) <= limit and abs(x.var() - mean) <= 0.06 * mean + limit
    data = cuda.array(np.full(20000, mean, np.float32))
    generator.fill_poisson(data)
    assert abs(data.get().mean() - mean) <= limit


@pytest.mark.parametrize("mean", [-1, float("nan"), float("inf")])
def test_what_no_poisson_numbers_have_for_a_mean(cuda, mean):
    from pygpu.cuda.curandom import XORWOWRandomNumberGenerator

    generator = XORWOWRandomNumberGenerator()
    with pytest.raises(ValueError, match=f"fill_poisson: lambda_value .*, not {float(mean)}"):
        generator.gen_poisson(3, np.uint32, mean)
    with pytest.raises(ValueError, match="fill_poisson: lambda_value"):
        generator.fill_poisson(cuda.array(np.zeros(3, np.uint32)), mean)
    with pytest.raises(TypeError, match="gen_poisson: lambda_value must be a number"):
        generator.gen_poisson(3, np.uint32, None)


def test_sobol(cuda):
    from pygpu._src.user_kernels.sobol import direction_numbers
    from pygpu.cuda import curandom

    for name, bits in (
        ("Sobol32", 32),
        ("Sobol64", 64),
        ("ScrambledSobol32", 32),
        ("ScrambledSobol64", 64),
    ):
        which = curandom.direction_vector_set.VECTOR_64 if bits == 64 else None
        vectors = curandom.generate_direction_vectors(5, which)
        assert vectors.shape == (5, bits)
        generator = getattr(curandom, f"{name}RandomNumberGenerator")(vectors)
        x = np.concatenate(
            [
                generator.gen_uniform(5 * 100, np.float64).get(),
                generator.gen_uniform(5 * 156, np.float64).get(),
            ]
        ).reshape(256, 5)
        for d in range(5):  # each 256th of the interval has one of 256 consecutive numbers
            assert np.array_equal(np.sort((x[:, d] * 256).astype(int)), np.arange(256)), (name, d)
        one = getattr(curandom, f"{name}RandomNumberGenerator")()
        z = one.gen_normal(4096, np.float32).get()
        assert abs(z.mean()) < 0.01 and abs(z.std() - 1) < 0.01 and np.isfinite(z).all()
        assert len(np.unique(one.gen_uniform(64, np.uint32).get())) == 64
    numbers = direction_numbers(40, 32)
    assert len({tuple(row) for row in numbers.tolist()}) == 40
    with pytest.raises(TypeError, match="does not support"):
        curandom.Sobol32RandomNumberGenerator().gen_uniform(3, np.uint64)


@pytest.mark.parametrize("kind", ["normal", "rayleigh"])
@pytest.mark.parametrize(("scale", "shift"), [(2.0**-125, 0), (-(2.0**-124), 2.0**-123), (0, 1)])
def test_tiny_scales_keep_the_digits(side, kind, scale, shift):
    """The kernels multiply the scale by 4e-4, with which it would be subnormal."""
    tiny, ordinary = (side.array(np.zeros(64, np.float32)) for _ in range(2))
    Generator("philox", [5, 6], 7).fill(tiny, kind, scale, shift if kind == "normal" else 0)
    Generator("philox", [5, 6], 7).fill(
        ordinary, kind, scale * 2.0**100, shift * 2.0**100 if kind == "normal" else 0
    )
    expected = ordinary.get() * np.float32(2.0**-100)
    np.testing.assert_allclose(tiny.get(), expected, rtol=3e-6, atol=3e-6 * abs(scale))
