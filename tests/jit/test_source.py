"""Where functions come from, what is kept, and what is refused and how."""

from __future__ import annotations

import functools
import linecache
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda
from pygpu.pykernel import ArrayType, KernelError, compile_function

F4, F8, I4, U1 = (np.dtype(c) for c in ("f4", "f8", "i4", "u1"))


def test_results_have_the_types_of_numpys_promotion() -> None:
    """Results have the types of NumPy's promotion; numbers of Python are weak."""

    def result(f: Any, *types: Any) -> Any:
        return compile_function(f, types).return_types

    assert result(lambda x: x * 2 + 1.5, F4) == (F4,)
    assert result(lambda x, y: x + y, F4, I4) == (F8,)
    assert result(lambda x: x / 2, I4) == (F8,)
    assert result(lambda x, y: x + y, I4, int) == (I4,)
    assert result(lambda x, y: x * y, int, float) == (F8,)
    assert result(lambda x: x > 0, U1) == (np.dtype(bool),)
    assert result(lambda x: (x, 1, x + 1j), F4) == (F4, np.dtype("i8"), np.dtype("c8"))
    assert result(lambda x: math.sin(x), F4) == (F4,)
    assert result(lambda x: np.sqrt(x), I4) == (F8,)
    assert result(lambda x: np.float64(x) + 1, F4) == (F8,)
    assert result(lambda a: a[0] + a.shape[0], ArrayType(F4, 1)) == (F4,)
    assert result(lambda x: True if x else False, F4) == (np.dtype(bool),)
    assert result(lambda a: None, F4) == ()
    assert result(lambda x: -x + 200, U1) == (U1,)
    with pytest.raises(KernelError, match="out of bounds for uint8"):
        result(lambda x: x + 300, U1)


def test_kept() -> None:
    """One object for the same function, types and dialect, and values of names from outside."""
    k = 2

    def f(x):
        return x * k

    first = compile_function(f, [F4])
    assert compile_function(f, ["float32"]) is first
    assert compile_function(f, [F8]) is not first
    assert compile_function(f, [F4], "opencl") is not first
    assert "2.0f" in first.text
    k = 3
    second = compile_function(f, [F4])
    assert "3.0f" in second.text and second is not first


def test_names_from_outside_change(make: Any) -> None:
    factor = 2

    @pygpu.kernel
    def scaled(a):
        a[cuda.grid(1)] *= factor

    a = make(np.ones(4))
    scaled[1, 4](a)
    factor = 5
    scaled[1, 4](a)
    assert a.get().tolist() == [10] * 4


def decorated(function: Any) -> Any:
    @functools.wraps(function)
    def inner(*args: Any) -> Any:
        return function(*args)

    return inner


def test_sources() -> None:
    """Functions made by exec, in notebooks, by decorators, nested, lambdas."""
    text = "def f(x):\n    return x + 41\n"
    exec(text, space := {})
    assert "41" in compile_function(space["f"], [I4]).text

    cell = "def g(x):\n    return x + 42\n"
    name = "<ipython-input-7-abc>"
    linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
    exec(compile(cell, name, "exec"), space)
    assert "42" in compile_function(space["g"], [I4]).text

    exec("".join(["def h(x):\n", "    return x + 43\n"]), space)
    with pytest.raises(KernelError, match=r"its source is not known .* src="):
        compile_function(space["h"], [I4])
    assert "44" in compile_function(space["h"], [I4], src="def h(x): return x + 44").text

    pair = (lambda x: x + 45, lambda x, y: x - 46)
    alike = {"é": lambda x: x + 7, "b": lambda x: x - 7, "c": lambda x: (
        x | 7
    )}  # fmt: skip
    assert "45" in compile_function(pair[0], [I4]).text
    assert "46" in compile_function(pair[1], [I4, I4]).text
    for function, sign in zip(alike.values(), "+-|"):
        assert f"v_x {sign} 7" in compile_function(function, [int]).text
    with pytest.raises(KernelError, match="not a Python function"):
        compile_function(math.sin, [F4])
    with pytest.raises(KernelError, match="not a Python function"):
        pygpu.kernel(len)


def test_command_line() -> None:
    """Functions of `python -c`."""
    text = "import pygpu\n@pygpu.vectorize\ndef f(x):\n    return x + 47\n"
    text += "assert '47' in f.inspect_source('int32')"
    subprocess.run([sys.executable, "-c", text], check=True, timeout=60)


def a_list(x):
    return [x][0]


def a_dict(x):
    y = {1: x}
    return y


def a_string(x):
    return x + "a"


def a_raise(x):
    raise ValueError(x)


def a_try(x):
    try:
        return x
    except ValueError:
        return 0


def a_with(x):
    with x:
        return 1


def a_comprehension(x):
    return sum(i for i in range(x))


def a_global(x):
    global F4
    F4 = x


def unknown_name(x):
    return x + not_there  # noqa: F821


def before_assignment(x):
    y = z + 1  # noqa: F821
    z = x  # noqa: F841
    return y


def two_types(x):
    if x > 0:
        y = 1
    else:
        y = (1, 2)
    return y


def no_return(x):
    if x > 0:
        return x


def not_callable(x):
    return np.linalg.norm(x)


def wrong_count(x):
    return math.atan2(x)


def wrong_arguments(x):
    return a_list(x, x, x)


def an_attribute(x):
    x.value = 1


def array_sum(a):
    return a + 1


def too_many_indices(a):
    return a[0, 0]


def float_index(a):
    return a[0.5]


def a_method(a):
    return a.argsort()


def constant_shape(n):
    a = cuda.shared.array(n, F4)
    a[0] = n


def a_keyword(x):
    return max(x, key=abs)


def unpacked(x):
    a, b = x
    return a


def a_float_range(x):
    for i in range(0, x):
        x += i
    return x


def a_constant_range(x):
    for i in range(2.0):
        x += i
    return x


def stars(*args):
    return args[0]


def negative_power(x):
    return x**-1


def power_of_two_strings(x):
    return "a" < x


REFUSED = [
    (a_list, I4, "lists are not supported", "[x]"),
    (a_dict, I4, "dictionaries are not supported", "{1: x}"),
    (a_string, I4, "strings are only supported in print", '"a"'),
    (a_raise, I4, "must be constant in kernels", "x"),
    (a_try, I4, "exceptions are not supported", "try:"),
    (a_with, I4, "with is not supported", "with x:"),
    (a_comprehension, I4, "generators are not supported", "(i for i in range(x))"),
    (a_global, I4, "global variables cannot be assigned", "global F4"),
    (unknown_name, I4, "name 'not_there' is not defined", "not_there"),
    (before_assignment, I4, "used before anything is assigned", "z"),
    (two_types, I4, "was int before, and would become (int, int)", "y"),
    (no_return, I4, "may end without return", None),
    (not_callable, I4, "numpy.linalg.norm cannot be called", "np.linalg.norm"),
    (wrong_count, F4, "takes 2 arguments, 1 given", "math.atan2(x)"),
    (wrong_arguments, F4, "too many positional arguments", "a_list(x, x, x)"),
    (an_attribute, F4, "attributes cannot be assigned", "x.value"),
    (array_sum, ArrayType(F4, 1), "arithmetic is on items", "a"),
    (too_many_indices, ArrayType(F4, 1), "2 indices for an array of 1", "a[0, 0]"),
    (float_index, ArrayType(F4, 1), "must be an integer, not float", "a[0.5]"),
    (a_float_range, F4, "integers, not float32; convert it with int(...)", "range(0, x)"),
    (a_constant_range, F4, "integers, not float; convert it with int(...)", "range(2.0)"),
    (a_method, ArrayType(F4, 1), "write a loop over its items", "a.argsort"),
    (constant_shape, int, "must be constant", "cuda.shared.array(n, F4)"),
    (a_keyword, I4, "no keyword arguments", "max(x, key=abs)"),
    (unpacked, I4, "cannot be unpacked", "a, b"),
    (stars, I4, "*args are only supported", None),
    (negative_power, I4, "negative integer powers", "x**-1"),
    (power_of_two_strings, I4, "a number is needed", '"a" < x'),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[0].__name__)
def test_unsupported_python_is_refused_at_its_line(case: Any) -> None:
    function, kind, message, marked = case
    with pytest.raises(KernelError) as caught:
        compile_function(function, [kind])
    error = caught.value
    text = str(error)
    assert message in text
    assert error.filename == __file__
    assert len(caught.traceback) < 7
    if marked is not None:
        line, mark = text.splitlines()[-2:]
        begin, end = mark.index("^"), mark.rindex("^") + 1
        assert line[begin:end].startswith(marked)
        found = linecache.getline(__file__, error.lineno or 0).strip()
        assert found == line.strip() and f"line {error.lineno}, in " in text


def test_refused_in_kernels(make: Any) -> None:
    @pygpu.kernel
    def returns(a):
        return a[0]

    with pytest.raises(KernelError, match="a kernel returns nothing"):
        returns[1, 1](make(np.zeros(3)))
    a = make(np.zeros(3, "S4"))
    with pytest.raises(KernelError, match="arrays of .* are not supported"):
        returns[1, 1](a)
    with pytest.raises(KernelError, match=r"dtype <U1 is not supported"):
        returns[1, 1](np.str_("x"))
    with pytest.raises(TypeError, match="can only be called in a kernel"):
        cuda.grid(1)
    with pytest.raises(KernelError, match="put staticmethod above the decorator"):
        pygpu.kernel(staticmethod(returns.py_func))


@pygpu.kernel
def sixth(a, t):
    a[0] = t[5] + math.isqrt(t[0])


def test_large_tuples(make: Any) -> None:
    """CUDA has 4 KiB of parameters; isqrt() of a negative number is 0."""
    a = make(np.zeros(1))
    sixth[1, 1](a, (-5, *range(99)))
    assert a.get() == 4
    if a.backend.name == "cuda":
        with pytest.raises(KernelError, match="may have 512; pass tuples as arrays"):
            sixth[1, 1](a, tuple(range(2000)))


def test_host_calls() -> None:
    @pygpu.jit
    def twice(x):
        return 2 * x

    assert twice(4) == 8 and twice.py_func(4) == 8
    assert "2.0f" in twice.inspect_source("float32")
    assert pygpu.jit(twice) is twice
    assert pygpu.jit()(twice.py_func)(3) == 6


def test_ends_of_sources() -> None:
    """Where a function ends in its file: comments, strings and dead code at the margin."""
    text = '''
def outer():
    if True:
        def text(x):
            """No text
of this string is indented
    here."""
            y = (
    x + 1
            )
# a comment at the margin
            return y * 2
            """dead
def other(x):
            """

        # a comment
        def last(x): return -x
        def after(x):
            return [x]
    return text, last, after
text, last, after = outer()
def flat(x):
    if x:
        return 1
    return 2
'''
    name = "<ends of sources>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {}
    exec(compile(text, name, "exec"), space)
    for function in ("text", "last", "flat"):
        assert compile_function(space[function], [F4]).name.startswith(f"pgf_{function}")
    with pytest.raises(KernelError, match="lists are not supported") as caught:
        compile_function(space["after"], [F4])
    assert caught.value.lineno == 20
    assert "            return [x]\n" in str(caught.value) and "^^^" in str(caught.value)


def test_calls_that_do_not_compile_show_no_frames_of_pygpu() -> None:
    """The message has the line in the function; the traceback ends at the call."""

    @pygpu.vectorize
    def of_numbers(x):
        return x + undefined  # noqa: F821

    @pygpu.guvectorize(["void(f4[:], f4[:])"], "(n)->()")
    def of_rows(x, r):
        r[0] = undefined  # noqa: F821

    @pygpu.kernel
    def of_arrays(x):
        x[0] = undefined  # noqa: F821

    x = pygpu.xp.zeros(4, dtype="f4")
    for call in (lambda: of_numbers(x), lambda: of_rows(x), lambda: of_arrays[1, 4](x)):
        with pytest.raises(KernelError, match="'undefined'") as caught:
            call()
        inner = [str(entry.path) for entry in caught.traceback][2:]
        assert len(inner) <= 1, inner
