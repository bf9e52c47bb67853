"""pyopencl-complex.h against NumPy in higher precision: every function, the whole range of
exponents.

cfloat_t is compared with complex128, cdouble_t with NumPy's longest complex. Errors are relative
to the modulus of the exact result, in units of the type's epsilon; OpenCL itself allows its
functions up to 16 of them.
"""

from fractions import Fraction

import numpy as np
import pytest

import pygpu as cl

UNARY = [
    "neg", "conj", "sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "cast",
]  # fmt: skip
TO_REAL = ["real", "imag", "abs", "abs_squared"]
BINARY = {
    "add": ("z", "w"), "addr": ("z", "x"), "radd": ("x", "z"),
    "sub": ("z", "w"), "subr": ("z", "x"), "rsub": ("x", "z"),
    "mul": ("z", "w"), "mulr": ("z", "x"), "rmul": ("x", "z"),
    "divide": ("z", "w"), "divider": ("z", "x"), "rdivide": ("x", "z"),
    "pow": ("z", "w"), "powr": ("z", "x"), "rpow": ("x", "z"),
}  # fmt: skip

SOURCE = """
{define}
#include <pyopencl-complex.h>
#define ARGS __global const {T} *zs, __global const {T} *ws, __global const {R} *xs
#define LOAD size_t i = get_global_id(0); {T} z = zs[i], w = ws[i]; {R} x = xs[i];
#define COMPLEX(NAME, EXPR) \\
    __kernel void k_##NAME(ARGS, __global {T} *out) {{ LOAD out[i] = EXPR; (void) w; (void) x; }}
#define REAL(NAME, EXPR) \\
    __kernel void k_##NAME(ARGS, __global {R} *out) {{ LOAD out[i] = EXPR; (void) w; (void) x; }}
"""


class Runner:
    """Runs one function of the header on arrays."""

    def __init__(self, ctx, queue, base):
        self.queue, self.real = queue, np.dtype({"float": np.float32, "double": np.float64}[base])
        self.complex = np.dtype({"float": np.complex64, "double": np.complex128}[base])
        self.wide = {"float": np.complex128, "double": np.clongdouble}[base]
        self.eps = np.finfo(self.real).eps
        type_name = f"c{base}_t"
        define = "#define PYOPENCL_DEFINE_CDOUBLE\n" if base == "double" else ""
        lines = [SOURCE.format(T=type_name, R=base, define=define)]
        lines += [f"COMPLEX({name}, c{base}_{name}(z))" for name in UNARY]
        lines += [f"REAL({name}, c{base}_{name}(z))" for name in TO_REAL]
        lines += [f"COMPLEX({name}, c{base}_{name}({a}, {b}))" for name, (a, b) in BINARY.items()]
        lines += [f"COMPLEX(fma, c{base}_fma(z, w, c{base}_new(x, -x)))"]
        lines += [
            f"COMPLEX(new, c{base}_new(x, z.real))",
            f"COMPLEX(fromreal, c{base}_fromreal(x))",
        ]
        lines += [f"__kernel void size(__global int *s) {{ s[0] = sizeof({type_name}); }}"]
        self.program = cl.Program(ctx, "\n".join(lines)).build()

    def __call__(self, name, z, w=0, x=0):
        z, w, x = np.broadcast_arrays(np.atleast_1d(z), w, x)
        out = np.zeros(z.shape, self.real if name in TO_REAL else self.complex)
        flags, context = cl.mem_flags, self.queue.context
        inputs = [
            cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=array)
            for array in (
                np.array(z, self.complex),
                np.array(w, self.complex),
                np.array(x, self.real),
            )
        ]
        result = cl.Buffer(context, flags.WRITE_ONLY, out.nbytes)
        getattr(self.program, f"k_{name}")(self.queue, z.shape, None, *inputs, result)
        cl.enqueue_copy(self.queue, out, result)
        return out

    def error(self, got, exact):
        """Largest distance from *exact* in epsilons of its modulus; where that is representable."""
        size = np.abs(exact)
        limits = np.finfo(self.real)
        fits = (size < limits.max / 4) & (size > limits.tiny * 4)
        assert fits.any()
        distance = np.abs(got.astype(self.wide) - exact)[fits] / size[fits]
        assert np.isfinite(distance).all(), "an exact result was representable, ours is not"
        return float(distance.max() / self.eps)

    def spread(self, rng, shape=4000, fraction=0.95):
        """Complex numbers whose two exponents are independent and span almost the whole range."""
        low, high = np.array([np.finfo(self.real).minexp, np.finfo(self.real).maxexp]) * fraction
        parts = np.ldexp(
            rng.uniform(-1, 1, (2, shape)), rng.integers(int(low), int(high), (2, shape))
        )
        return (parts[0] + 1j * parts[1]).astype(self.complex)

    def ordinary(self, rng, shape=4000, size=5):
        return (rng.normal(0, size, shape) + 1j * rng.normal(0, size, shape)).astype(self.complex)


@pytest.fixture(scope="module", params=["float", "double"])
def run(request, ctx, device):
    if request.param == "double" and "cl_khr_fp64" not in device.extensions.split():
        pytest.skip(f"{device.name} has no double (cl_khr_fp64)")
    return Runner(ctx, cl.CommandQueue(ctx), request.param)


@pytest.fixture
def rng():
    return np.random.default_rng(20120917)


def wide_arguments(run, rng, spread):
    make = run.spread if spread else run.ordinary
    z, w = make(rng), make(rng)
    return z, w, np.ascontiguousarray(make(rng).real)


def test_layout(run, ctx, queue):
    size = np.zeros(1, np.int32)
    buffer = cl.Buffer(ctx, cl.mem_flags.WRITE_ONLY, 4)
    run.program.size(queue, (1,), None, buffer)
    cl.enqueue_copy(queue, size, buffer)
    assert size[0] == run.complex.itemsize


def exact_results(run, z, w, x):
    """What the functions that round at most once give, from NumPy in the same precision."""
    return {
        "neg": -z, "conj": z.conj(), "cast": z, "real": z.real, "imag": z.imag,
        "add": z + w, "addr": z + x, "radd": x + z, "sub": z - w, "subr": z - x,
        "rsub": (x - z.real) - 1j * z.imag, "new": x + 1j * z.real,
        "mulr": z * x, "rmul": z * x, "fromreal": x.astype(run.complex),
    }  # fmt: skip


def test_exact_functions(run, rng):
    z, w, x = wide_arguments(run, rng, spread=True)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = exact_results(run, z, w, x)
    for name, exact in expected.items():
        got = run(name, z, w, x)
        finite = np.isfinite(exact) & ((np.abs(exact) > np.finfo(run.real).tiny) | (exact == 0))
        np.testing.assert_array_equal(got[finite], exact[finite], err_msg=name)


@pytest.mark.parametrize("spread", [False, True], ids=["ordinary", "all exponents"])
@pytest.mark.parametrize(
    "name", ["mul", "divide", "divider", "rdivide", "abs", "abs_squared", "fma"]
)
def test_arithmetic(run, rng, name, spread):
    z, w, x = wide_arguments(run, rng, spread and name not in ("mul", "abs_squared", "fma"))
    Z, W, X = z.astype(run.wide), w.astype(run.wide), x.astype(run.wide)
    got = run(name, z, w, x)
    if name == "fma":  # relative to the terms: the sum itself may cancel
        terms = np.abs(Z * W) + np.abs(X) * 1.5
        assert (np.abs(got - (Z * W + X * (1 - 1j))) <= 2 * run.eps * terms).all()
        return
    exact = {
        "mul": lambda: Z * W,
        "divide": lambda: Z / W,
        "divider": lambda: Z / X,
        "rdivide": lambda: X / Z,
        "abs": lambda: np.abs(Z),
        "abs_squared": lambda: np.abs(Z) ** 2,
    }[name]()
    assert run.error(got, exact) < 8


def test_division_of_the_largest_and_smallest(run):
    """Cases of Baudin and Smith: Smith's own formula overflows or loses everything in each."""
    info = np.finfo(run.real)
    n = info.maxexp - 1
    top, bottom = np.ldexp(run.real.type(1), n), np.ldexp(run.real.type(1), -n + 2)
    z = np.array(
        [1 + 1j, top * (1 + 1j), top + 1j * bottom, info.max * (1 + 1j), bottom * (1 + 1j), 1e-10]
    )
    w = np.array(
        [1 + 1j * top / 4, top * (1 + 1j), top + 1j, info.max * (1 - 1j), bottom * (1 - 1j), 1 + 1j]
    )
    z, w = z.astype(run.complex), w.astype(run.complex)
    assert run.error(run("divide", z, w), z.astype(run.wide) / w.astype(run.wide)) < 8


def test_division_by_zero_is_numpys(run):
    z = np.array([1, -2 + 3j, 0, 5j], run.complex)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run("divide", z, 0), z / np.zeros(4, run.complex))


@pytest.mark.parametrize("name", ["sqrt", "log"])
def test_all_exponents(run, rng, name):
    z = np.concatenate([run.spread(rng, fraction=1.0), run.ordinary(rng)])
    exact = getattr(np, name)(z.astype(run.wide))
    assert run.error(run(name, z), exact) < 16


def test_sqrt_is_accurate_in_both_parts(run, rng):
    z = run.spread(rng)
    got, exact = run("sqrt", z), np.sqrt(z.astype(run.wide))
    for part in ("real", "imag"):
        assert run.error(getattr(got, part), getattr(exact, part)) < 16


def test_log_is_accurate_near_the_unit_circle(run, rng):
    """Where log |z| is almost 0, squaring and adding loses it all unless the rounding errors are
    kept.
    """
    angle = rng.uniform(-np.pi, np.pi, 4000)
    z = (np.exp(1j * angle) * (1 + rng.normal(0, 1e-4, 4000))).astype(run.complex)
    z[:4] = [1, 1j, -1, 0.6 + 0.8j]
    # |z|^2 - 1 as exact fractions: here NumPy's longest float would be too short.
    excess = [Fraction(float(c.real)) ** 2 + Fraction(float(c.imag)) ** 2 - 1 for c in z]
    exact = np.log1p(np.array([float(e) for e in excess])) / 2
    got = run("log", z).real
    assert (np.abs(got - exact) <= 16 * run.eps * np.abs(exact) + 4 * run.eps**2).all()
    assert got[0] == 0 and got[1] == 0 and got[2] == 0


@pytest.mark.parametrize("name", ["exp", "sin", "cos", "tan", "sinh", "cosh", "tanh"])
def test_elementary(run, rng, name):
    z = np.concatenate(
        [run.ordinary(rng), run.ordinary(rng, size=1e-3), run.ordinary(rng, size=30)]
    )
    exact = getattr(np, name)(z.astype(run.wide))
    assert run.error(run(name, z), exact) < 32


@pytest.mark.parametrize("name", ["exp", "sin", "cos", "sinh", "cosh"])
def test_finite_where_exp_alone_overflows(run, rng, name):
    """Up to a factor below the largest number, with angles that make one or both parts small."""
    limit = np.log(float(np.finfo(run.real).max))
    big = limit + rng.uniform(-3, 3, 4000)
    small = np.arccos(np.clip(np.exp(limit - big - 1), 0, 1)) + rng.normal(0, 1e-3, 4000)
    z = (big + 1j * small if name in ("exp", "sinh", "cosh") else small + 1j * big).astype(
        run.complex
    )
    exact = getattr(np, name)(z.astype(run.wide))
    assert (big > limit).any()
    assert run.error(run(name, z), exact) < 32


@pytest.mark.parametrize("name", ["tan", "tanh"])
def test_tangents_far_out_and_near_poles(run, rng, name):
    along = rng.uniform(-300, 300, 2000)
    poles = np.pi / 2 + rng.normal(0, 1e-3, 2000)
    near = rng.normal(0, 1e-3, 2000)
    z = np.concatenate([along + 1j * near, near + 1j * poles])
    z = (z if name == "tanh" else 1j * z).astype(run.complex)
    exact = getattr(np, name)(z.astype(run.wide))
    assert run.error(run(name, z), exact) < 64
    assert np.abs(np.abs(run(name, z[:2000])) - 1).min() < 1e-6


@pytest.mark.parametrize("name", ["pow", "powr", "rpow"])
def test_powers(run, rng, name):
    z, w = run.ordinary(rng, size=3), run.ordinary(rng, size=3)
    x = np.abs(run.ordinary(rng).real) if name == "rpow" else np.ascontiguousarray(w.real)
    Z, W, X = z.astype(run.wide), w.astype(run.wide), x.astype(run.wide)
    base, power = {"pow": (Z, W), "powr": (Z, X), "rpow": (X, Z)}[name]
    exact = np.exp(power * np.log(base))
    got = run(name, z, w, x)
    allowed = run.eps * (32 + 4 * np.abs(power * np.log(base)))
    assert (np.abs(got - exact) <= allowed * np.abs(exact)).all()


def test_powers_of_zero_and_to_zero(run):
    assert run("pow", 0, 0) == 1 and run("powr", 3j, 0, 0) == 1 and run("powr", 0, 0, 0) == 1
    assert run("pow", 0, 2 + 1j) == 0 and run("powr", 0, 0, 2.5) == 0 and run("rpow", 2, 0, 0) == 0
    assert np.isnan(run("pow", 0, -1)).all() and np.isnan(run("powr", 0, 0, -1)).all()
    got = run("rpow", 0.5, 0, -4)  # a negative real base: (-4)^0.5 = 2i
    assert abs(got[0] - 2j) < 1e-5


@pytest.mark.parametrize("name", ["sqrt", "log"])
def test_branch_cut_follows_the_sign_of_zero(run, name):
    z = np.array([complex(-4, 0.0), complex(-4, -0.0)], run.complex)
    got = run(name, z)
    assert got[0].imag > 0 > got[1].imag
    np.testing.assert_array_equal(got[0].conj(), got[1])


def test_special_values(run):
    inf, nan = np.inf, np.nan
    assert run("abs", complex(inf, nan)) == inf
    assert run("sqrt", complex(-inf, 1)).imag == inf and run("sqrt", complex(inf, 1)) == inf
    assert run("sqrt", complex(nan, inf)).real == inf
    assert run("exp", complex(-inf, inf)) == 0 and run("exp", complex(inf, 0)) == complex(inf, 0)
    assert run("log", 0).real == -inf and run("log", complex(inf, inf)).real == inf
    for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh"):
        assert np.isnan(run(name, complex(nan, 1.5))).all(), f"{name} lost a NaN"
    tanh = run("tanh", np.array([complex(inf, 1), complex(-inf, 1)], run.complex))
    assert tanh.real.tolist() == [1, -1] and not tanh.imag.any()


def test_included_twice_and_without_double(ctx):
    source = """#include <pyopencl-complex.h>
    #include <pyopencl-complex.h>
    #ifdef PYOPENCL_DEFINE_CDOUBLE
    #error defined by itself
    #endif
    __kernel void k(__global cfloat_t *z) { z[0] = cfloat_new(z[1].x, z[1].y); }"""
    assert cl.Program(ctx, source).build().k.num_args == 1


@pytest.mark.parametrize("version", ["CL1.1", "CL1.2", "CL2.0", "CL3.0"])
def test_language_versions(ctx, device, version):
    numbers = tuple(map(int, device.opencl_c_version.split()[2].split(".")))
    if tuple(map(int, version[2:].split("."))) > numbers:
        pytest.skip(f"{device.name} has no OpenCL C {version[2:]}")
    source = """#include <pyopencl-complex.h>
    __kernel void k(__global cfloat_t *z) { z[0] = cfloat_tanh(cfloat_divide(z[1], z[2])); }"""
    program = cl.Program(ctx, source).build([f"-cl-std={version}", "-Werror"])
    assert program.k.num_args == 1
