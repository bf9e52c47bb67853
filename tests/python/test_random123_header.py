"""Philox and Threefry device headers: published vectors, NumPy's Philox, and a model written from
the paper.

The known answers are those of the file kat_vectors of Random123, the library of the algorithms'
authors.
"""

import re

import numpy as np
import pytest

import pygpu as cl

KNOWN_ANSWERS = """
philox2x32 10   00000000 00000000 00000000   ff1dae59 6cd10df2
philox2x32 10   ffffffff ffffffff ffffffff   2c3f628b ab4fd7ad
philox2x32 10   243f6a88 85a308d3 13198a2e   dd7ce038 f62a4c12
philox4x32 10   00000000 00000000 00000000 00000000 00000000 00000000   \
                6627e8d5 e169c58d bc57ac4c 9b00dbd8
philox4x32 10   ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff   \
                408f276d 41c83b0e a20bc7c6 6d5451fd
philox4x32 10   243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0   \
                d16cfe09 94fdcceb 5001e420 24126ea1
threefry2x32 20 00000000 00000000 00000000 00000000   6b200159 99ba4efe
threefry2x32 20 ffffffff ffffffff ffffffff ffffffff   1cb996fc bb002be7
threefry2x32 20 243f6a88 85a308d3 13198a2e 03707344   c4923a9c 483df7a0
threefry4x32 20 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000   \
                9c6ca96a e17eae66 fc10ecd4 5256a7d8
threefry4x32 20 ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff   \
                2a881696 57012287 f6c7446e a16a6732
threefry4x32 20 243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0 082efa98 ec4e6c89   \
                59cd1dbb b8879579 86b5d00c ac8b6d84
"""

GENERATORS = [f"{g}{n}x{w}" for g in ("philox", "threefry") for n in (2, 4) for w in (32, 64)]


def parts(generator):
    name, n, w = re.match(r"(\D+)(\d)x(\d+)", generator).groups()
    return name, int(n), int(w)


def key_words(generator):
    name, n, _ = parts(generator)
    return n // 2 if name == "philox" else n


class Model:
    """Both generators in Python integers, from the paper's description."""

    MULTIPLIERS = {
        (2, 32): [0xD256D193],
        (4, 32): [0xD2511F53, 0xCD9E8D57],
        (2, 64): [0xD2B74407B1CE6E93],
        (4, 64): [0xD2E7470EE14C6C93, 0xCA5A826395121157],
    }
    WEYL = {
        32: [0x9E3779B9, 0xBB67AE85],
        64: [0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B],
    }
    ROTATIONS = {
        (2, 32): [[13], [15], [26], [6], [17], [29], [16], [24]],
        (4, 32): [[10, 26], [11, 21], [13, 27], [23, 5], [6, 20], [17, 11], [25, 10], [18, 20]],
        (2, 64): [[16], [42], [12], [31], [16], [32], [24], [21]],
        (4, 64): [[14, 16], [52, 57], [23, 40], [5, 37], [25, 33], [46, 12], [58, 22], [32, 32]],
    }
    PARITY = {32: 0x1BD11BDA, 64: 0x1BD11BDAA9FC1A22}

    @classmethod
    def philox(cls, n, w, rounds, counter, key):
        mask, x, k = 2**w - 1, list(counter), list(key)
        for _ in range(rounds):
            products = [m * x[2 * i] for i, m in enumerate(cls.MULTIPLIERS[n, w])]
            if n == 2:
                x = [(products[0] >> w) ^ k[0] ^ x[1], products[0] & mask]
            else:
                p, q = products
                x = [(q >> w) ^ x[1] ^ k[0], q & mask, (p >> w) ^ x[3] ^ k[1], p & mask]
            k = [(a + b) & mask for a, b in zip(k, cls.WEYL[w], strict=False)]
        return x

    @classmethod
    def threefry(cls, n, w, rounds, counter, key):
        mask = 2**w - 1
        schedule = [*key, cls.PARITY[w]]
        for word in key:
            schedule[n] ^= word
        x = [(c + k) & mask for c, k in zip(counter, schedule, strict=False)]
        for r in range(rounds):
            pairs = [(0, 1)] if n == 2 else ([(0, 1), (2, 3)] if r % 2 == 0 else [(0, 3), (2, 1)])
            for (a, b), turn in zip(pairs, cls.ROTATIONS[n, w][r % 8], strict=True):
                x[a] = (x[a] + x[b]) & mask
                x[b] = ((x[b] << turn | x[b] >> (w - turn)) & mask) ^ x[a]
            if r % 4 == 3:
                s = (r + 1) // 4
                x = [(v + schedule[(s + i) % (n + 1)]) & mask for i, v in enumerate(x)]
                x[n - 1] = (x[n - 1] + s) & mask
        return x


@pytest.fixture(scope="module")
def run(ctx):
    """A function that applies a generator to rows of counters and keys."""
    source = """
    #include <pyopencl-random123/philox.cl>
    #include <pyopencl-random123/threefry.cl>
    """
    for generator in GENERATORS:
        _, n, w = parts(generator)
        source += f"""
        __kernel void k_{generator}(int rounds, __global const uint{w}_t *counters,
                                    __global const uint{w}_t *keys, __global uint{w}_t *out)
        {{
            size_t i = get_global_id(0);
            {generator}_ctr_t c, r;
            {generator}_ukey_t u;
            for (int j = 0; j < {n}; ++j) c.v[j] = counters[{n} * i + j];
            for (int j = 0; j < {key_words(generator)}; ++j)
                u.v[j] = keys[{key_words(generator)} * i + j];
            {generator}_key_t k = {generator}keyinit(u);
            r = rounds < 0 ? {generator}(c, k) : {generator}_R(rounds, c, k);
            for (int j = 0; j < {n}; ++j) out[{n} * i + j] = r.v[j];
        }}"""
    program, queue = cl.Program(ctx, source).build(), cl.CommandQueue(ctx)

    def run(generator, counters, keys, rounds=-1):
        _, _, w = parts(generator)
        word = np.dtype(f"u{w // 8}")
        counters, keys = np.array(counters, word, ndmin=2), np.array(keys, word, ndmin=2)
        out, flags = np.zeros_like(counters), cl.mem_flags
        buffers = [
            cl.Buffer(ctx, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=a)
            for a in (counters, keys)
        ]
        result = cl.Buffer(ctx, flags.WRITE_ONLY, out.nbytes)
        kernel = getattr(program, f"k_{generator}")
        kernel(queue, (len(out),), None, np.int32(rounds), *buffers, result)
        cl.enqueue_copy(queue, out, result)
        return out

    return run


@pytest.mark.parametrize("line", re.findall(r"^\w.*$", KNOWN_ANSWERS, re.MULTILINE))
def test_known_answers(run, line):
    generator, rounds, *words = line.split()
    words = [int(word, 16) for word in words]
    _, n, _ = parts(generator)
    counter, key, answer = words[:n], words[n : n + key_words(generator)], words[-n:]
    assert run(generator, counter, key)[0].tolist() == answer
    assert run(generator, counter, key, int(rounds))[0].tolist() == answer


@pytest.mark.parametrize("generator", GENERATORS)
def test_model_for_every_number_of_rounds(run, generator):
    name, n, w = parts(generator)
    rng = np.random.default_rng(w + n)
    counters = rng.integers(0, 2**w, (50, n), dtype=f"u{w // 8}")
    keys = rng.integers(0, 2**w, (50, key_words(generator)), dtype=f"u{w // 8}")
    counters[0], keys[0] = 2**w - 1, 2**w - 1
    for rounds in [*range(17), 20]:
        expected = [
            getattr(Model, name)(n, w, rounds, c, k)
            for c, k in zip(counters.tolist(), keys.tolist(), strict=True)
        ]
        assert run(generator, counters, keys, rounds).tolist() == expected, rounds
    default = 10 if name == "philox" else 20
    np.testing.assert_array_equal(
        run(generator, counters, keys), run(generator, counters, keys, default)
    )


def test_philox4x64_is_numpys(run):
    key, counter = [0x0123456789ABCDEF, 2**64 - 1], [5, 2**64 - 1, 7, 9]
    host = np.random.Philox(counter=np.array(counter, np.uint64), key=np.array(key, np.uint64))
    # NumPy adds one to the counter before each block.
    counters = [[6 + i, *counter[1:]] for i in range(8)]
    device = run("philox4x64", counters, [key] * 8)
    np.testing.assert_array_equal(device.ravel(), host.random_raw(32))


def test_types_are_as_large_as_upstreams(ctx, queue):
    names = ["r123array1x32", "r123array2x32", "r123array4x32", "r123array8x32"]
    names += ["r123array1x64", "r123array2x64", "r123array4x64", "r123array16x8"]
    sizes = [*(f"sizeof(struct {name})" for name in names), "R123_W(struct r123array16x8)"]
    stores = "\n".join(f"out[{i}] = {size};" for i, size in enumerate(sizes))
    source = f"""#include <pyopencl-random123/array.h>
    __kernel void k(__global int *out) {{ {stores} }}
    """
    out = np.zeros(len(names) + 1, np.int32)
    buffer = cl.Buffer(ctx, cl.mem_flags.WRITE_ONLY, out.nbytes)
    cl.Program(ctx, source).build().k(queue, (1,), None, buffer)
    cl.enqueue_copy(queue, out, buffer)
    assert out.tolist() == [4, 8, 16, 32, 8, 16, 32, 16, 8]


def test_uniform_and_independent(run):
    """A coarse check that the words are used in the right way: mean, variance, no repeats, no
    correlation.
    """
    n = 20000
    counters = np.zeros((n, 4), np.uint32)
    counters[:, 0] = np.arange(n)
    for generator in ("philox4x32", "threefry4x32"):
        keys = np.zeros((n, key_words(generator)), np.uint32)
        words = run(generator, counters, keys)
        assert len(np.unique(words)) > 4 * n - 20
        u = words / 2.0**32
        assert abs(u.mean() - 0.5) < 0.005 and abs(u.var() - 1 / 12) < 0.002
        assert np.abs(np.corrcoef(u.T) - np.eye(4)).max() < 0.03
