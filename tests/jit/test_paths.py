"""Names whose assignments do not lie on every path, or whose types differ from path to path."""

from __future__ import annotations

import linecache
import math
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda
from pygpu.pykernel import ArrayType, KernelError, compile_function

XS = [-1, 0, 1, 2, 3]


# ---- a constant that is assigned once has its value behind the assignment only


def under_if(x):
    if x > 1:
        y = 2.0
    return y


def under_else(x):
    if x > 1:
        pass
    else:
        y = 3
    return y


def in_for(x):
    for _ in range(x):
        y = 3
    return y


def in_while(x):
    while x > 1:
        y = 5
        x -= 1
    return y


def in_else_of_for(x):
    for i in range(3):
        if i == x:
            break
    else:
        y = 7
    return y


def in_else_of_while(x):
    while x < 2:
        if x == 0:
            break
        x += 1
    else:
        y = 7
    return y


def behind_break(x):
    while True:
        if x > 1:
            break
        y = 4
        if x < 5:
            break
    return y


def next_turn(x):
    total = 0
    for _ in range(x):
        total = total * 10 + y  # noqa: F821
        y = 2  # noqa: F841
    return total


def no_turn(x):
    for i in range(0):  # noqa: B007
        pass
    return i + x


def tuple_under_if(x):
    if x > 1:
        pair = (4, 5)
    return pair[0] + pair[1] * 10


def of_several(x):
    if x > 1:
        a, (b, c) = 1, (2, 3.5)
    return a + b * 10 + c * 100


def walrus_under_if(x):
    if x > 1 and x < 100:
        x += (y := 6)
    return x + y


def augmented(x):
    if x > 1:
        y = 3
    y += 1
    return y


def in_match(x):
    match x:
        case 1 | 2:
            y = 8
        case other if other > 2:
            pass
    return y * 10 + other


def nested(x):
    if x > 0:
        if x > 1:
            y = 9
        return y
    return -1


def in_a_call(x):
    return under_if(x) + under_if(3)


ONCE = [
    (under_if, [0, 0, 0, 2, 2]),
    (under_else, [3, 3, 3, 0, 0]),
    (in_for, [0, 0, 3, 3, 3]),
    (in_while, [0, 0, 0, 5, 5]),
    (in_else_of_for, [7, 0, 0, 0, 7]),
    (in_else_of_while, [0, 0, 7, 7, 7]),
    (behind_break, [4, 4, 4, 0, 0]),
    (next_turn, [0, 0, 0, 2, 22]),
    (no_turn, XS),
    (tuple_under_if, [0, 0, 0, 54, 54]),
    (of_several, [0, 0, 0, 371, 371]),
    (walrus_under_if, [-1, 0, 1, 14, 15]),
    (augmented, [1, 1, 1, 4, 4]),
    (in_match, [-1, 0, 80, 80, 3]),
    (nested, [-1, -1, 0, 9, 9]),
    (in_a_call, [2, 2, 2, 4, 4]),
]


# ---- a name of two types, where every use is of one


def replaced_under_if(x):
    t = (x, 10)
    if x > 1:
        t = t[1]
        x = t
    return x


def replaced_on_both_paths(x):
    t = (x, 10)
    if x > 1:
        t = t[0]
    else:
        t = t[1]
    return t


def replaced_and_left(x):
    t = (x, 10)
    if x > 1:
        t = t[0]
        return t
    return t[1]


def replaced_in_a_loop(x):
    total = 0
    t = 7
    for i in range(3):
        if i > 0:
            total += t
        t = (x, i)
        t = t[0] * t[1]
    return total


def replaced_until_the_end(x):
    t = x
    while t > 0:
        t = (t, 2)
        t = t[0] - t[1]
    return t


def an_object_each(x):
    if x > 1:
        f = math.fabs
        y = f(-x)
    else:
        f = None
        y = 1 if f is None else 2
    return y


TYPES = [
    replaced_under_if,
    replaced_on_both_paths,
    replaced_and_left,
    replaced_in_a_loop,
    replaced_until_the_end,
    an_object_each,
]


# ---- when an operand is read


def before_the_walrus(x):
    y = x
    return y * 100 + (y := 7) * 10 + y + (y := x) * (y := 3)


def changed_by_the_loop(x):
    total, y = 0, x
    for v in (1, y):
        y += 5
        total += v
    return total


def walrus_in_while(x):
    y = x
    total = 0
    while y + (y := y - 1) > 0:
        total += 10 + y
    return total


def guard_sets_the_subject(x):
    match x:
        case _ if (x := x + 1) > 2:
            return x
        case 1:
            return 50 + x
    return 70 + x


ORDER = [guard_sets_the_subject, before_the_walrus, changed_by_the_loop, walrus_in_while]


# ---- lists and sets where CPython makes them constants


def in_a_list(x):
    return (x in [1, x - 1, 3]) + 2 * (x not in [0, 2])


def in_a_set(x):
    return (x in {1, 3}) + 2 * (x not in {x, 2})


def in_a_frozenset(x):
    return 1 if x in ALLOWED else 0


def over_a_list(x):
    total = 0
    for v in [x, 2, x + 1]:
        total = total * 10 + v
    return total


def over_a_set(x):
    total = x
    for v in {9, 1, 4, 1.0}:  # noqa: B033  # in any order: a .pyc file may have another one
        total = total + v * v
    return total


def over_nested_lists(x):
    total = 0
    for i, (a, b) in enumerate(zip([1, 2], [x, 5])):
        total += (i + 1) * (a * 10 + b)
    for v in reversed([x, 7]):
        total = total * 10 + v
    return total


ALLOWED = frozenset((1, 2))
COLLECTIONS = [in_a_list, in_a_set, in_a_frozenset, over_a_list, over_a_set, over_nested_lists]


# ---- names of C variables and of their parts


def names_of_parts(t):
    t_0 = t * 2
    t_n0 = t * 3
    t_x = t * 5
    t_0_x = t * 7
    pair = (t, t + 1)
    pair_0 = t * 11
    é = t * 13
    ue9 = t * 17
    t = (t_0, t_n0)
    return t[0] + t[1] + t_x + t_0_x + pair[0] + pair[1] + pair_0 + é + ue9


# With what they give for XS; those that assign on every path, as CPython computes it.
CASES: list[tuple[Any, list[Any]]] = [
    *ONCE,
    *((f, [f(x) for x in XS]) for f in (*TYPES, *ORDER, *COLLECTIONS, names_of_parts)),
]


def kernel() -> Any:
    lines = ["def k(xs, out):\n", "    i = grid(1)\n", "    if i < xs.size:\n"]
    lines += [f"        out[{k}, i] = {f.__name__}(xs[i])\n" for k, (f, _) in enumerate(CASES)]
    linecache.cache["<paths>"] = (1, None, lines, "<paths>")
    space = {f.__name__: f for f, _ in CASES}
    space["grid"] = pygpu.grid
    exec(compile("".join(lines), "<paths>", "exec"), space)
    return pygpu.kernel(space["k"])


@pytest.fixture(scope="module")
def results() -> dict[str, list[list[float]]]:
    return {}


@pytest.mark.parametrize(
    "number", range(len(CASES)), ids=[function.__name__ for function, _ in CASES]
)
def test_a_name_is_what_was_assigned_on_the_path_taken(
    make: Any, number: int, results: dict[str, list[list[float]]]
) -> None:
    if make.backend.name not in results:  # one program for all of them
        out = make(np.zeros((len(CASES), len(XS))))
        kernel()(make(np.array(XS)), out, block=8, grid=1)
        results[make.backend.name] = out.get().tolist()
    assert results[make.backend.name][number] == CASES[number][1]


def test_vectorize_of_a_constant_under_if() -> None:
    assert pygpu.vectorize(under_if)(np.float32([3, 1, 2, 0])).tolist() == [2, 0, 2, 0]


# ---- calls that write what the expression around them reads


def writes(a):
    a[0] += 5
    return a[0]


def writes_and_returns_two(a):
    a[0] += 5
    return a[0], a[0] + 1


def reads_around_calls(a, out):
    out[0] = a[0] * 1000 + writes(a) * 10 + a[0]
    out[1] = a[0] * 100 + writes_and_returns_two(a)[1]
    out[2] = max(writes(a), a[0]) * 100 + min(a[0], writes(a))
    out[3] = writes(a) - (a[0] - writes(a))
    a[0] += writes(a)
    out[4] = a[0] - (a[0] < writes(a) < a[0] + writes(a))
    a[0] = 5
    out[int(a[0])] = writes(a)


def test_an_expression_is_computed_from_left_to_right(make: Any) -> None:
    expected, a = np.zeros(11), np.ones(1)
    reads_around_calls(a, expected)
    out = make(np.zeros(11))
    pygpu.kernel(reads_around_calls)(make(np.ones(1)), out, block=1, grid=1)
    assert out.get().tolist() == expected.tolist()


def test_an_atomic_operation_comes_after_what_stands_before_it(make: Any) -> None:
    @pygpu.kernel
    def k(a, out):
        out[0] = a[0] * 100 + pygpu.atomic.add(a, 0, 5) * 10 + a[0]

    out = make(np.zeros(1, np.int32))
    k(make(np.ones(1, np.int32)), out, block=1, grid=1)
    assert out.get().tolist() == [116]


# ---- constants where a constant is needed


def shape_on_every_path(x):
    if x > 1:
        n = 4
    else:
        return 0.0
    while True:
        m = 2
        if x > 0:
            break
        x += 1
    a = cuda.local.array((n, m), np.float64)
    a[3, 1] = x
    return a[3, 1]


def shape_on_one_path(x):
    if x > 1:
        n = 4
    a = cuda.local.array(n, np.float64)
    a[0] = x
    return a[0]


def test_a_constant_on_all_paths_to_a_use_is_one() -> None:
    assert "[8]" in compile_function(shape_on_every_path, [np.float64]).text


def test_a_constant_on_some_paths_to_a_use_is_none() -> None:
    with pytest.raises(KernelError, match="shape of local.array.* must be constant"):
        compile_function(shape_on_one_path, [np.float64])


def object_under_if(x):
    if x > 1:
        f = math.sin
    return f(x)


def none_under_if(x):
    if x > 1:
        y = None
    return 1 if y is None else 2


def object_of_the_last_turn(x):
    for i in range(3):
        if i > 0:
            x = f(x)  # noqa: F821
        f = math.sin  # noqa: F841
    return x


def none_in_a_tuple_under_if(x):
    if x > 1:
        t = (1, None)
    return 1 if t[1] is None else 2


@pytest.mark.parametrize(
    "function",
    [object_under_if, none_under_if, object_of_the_last_turn, none_in_a_tuple_under_if],
)
def test_an_object_on_some_paths_to_a_use_is_refused(function: Any) -> None:
    with pytest.raises(KernelError, match="not set on others"):
        compile_function(function, [np.float64])


def set_after_the_loop(x):
    total = 0
    for _ in range(3):
        total += y  # noqa: F821
    y = 3  # noqa: F841
    return total


def test_a_name_that_is_set_behind_its_loop_only_is_refused() -> None:
    with pytest.raises(KernelError, match="y is used before anything is assigned"):
        compile_function(set_after_the_loop, [np.float64])


def two_types_meet(x):
    t = (x, 2)
    if x > 1:
        t = x
    return t


def test_two_types_that_meet_at_a_use_are_refused() -> None:
    with pytest.raises(KernelError, match=r"t was \(.*\) before, and would become .*two names"):
        compile_function(two_types_meet, [np.float64])


def test_the_order_of_a_set_of_variables_is_refused() -> None:
    def over(x):
        total = 0
        for v in {x, 1}:
            total += v
        return total

    with pytest.raises(KernelError, match="the order of a set"):
        compile_function(over, [np.float64])


# ---- arrays of a function's own


def filled(out, x):
    mine = cuda.local.array(4, np.float64)
    for i in range(4):
        mine[i] = x + i
    for i in range(4):
        out[i] = mine[3 - i]
    return out


def through_variables(out, x):
    mine = cuda.local.array(2, np.float64)
    mine[0] = x
    found = out
    for _ in range(2):
        found = found[:]
    found[0] = mine[0]
    return found, x


def uses_both(x):
    mine = cuda.local.array(4, np.float64)
    first = filled(mine, x)
    second, same = through_variables(first[1:], x * 10)
    return first[0] * 1000 + second[0] + same


def test_a_function_with_an_array_of_its_own_returns_its_argument(make: Any) -> None:
    @pygpu.kernel
    def k(xs, out):
        i = pygpu.grid(1)
        if i < xs.size:
            out[i] = uses_both(xs[i])

    out = make(np.zeros(3))
    k(make(np.array([1.0, 2, 3])), out, block=4, grid=1)
    assert out.get().tolist() == [4020, 5040, 6060]


def own(out, x):
    mine = cuda.local.array(4, np.float64)
    return mine


def own_part(out, x):
    mine = cuda.local.array(4, np.float64)
    part = mine[1:]
    return out, part


def own_through_a_call(out, x):
    mine = cuda.local.array(4, np.float64)
    return filled(mine, x)


def own_in_the_next_turn(out, x):
    mine = cuda.local.array(4, np.float64)
    found = out
    for _ in range(2):
        result = found
        found = mine
    return result


def own_on_one_path(out, x):
    mine = cuda.local.array(4, np.float64)
    return out[:] if x > 0 else mine[:]


@pytest.mark.parametrize(
    "function", [own, own_part, own_through_a_call, own_in_the_next_turn, own_on_one_path]
)
def test_an_array_of_the_function_s_own_is_not_returned(function: Any) -> None:
    with pytest.raises(KernelError, match="of the function's own|is needed, not array"):
        compile_function(function, [ArrayType(np.dtype("f8"), 1, True, "private"), np.float64])
