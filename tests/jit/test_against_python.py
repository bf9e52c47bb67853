"""Random functions of the language of kernels, as CPython runs them and as devices do."""

from __future__ import annotations

import ast
import itertools
import linecache
import random
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu.pykernel import KernelError, compile_function

pytestmark = [
    pytest.mark.sampled(3),
    pytest.mark.filterwarnings("ignore::pygpu.CompilerWarning"),  # x <= x, ...
]

NAMES = ("a", "b", "c", "d")
INPUTS = [(x, y) for x in (-3, 0, 1, 2, 5) for y in (-2, 0, 1, 4)]
AT_ONCE = 24  # functions in a program
_files = itertools.count()


class Writer:
    """Writes one function of x and y.

    Values stay small, and floats have few digits, so that both sides compute the same ones. Loops
    end. A name may be read where nothing was assigned to it, as long as its first assignment comes
    before in the text.
    """

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.known = ["x", "y"]  # names that may be read
        self.counters = 0
        self.left = 14  # statements
        self.loops: list[str] = []
        self.free = 0  # whether := may stand here

    def write(self, name: str) -> str:
        self.lines = [f"def {name}(x, y):"]
        self.block(1)
        while self.left > 0:
            self.statement(1)
        total = " + ".join(f"{k} * {n}" for k, n in enumerate(self.known, 1))
        self.lines.append(f"    return {total}")
        return "\n".join(self.lines) + "\n"

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def chance(self, of: float) -> bool:
        return self.random.random() < of

    # ---- expressions

    def atom(self) -> str:
        if self.chance(0.3):
            return str(self.random.randrange(-4, 9))
        return self.random.choice(self.known)

    def expression(self, depth: int = 2) -> str:
        if depth == 0 or self.chance(0.2):
            return self.atom()
        kind = self.random.randrange(12)
        one = self.expression(depth - 1)
        if kind == 0:
            return f"({one} * {self.random.randrange(-3, 6)})"
        if kind == 1:
            return f"({one} // {self.pick(2, 3, -5)})"
        if kind == 2:
            return f"({one} % {self.pick(7, 4, -3)})"
        if kind == 3:
            free, self.free = self.free, 0
            other, test = self.expression(depth - 1), self.condition()
            self.free = free
            return f"({self.atom()} if {test} else {other})"
        if kind == 4:
            return f"{self.pick('min', 'max')}({one}, {self.expression(depth - 1)})"
        if kind == 5:
            return f"abs({one})"
        if kind == 6:
            return f"(-{one})"
        if kind == 7 and self.free:
            name = self.random.choice(NAMES)
            found = f"({name} := {one})"
            self.knows(name)
            return found
        if kind == 8:
            return f"({self.pick('x', 'y')} / {self.pick(2, 4)})"
        if kind == 9:
            return f"({one}, {self.atom()}, {self.expression(depth - 1)})[{self.pick(0, 1, -1)}]"
        sign = self.pick("+", "-")
        return f"({one} {sign} {self.expression(depth - 1)})"

    def condition(self, depth: int = 1) -> str:
        kind = self.random.randrange(7)
        one = self.expression(1)
        if kind == 0 and depth:
            free, self.free = self.free, 0
            other = self.condition(0)
            self.free = free
            return f"({self.pick('x > 0', 'y < 2', f'{one} > 1')} {self.pick('and', 'or')} {other})"
        if kind == 1 and depth:
            return f"not {self.condition(0)}"
        if kind == 2:
            opening, closing = self.pick("[]", "()", "{}")
            items = f"{self.atom()}, {self.random.randrange(4)}"
            return f"{one} {self.pick('in', 'not in')} {opening}{items}{closing}"
        if kind == 3:
            free, self.free = self.free, 0
            found = f"{one} {self.pick('<', '<=')} {self.atom()} {self.pick('<', '!=')} "
            found += self.expression(1)
            self.free = free
            return found
        return f"{one} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.expression(1)}"

    # ---- statements

    def knows(self, name: str) -> None:
        if name not in self.known:
            self.known.append(name)

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def block(self, depth: int) -> None:
        for _ in range(self.random.randrange(1, 4)):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        self.left -= 1
        kinds = ["assign"] * 4 + ["once"] * 3 + ["augment", "pair", "anew"]
        if depth < 4 and self.left > 0:
            kinds += ["if_", "if_", "for_", "while_", "match"]
        if self.loops:
            kinds.append("leave")
        elif depth > 1:
            kinds.append("return_")
        getattr(self, self.random.choice(kinds))(depth)

    def value(self) -> str:
        self.free = 1
        found = self.expression()
        self.free = 0
        return f"{found} % 1009" if self.chance(0.8) else self.atom()

    def test(self) -> str:
        self.free = 1
        found = self.condition()
        self.free = 0
        return found

    def assign(self, depth: int) -> None:
        name = self.random.choice(NAMES)
        self.emit(depth, f"{name} = {self.value()}")
        self.knows(name)

    def once(self, depth: int) -> None:
        self.counters += 1
        name = f"k_{self.counters}"
        self.emit(depth, f"{name} = {self.pick(2, 3.5, -1, 7)}")
        self.knows(name)

    def augment(self, depth: int) -> None:
        names = [n for n in self.known if n in NAMES]
        by = self.atom() if names else "1"  # x and y stay ints, for range()
        self.emit(depth, f"{self.random.choice(names or ['x'])} {self.pick('+', '-')}= {by}")

    def pair(self, depth: int) -> None:
        one, two = self.random.sample(NAMES, 2)
        known = [n for n in (two, one) if n in self.known]
        values = ", ".join(known if len(known) == 2 else (self.atom(), self.atom()))
        self.emit(depth, f"{one}, {two} = {values}")
        self.knows(one)
        self.knows(two)

    def anew(self, depth: int) -> None:
        """A name that is a tuple, then a number."""
        name = self.random.choice(NAMES)
        self.emit(depth, f"t = ({self.atom()}, {self.atom()})")
        if self.chance(0.5):
            self.emit(depth, f"if {self.test()}:")
            self.emit(depth + 1, "t = t[1]")
            self.emit(depth + 1, f"{name} = t")
        else:
            self.emit(depth, "t = t[0] + t[1]")
            self.emit(depth, f"{name} = t % 1009")
        self.knows(name)

    def if_(self, depth: int) -> None:
        self.emit(depth, f"if {self.test()}:")
        self.block(depth + 1)
        if self.chance(0.3):
            self.emit(depth, f"elif {self.pick('x < 2', 'y > 0')}:")
            self.block(depth + 1)
        if self.chance(0.4):
            self.emit(depth, "else:")
            self.block(depth + 1)

    def for_(self, depth: int) -> None:
        name = self.pick(*NAMES, "i", "j")
        source = self.pick(
            "range(3)",
            "range(0)",
            "range(x)",
            "range(y, x, 2)",
            "range(3, y, -1)",
            "[x, 2, y]",
            f"(1, {self.atom()})",
            "{4, 1, 3}",
        )
        self.emit(depth, f"for {name} in {source}:")
        self.knows(name)
        self.loop(depth)

    def while_(self, depth: int) -> None:
        self.counters += 1
        name = f"n_{self.counters}"
        self.emit(depth, f"{name} = {self.random.randrange(4)}")
        if self.chance(0.5):
            self.emit(depth, f"while ({name} := {name} - 1) >= 0:")
            self.loop(depth)
        else:
            self.emit(depth, f"while {name} > 0 and {self.pick('x > 0', 'x != y', 'y < 3')}:")
            self.loop(depth, f"{name} -= 1")
        self.knows(name)

    def loop(self, depth: int, first: str = "") -> None:
        self.loops.append("")
        if first:
            self.emit(depth + 1, first)
        self.block(depth + 1)
        self.loops.pop()
        if self.chance(0.3):
            self.emit(depth, "else:")
            self.block(depth + 1)

    def match(self, depth: int) -> None:
        self.emit(depth, f"match {self.pick('x', self.expression(1))}:")
        self.emit(depth + 1, f"case {self.pick('1', '2 | 5', '-3 | 0')}:")
        self.block(depth + 2)
        name = self.random.choice(NAMES)
        self.emit(depth + 1, f"case {name} if {name} > {self.pick('y', 1)}:")
        self.knows(name)
        self.block(depth + 2)
        if self.chance(0.5):
            self.emit(depth + 1, "case _:")
            self.block(depth + 2)

    def leave(self, depth: int) -> None:
        self.emit(depth, f"if {self.test()}:")
        self.emit(depth + 1, self.pick("break", "continue"))

    def return_(self, depth: int) -> None:
        self.emit(depth, f"if {self.test()}:")
        self.emit(depth + 1, f"return {self.atom()}")


def with_zeros(text: str) -> str:
    """The function with all names set to 0 at its begin, as variables of kernels are."""
    tree = ast.parse(text)
    function: Any = tree.body[0]
    stored = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    stored |= {n.name for n in ast.walk(function) if isinstance(n, ast.MatchAs) and n.name}
    stored -= {"x", "y"}
    function.body[:0] = [ast.parse(f"{name} = 0").body[0] for name in sorted(stored)]
    return ast.unparse(tree)


def load(text: str, space: dict[str, Any]) -> None:
    """Run a text whose source can be found."""
    name = f"<random functions {next(_files)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), space)


def compiles(text: str) -> bool:
    """Whether the language has it: not some uses of :=, nor names that only dead code assigns."""
    space: dict[str, Any] = {}
    load(text, space)
    try:
        compile_function(space["f"], [np.int64, np.int64])
    except KernelError as error:
        known = "conditional expression", "used before anything is assigned", "is not defined"
        assert any(message in str(error) for message in known), text
        return False
    return True


def texts(seed: object, count: int) -> list[str]:
    """Sources of functions f that compile."""
    written = (Writer(f"{seed}/{n}").write("f") for n in itertools.count())
    return list(itertools.islice(filter(compiles, written), count))


def kernel_of(found: list[str]) -> Any:
    """A kernel that calls them all: out[k, i] = f_k(x[i], y[i])."""
    lines = [text.replace("def f(", f"def f_{k}(") for k, text in enumerate(found)]
    lines.append("def k(xs, ys, out):\n    i = grid(1)\n    if i < xs.size:\n")
    lines += [f"        out[{k}, i] = f_{k}(xs[i], ys[i])\n" for k in range(len(found))]
    space: dict[str, Any] = {"grid": pygpu.grid}
    load("".join(lines), space)
    return pygpu.kernel(space["k"])


def check(make: Any, found: list[str]) -> None:
    xs, ys = (np.array(column) for column in zip(*INPUTS))
    out = make(np.zeros((len(found), len(INPUTS))))
    kernel_of(found)(make(xs), make(ys), out, block=32, grid=1)
    for text, results in zip(found, out.get()):
        space: dict[str, Any] = {}
        exec(with_zeros(text), space)
        expected = [space["f"](x, y) for x, y in INPUTS]
        assert results.tolist() == expected, text


@pytest.mark.parametrize("seed", [1])
def test_random_functions_compute_what_python_computes(make: Any, seed: int) -> None:
    check(make, texts(seed, AT_ONCE))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 150))
def test_many_random_functions_compute_what_python_computes(make: Any, seed: int) -> None:
    check(make, texts(seed, AT_ONCE))
