"""No text makes pygpu's scanners take more than linear time.

Counted, not timed: every regular expression by the steps of a matcher that backtracks as re does,
on texts made from the expression itself; functions by those steps and by the characters that they
copy.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from backtracking import Steps, hard_texts

import pygpu
from pygpu._src.drivers import cuda_signature as cuda_signature
from pygpu._src.drivers import declarations as signature
from pygpu._src.runtime import disk_cache as cache
from pygpu._src.runtime.cuda import advice, nvrtc_headers
from pygpu._src.user_kernels import arguments
from pygpu._src.user_kernels import scanner as usertext

PACKAGE = Path(pygpu.__file__).parent
FUNCTIONS = ("search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split")
WHOLE = {"match", "fullmatch"}  # these look at one place
NAME = "k"  # in place of what an expression is given


def is_re(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Attribute) else None
    return isinstance(value, ast.Name) and value.id == "re"


def text_of(node: ast.AST, names: dict[str, ast.AST]) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part, names) or NAME for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return text_of(node.value, names)
    if isinstance(node, ast.Name) and node.id in names:
        return text_of(names[node.id], names)
    return None


def expressions() -> Iterator[tuple[str, str, int, bool]]:
    """Name, pattern, flags, and whether it is looked for at one place only."""
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text("utf-8")
        if not re.search(r"^\s*(import|from) re\b", source, re.MULTILINE):
            continue
        tree = ast.parse(source)
        names: dict[str, ast.AST] = {}
        compiled: dict[ast.AST, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                names[node.targets[0].id] = node.value
                compiled[node.value] = node.targets[0].id
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and is_re(node.func)):
                continue
            assert isinstance(node.func, ast.Attribute)
            how = node.func.attr
            if how not in (*FUNCTIONS, "compile"):
                continue
            uses = {how}
            if how == "compile" and node in compiled:
                uses = set(re.findall(rf"\b{compiled[node]}\.(\w+)\(", source))
            flags = 0
            for argument in (*node.args[1:], *(word.value for word in node.keywords)):
                for part in ast.walk(argument):
                    value = getattr(re, part.attr, 0) if is_re(part) else 0
                    flags |= value if isinstance(value, re.RegexFlag) else 0
            where = f"{path.relative_to(PACKAGE)}:{node.lineno}"
            text = text_of(node.args[0], names)
            yield where, text or "", flags, bool(uses) and uses <= WHOLE
            if uses == {"fullmatch"}:
                yield where, rf"(?:{text})\Z", flags, True


EXPRESSIONS = list(expressions())


def slowest(pattern: str, flags: int, anchored: bool) -> tuple[float, str]:
    """By what factor the steps grow when a text becomes twice as long, and that text."""
    steps = Steps(pattern, flags)
    worst = (0.0, "")
    for head, unit, tail in hard_texts(steps.tree):
        counts = []
        for n in (16, 32):
            text = head + unit * n + tail
            steps.count = 0
            steps.match(text) if anchored else steps.find_all(text)
            counts.append(steps.count)
        worst = max(worst, (counts[1] / counts[0], head + unit * 2 + "..." + tail))
    return worst


@pytest.mark.parametrize(
    ("pattern", "quadratic"),
    [
        (r"a+b", True),
        (r"\ba+b", False),
        (r"\s*$", True),
        (r"/\*.*?\*/", True),
        (r"/\*.*?(?:\*/|\Z)", False),
        (r"\btypedef\s+([^;]*?)(\w+);", True),
        (r"(?:a|ab)*c", True),
        (r"(?:\w++\s++)++;", True),
        (r"^(?:\w++\s++)++;", False),
        (r"\w+\s*=", True),
        (r"\b\w++\s*+=", False),
    ],
)
def test_the_count_tells_quadratic_expressions_from_linear_ones(pattern, quadratic):
    assert (slowest(pattern, re.DOTALL, False)[0] > 2.6) == quadratic


def test_expressions_are_found():
    assert len(EXPRESSIONS) > 80
    assert any(where.startswith("_src/runtime/cuda/nvrtc_headers") for where, *_ in EXPRESSIONS)


@pytest.mark.parametrize(
    ("where", "pattern", "flags", "anchored"), EXPRESSIONS, ids=[row[0] for row in EXPRESSIONS]
)
def test_regular_expressions_take_linear_time(where, pattern, flags, anchored):
    assert pattern, f"{where}: the pattern of a call of re is not a literal"
    factor, text = slowest(pattern, flags, anchored)
    assert factor < 2.6, f"{where}: {pattern!r} backtracks on {text!r}"


# ---- functions ----------------------------------------------------------------------------------


def steps_of(call: Callable[[], object]) -> int:
    """The lines of pygpu that the call runs, and the characters of the strings that they make."""
    count = 0
    kept: dict[int, str] = {}

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        if not frame.f_code.co_filename.startswith(str(PACKAGE)):
            return None
        count += 1
        for value in frame.f_locals.values():
            if isinstance(value, str) and id(value) not in kept:
                kept[id(value)] = value
                count += len(value)
        return trace

    earlier = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(earlier)
    return count


def parse_argument(text: str) -> None:
    try:
        arguments.parse_c_arg(text)
    except (ValueError, RuntimeError):
        pass


SCANNERS = {
    "prelude": lambda text: nvrtc_headers.prelude(text, True),
    "kernel_arguments": lambda text: signature.kernel_arguments(text, "k"),
    "type_definitions": signature.type_definitions,
    "parameters_from_source": lambda text: cuda_signature.parameters_from_source("k", text),
    "parameters_from_ptx": lambda text: cuda_signature.parameters_from_ptx("k", text),
    "uses_of": lambda text: usertext.uses_of(text, "x"),
    "replace_accesses": lambda text: usertext.replace_accesses(text, {"x": "y"}),
    "moves_index": usertext.moves_index,
    "advice": lambda text: advice.advised(text, "kernel.cu"),
    "headers": lambda text: cache._Scan([]).scan(text.encode()),
    "parse_c_arg": parse_argument,
}
UNITS = (
    *("a", "a ", " ", "\n", "\\\n", "/*", "//", '"', "'", "(", "[", "{", "}", "<", "a,", "#", "*"),
    *("x[i] = 1; ", "x[", "x[x[i]] ", "&x[i]", "& ", "x  ", "k(", "->x", ".x", "x[i],"),
    *("__global__ void k(", "__global__ void k(int a); ", "__global__ void k(int a) ", "[["),
    *("template<int n> __global__ void k(int a) {} ", "kernel void k(", "kernel void k(int a); "),
    *("typedef ", "typedef int a; ", "struct s { int a; }; ", "struct s {", "using a = ", "enum "),
    *("enum {", "#if\n", "#define a b\n", "#include <a>\n", "__attribute__((", "int a[2]; "),
    *("a: error: template with C linkage\n", "In file included from a\n", "1 error\n"),
    *(".entry k(\n", ".visible .entry k (.param .u64 a)\n", ".param .u64 .ptr ", "texture "),
)


def test_the_count_sees_copies():
    texts: list[list[str]] = [["ab" * (n // 2)] * n for n in (100, 200)]
    few, many = (
        steps_of(
            lambda text=text: list(map(usertext.blank, [t + str(k) for k, t in enumerate(text)]))
        )
        for text in texts
    )
    assert many > 3.5 * few


@pytest.mark.skipif(
    sys.version_info[:3] == (3, 13, 0),
    reason="CPython 3.13.0 crashes where a tracer reads a comprehension's local variables",
)
@pytest.mark.parametrize("scanner", SCANNERS)
def test_scanners_take_linear_time(scanner):
    scan = SCANNERS[scanner]
    scan("a")
    for unit in UNITS:
        short, long = (steps_of(lambda text=unit * n: scan(text)) for n in (100, 200))
        assert long < 2.3 * short + 100, f"{scanner} looks too often at {unit!r} after {unit!r}"


@pytest.mark.parametrize("scanner", SCANNERS)
def test_brackets_that_nest_take_linear_time(scanner):
    scan = SCANNERS[scanner]
    for left, right in ("()", "[]", "{}", ("x[", "]"), ("k(", ")")):
        texts = (left * n + right * n for n in (100, 200))
        short, long = (steps_of(lambda text=text: scan(text)) for text in texts)
        assert long < 2.3 * short + 100, f"{scanner} looks too often at {left!r}"
