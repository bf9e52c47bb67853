"""The source of a function: its syntax tree, its location, and the meanings of its outside names.

Sources come from linecache, which has those of files, notebooks and interactive sessions. For text
passed to ``exec`` or ``python -c``, they come from the variables of calling frames, from what
keep_texts() kept or from the command line, if some string there compiles to exactly the function's
code.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import collections
import copy
import inspect
import linecache
import sys
import textwrap
import types
from collections.abc import Callable
from typing import Any

from pygpu._src.util.public import publish

_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag


class KernelError(TypeError):
    """A function cannot be compiled for a device. The message shows the file, the line and the
    expression. filename, lineno: the location; None if unknown."""

    filename: str | None = None
    lineno: int | None = None


def without_frames(function: Callable[..., Any], *args: Any) -> Any:
    """Call *function*; the traceback of a KernelError then ends at the caller, since its message
    shows the place in the user's function."""
    try:
        return function(*args)
    except KernelError as error:
        error.__traceback__ = None
        raise


class OperandError(KernelError, ValueError):
    """Operands for which a function cannot be called: a ValueError, as NumPy's ufuncs raise it,
    that programs for Numba catch as a TypingError."""


class Source:
    """A function's syntax tree.

    node: a FunctionDef or Lambda. lines: the text to which line numbers of nodes refer, *first*
    the file's line before its first one.
    """

    def __init__(
        self, function: types.FunctionType, node: Any, lines: list[str], first: int, indent: int
    ) -> None:
        if isinstance(node, ast.FunctionDef) and any("match" in line for line in lines):
            from .matching import lower_match

            node = lower_match(node)
        if isinstance(node, ast.FunctionDef) and any(
            "lambda" in line or "def " in line for line in lines[node.lineno :]
        ):
            node = _with_inner(node)
        self.function = function
        self.node = node
        self.lines = lines
        self.first = first
        self.indent = indent
        self.filename = function.__code__.co_filename
        self.name = function.__name__
        self.inner: dict[int, Any] = {}  # by id() of an InnerFunction
        self.widens = getattr(function, "_pygpu_widens", False)  # see walk/operators.py

    def error(self, message: str, node: Any = None) -> KernelError:
        """Return an exception that shows the place in the source."""
        node = self.node if node is None else node
        line = getattr(node, "lineno", 1)
        text = self.lines[line - 1].rstrip() if line <= len(self.lines) else ""
        begin = getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", None)
        if getattr(node, "end_lineno", line) != line or end is None:
            end = len(text)
        begin = len(text.encode()[:begin].decode(errors="ignore"))
        end = len(text.encode()[:end].decode(errors="ignore"))
        mark = " " * begin + "^" * max(end - begin, 1)
        error = KernelError(
            f'{message}\n  File "{self.filename}", line {line + self.first}, in {self.name}\n'
            f"    {text}\n    {mark}"
        )
        error.filename, error.lineno = self.filename, line + self.first
        return error

    def resolve(self, name: str) -> tuple[bool, Any, Any]:
        """Return the meaning of a name that is not a local variable: whether it exists, its value,
        and where it is stored: a cell, or the dictionary of globals."""
        code = self.function.__code__
        if name in code.co_freevars:
            cell = (self.function.__closure__ or ())[code.co_freevars.index(name)]
            try:
                return True, cell.cell_contents, cell
            except ValueError:
                return False, None, cell
        space = self.function.__globals__
        if name in space:
            return True, space[name], space
        if hasattr(builtins, name):
            return True, getattr(builtins, name), None
        return False, None, space


class InnerFunction(ast.expr):
    """An opaque expression in place of a function that is defined in another one. definition: a
    FunctionDef or Lambda."""

    _fields = ()
    definition: Any


class _Inner(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        target = ast.copy_location(ast.Name(node.name, ast.Store()), node)
        return ast.copy_location(ast.Assign([target], self.visit_Lambda(node)), node)

    def visit_Lambda(self, node: Any) -> Any:
        made = InnerFunction()
        made.definition = node
        return ast.copy_location(made, node)


def _with_inner(node: ast.FunctionDef) -> ast.FunctionDef:
    """Return the function, with an InnerFunction for each function that it defines."""
    made = copy.copy(node)
    made.body = [_Inner().visit(statement) for statement in node.body]
    return made


class InnerSource(Source):
    """The source of a function defined in another one, in which its outside names are looked up."""

    def __init__(self, function: types.FunctionType, node: Any, outer: Source) -> None:
        super().__init__(function, node, outer.lines, outer.first, outer.indent)
        self.widens = outer.widens
        self._outer = outer

    def resolve(self, name: str) -> tuple[bool, Any, Any]:
        return self._outer.resolve(name)


def python_function(obj: Any) -> types.FunctionType | None:
    """Return the plain function behind a decorated one; None if there is none."""
    for _ in range(20):
        if isinstance(obj, types.FunctionType):
            return obj
        inner = getattr(obj, "py_func", None)
        if inner is None:
            return None
        obj = inner
    return None


def get(function: types.FunctionType, text: str | None = None) -> Source:
    """Return the Source of a function. text: its source, if it cannot be found. Raises
    KernelError."""
    made: Source | None = getattr(function, "_pygpu_source", None)
    if made is not None:
        return made
    code = function.__code__
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise KernelError(
            f"{function.__qualname__}: generators and coroutines are not supported in kernels"
        )
    if text is not None:
        lines, first = text.splitlines(True), 0
        return _parse_block(function, lines, first)
    lines = []
    if code.co_filename != "<string>":  # exec's text; Python 3.13 also uses it for `python -c`
        lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines or code.co_firstlineno > len(lines):
        found = _from_frames(code)
        if found is None:
            raise KernelError(
                f"{function.__qualname__}: its source is not known (file {code.co_filename!r}); "
                "pass the source to the decorator as src="
            )
        lines = found.splitlines(True)
    start = code.co_firstlineno - 1
    if function.__name__ == "<lambda>":
        return _find_lambda(function, lines, start)
    return _parse_code_lines(function, lines, start) or _parse_block(
        function, inspect.getblock(lines[start:]), start
    )


def _too_deep(function: types.FunctionType) -> KernelError:
    return KernelError(f"{function.__qualname__}: its source is nested too deeply; use variables")


def _parse_code_lines(function: types.FunctionType, lines: list[str], start: int) -> Source | None:
    """Return the result of _parse_block() from the lines that the code names; None if they are not
    sufficient. (inspect.getblock() compiles large regular expressions at its first use.)"""
    code = function.__code__
    last = max((where[1] or 0 for where in code.co_positions()), default=0)
    margin = len(lines[start]) - len(lines[start].lstrip())
    # Not dedented, which would change multi-line strings.
    head, first = (["if 1:\n"], start - 1) if margin else ([], start)
    tries = 0
    for end in range(max(last, start + 1), len(lines) + 1):
        if end < len(lines):
            text = lines[end].lstrip()
            if not text or text[0] == "#" or len(lines[end]) - len(text) > margin:
                continue
        block = head + lines[start:end]
        try:
            body = ast.parse("".join(block)).body[0]
            break
        except (RecursionError, MemoryError):  # raised by the parser
            raise _too_deep(function) from None
        except SyntaxError:  # in the middle of a string
            tries += 1
            if tries == 10:
                return None
    else:
        return None
    node = body.body[0] if margin and isinstance(body, ast.If) else body
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return None
    return Source(function, node, [line.rstrip("\n") for line in block], first, 0)


def _parse_block(function: types.FunctionType, lines: list[str], first: int) -> Source:
    block = textwrap.dedent("".join(lines))
    try:
        tree = ast.parse(block)
    except (RecursionError, MemoryError):
        raise _too_deep(function) from None
    except SyntaxError as error:
        raise KernelError(f"{function.__qualname__}: its source does not parse: {error}") from None
    short = block.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function.__code__.co_name:
            return Source(function, node, short, first, 0)
        if isinstance(node, ast.Lambda) and function.__name__ == "<lambda>":
            return Source(function, node, short, first, 0)
    raise KernelError(
        f"{function.__qualname__}: line {first + 1} of {function.__code__.co_filename} is not its "
        "source; was the file changed since?"
    )


def _find_lambda(function: types.FunctionType, lines: list[str], start: int) -> Source:
    """Find a lambda among those of the statement: the one whose code is the function's."""
    tree = None
    begin = start
    for begin in range(start, max(start - 30, -1), -1):  # the statement may begin earlier
        for end in range(start + 1, min(start + 30, len(lines)) + 1):
            block = textwrap.dedent("".join(lines[begin:end]))
            try:
                tree = ast.parse(block)
                break
            except SyntaxError:
                continue
        if tree is not None:
            break
    if tree is None:
        raise KernelError(
            f"the source of the lambda at {function.__code__.co_filename}:{start + 1} cannot be "
            "cut out; write a def"
        )
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            code = _code_of(node)
            own = function.__code__
            if (
                code is not None
                and code.co_varnames == own.co_varnames
                and code.co_argcount == own.co_argcount
                and _plain(code) == _plain(own)
            ):
                found.append(node)
    if len(found) > 1:
        margin = len(lines[begin]) - len(block.splitlines(True)[0])
        span = _span(function.__code__, begin, margin)
        found = [n for n in found if _place(n.body) == span] or found
    if not found or len({ast.dump(node) for node in found}) > 1:
        raise KernelError(
            f"the lambda at {function.__code__.co_filename}:{start + 1} cannot be told apart "
            "from others on its line; write a def"
        )
    return Source(function, found[0], "".join(lines[begin:end]).splitlines(), begin, 0)


def _span(code: types.CodeType, begin: int, margin: int) -> tuple[Any, ...]:
    """Return the place of a lambda's result in the text that begins after that many lines, without
    the margin; () if the code does not tell."""
    places = [p for p in code.co_positions() if None not in p and p[3]]  # others are artificial
    if not places:
        return ()
    first = min((p[0] or 0, p[2] or 0) for p in places)
    last = max((p[1] or 0, p[3] or 0) for p in places)
    return first[0] - begin, first[1] - margin, last[0] - begin, last[1] - margin


def _place(node: ast.expr) -> tuple[Any, ...]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _code_of(node: ast.Lambda) -> Any:
    module = compile(ast.Expression(node), "<lambda>", "eval")
    return next((c for c in module.co_consts if isinstance(c, types.CodeType)), None)


def _plain(code: Any) -> Any:
    """Return the code of a lambda, except for what depends on its closure."""
    names = {*code.co_names, *code.co_freevars}
    consts = tuple((type(c), c) for c in code.co_consts)
    return sorted(names), consts, len(code.co_varnames)


_texts: collections.deque[str] = collections.deque(maxlen=256)  # that were compiled recently
_hook_installed = False


def keep_texts() -> None:
    """Start keeping the texts of functions that a program makes by exec, whose variables may be
    gone when a kernel is compiled. It uses an audit hook, which cannot be removed."""
    global _hook_installed
    if not _hook_installed:
        _hook_installed = True
        sys.addaudithook(_audit)


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if event == "compile":
        text, filename = args
        if (
            isinstance(text, bytes)
            and isinstance(filename, str)
            and filename[:1] == "<"
            and len(text) < 1 << 16
            and (b"def " in text or b"lambda" in text)
        ):
            _texts.append(text.decode(errors="replace"))


def _from_frames(code: types.CodeType) -> str | None:
    """Return the string among the callers' variables that compiles to this code."""
    word = code.co_name.strip("<>")
    for text in (*[*_texts][::-1], *sys.orig_argv):
        if word in text and _compiles_to(text, code):
            return text
    frame = sys._getframe(1)
    seen = set()
    depth = 0
    while frame is not None and depth < 40:
        for space in (frame.f_locals, frame.f_globals):
            for value in list(space.values()):
                if type(value) is not str or id(value) in seen or word not in value:
                    continue
                seen.add(id(value))
                if len(value) < 1 << 20 and _compiles_to(value, code):
                    return value
        frame = frame.f_back  # type: ignore[assignment]
        depth += 1
    return None


def _compiles_to(text: str, code: types.CodeType) -> bool:
    try:
        flags = code.co_flags & _FUTURES
        todo = [compile(text, code.co_filename, "exec", flags, dont_inherit=True)]
    except (SyntaxError, ValueError):
        return False
    while todo:
        for const in todo.pop().co_consts:
            if isinstance(const, types.CodeType):
                if const == code:
                    return True
                todo.append(const)
    return False


publish(globals(), ["KernelError"], "pygpu")
