"""OpenCL C with checked indices, for PYGPU_CHECK=1.

`read` finds the kernels of a source and how each uses its memory arguments. A pointer that is only
indexed can be checked: ``p[EXPR]`` becomes ``p[_pgc_in(record, EXPR, items, site)]``, and the
kernel gets the record and the numbers of items as additional parameters. For any other pointer it
returns the reason. This is not a compiler: uncertain cases are left unchecked. Line numbers do not
change.
"""

from __future__ import annotations

import bisect
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pygpu._src.drivers.declarations import type_size, without_comments
from pygpu._src.runtime.disk_cache import include_folders
from pygpu._src.util.package_folder import OPENCL_HEADERS

PREFIX = "_pgc_"
# Followed by a kernel's name: a kernel that returns sizeof(*p) of its pointers.
SIZES = PREFIX + "sizes_"

# If several work-items are out of bounds, one of them is reported. All of them continue with the
# first item.
PRELUDE = """\
long _pgc_in(__global int *record, long index, ulong items, int site);
long _pgc_in(__global int *record, long index, ulong items, int site) {
  if ((ulong)index < items) return index;
  if (atomic_cmpxchg((volatile __global int *)record, 0, 1) == 0) {
    record[1] = site;
    record[2] = (int)index; record[3] = (int)(index >> 32);
    record[4] = (int)items; record[5] = (int)(items >> 32);
    for (uint d = 0; d < 3; d++) {
      ulong id = get_global_id(d);
      record[6 + 2 * d] = (int)id; record[7 + 2 * d] = (int)(id >> 32);
    }
  }
  return 0;
}
#line 1
"""
RECORD_BYTES = 64

_COMMENT = r"//(?:\\\r?\n|[^\n])*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
_STRING = r'"(?:\\.|[^"\\\n])*+"?'
_TOKEN = re.compile(
    rf"""(?P<skip>\s++|{_COMMENT}) | (?P<string>{_STRING}|'(?:\\.|[^'\\\n])*+'?)
    | (?P<word>[A-Za-z_]\w*+) | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*+)
    | (?P<mark>->|\+\+|--|&&|.)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_DIRECTIVE = re.compile(rf"\#(?:\\\r?\n|{_COMMENT}|{_STRING}|[^\n])*+", re.DOTALL)
_DEFINE = re.compile(r"#\s*define\s+(\w+)(?:\(([^)]*)\))?(.*)", re.DOTALL | re.ASCII)
_INCLUDE = re.compile(r"#\s*include\b\s*(?:[\"<]([^\">]*)[\">])?")
_WORD = re.compile(r"[A-Za-z_]\w*+", re.ASCII)
_DIGRAPHS = ("%:", "<%", "<:", ":>", "??=", "??(", "??)", "??/", "??<", "??>")

_SPACES = {"global", "__global", "constant", "__constant"}
_QUALIFIERS = {"const", "__const", "restrict", "__restrict", "__restrict__", "volatile"}
_OWN_WORDS = {"long", "ulong", "int", "uint", "if", "for", "return", "void", "sizeof", "__global"}
_BEFORE_EXPRESSIONS = {"return", "else", "do", "case", "sizeof"}
_PAIRS = {"(": ")", "[": "]", "{": "}"}


class _Unreadable(Exception):
    """The reason, for the user's message."""


class _Broken(_Unreadable):
    """The following text cannot be read either."""


class Token(NamedTuple):
    kind: str
    text: str
    start: int


class Site(NamedTuple):
    """An index in the source."""

    pointer: str
    line: int
    text: str


@dataclass
class Pointer:
    """A parameter that points to global or constant memory."""

    name: str
    index: int  # of the parameter
    type_text: str
    is_plain: bool = True  # the type contains no macros
    reason: str = ""  # why it is not checked

    @property
    def size(self) -> int | None:
        """Return sizeof(*p), None if only the compiler knows it."""
        return type_size(self.type_text) if self.is_plain else None


@dataclass
class Form:
    """A kernel as parsed."""

    name: str
    n_args: int = 0
    names: list[str] = field(default_factory=list)
    pointers: list[Pointer] = field(default_factory=list)
    sites: dict[int, Site] = field(default_factory=dict)
    reason: str = ""  # why none of its pointers is checked

    @property
    def checked(self) -> list[Pointer]:
        return [] if self.reason else [p for p in self.pointers if not p.reason]

    @property
    def measured(self) -> list[Pointer]:
        """Return the pointers whose item sizes must come from the compiler."""
        return [p for p in self.checked if p.size is None]


def _tokens(text: str) -> list[Token]:
    found = []
    at, fresh = 0, True
    while at < len(text):
        match = _DIRECTIVE.match(text, at) if fresh and text[at] == "#" else None
        if match is not None:
            found.append(Token("directive", match[0], at))
        else:
            match = _TOKEN.match(text, at)
            assert match is not None
            if match.lastgroup == "skip":
                fresh = fresh or "\n" in match[0]
                at = match.end()
                continue
            found.append(Token(match.lastgroup or "", match[0], at))
            fresh = False
        at = match.end()
    return found


class _Macros:
    """The macros of a source, its headers and options: names and definitions."""

    def __init__(self, text: str, words: Sequence[str]) -> None:
        self.bodies: dict[str, str] = {}
        self.named: set[str] = set()  # named in bodies, other than their own parameters
        self.folders = [*include_folders(words), os.getcwd()]
        self.reason = ""
        self._seen: set[str] = set()
        for i, word in enumerate(words):
            given = words[i + 1] if word == "-D" and i + 1 < len(words) else word[2:]
            if word.startswith("-D"):
                name, _, body = given.partition("=")
                self._directive(f"#define {name} {body}")
        self._read(text)

    def _read(self, text: str) -> None:
        for token in _tokens(text):
            if token.kind == "directive":
                self._directive(without_comments(token.text))

    def _directive(self, text: str) -> None:
        include = _INCLUDE.match(text)
        if include is not None:
            self._header(include[1])
        define = _DEFINE.match(text)
        if define is None:
            return
        name, params, body = define.groups()
        self.bodies[name] = self.bodies.get(name, "") + " " + body
        self.named |= set(_WORD.findall(body)) - set(_WORD.findall(params or ""))
        if "##" in body:
            self.reason = f"the macro {name} makes names of parts"

    def _header(self, name: str | None) -> None:
        paths = [os.path.join(folder, name or "") for folder in self.folders]
        path = next((path for path in paths if name and os.path.isfile(path)), None)
        if path is None:
            self.reason = f"the header {name or 'that a macro names'} was not found"
        elif os.path.realpath(path).startswith(os.path.realpath(OPENCL_HEADERS) + os.sep):
            return  # pygpu's own, which do not name parameters
        elif path not in self._seen:
            self._seen.add(path)
            with open(path, encoding="latin-1") as file:
                self._read(file.read(1 << 22))


class _Reader:
    def __init__(self, text: str, words: Sequence[str]) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.macros = _Macros(text, words)
        self.newlines = [match.start() for match in re.finditer("\n", text)]
        self.edits: list[tuple[int, str]] = []
        self.n_sites = 0
        self.closed: dict[int, int] = {}  # matching brackets
        self.opened: dict[int, int] = {}
        self.lists: dict[int, bool] = {}  # commas: whether they separate declared variables
        self.directives = [0]  # before each token
        for token in self.tokens:
            self.directives.append(self.directives[-1] + (token.kind == "directive"))
        # Of bodies, and the ends of parameter lists.
        self.ends: dict[str, tuple[int, int, int]] = {}
        self.reason = self.macros.reason
        if _OWN_WORDS & self.macros.bodies.keys():
            self.reason = "a macro has the name of a keyword or type"
        if PREFIX in text or any(mark in text for mark in _DIGRAPHS):
            self.reason = "it has digraphs, or names that begin with " + PREFIX
        if any("CLC++" in word for word in words):
            self.reason = "it is C++"

    # ---- structure ----

    def close(self, at: int) -> int:
        """Return the index of the bracket that closes the one at *at*."""
        if at in self.closed:
            return self.closed[at]
        stack: list[int] = []
        # Depth before, those at the ends, whether #else was seen.
        branches: list[tuple[int, set[int], bool]] = []
        for i in range(at, len(self.tokens)):
            kind, text, _ = self.tokens[i]
            if kind == "directive":
                self._branch(text, stack, branches)
            elif kind != "mark":
                continue
            elif text == "\\":
                raise _Broken("a line is continued by a backslash")
            elif text in _PAIRS:
                stack.append(i)
            elif text in _PAIRS.values():
                last = stack.pop()
                if _PAIRS[self.tokens[last].text] != text:
                    break
                if branches and len(stack) < branches[-1][0]:
                    break
                self.closed[last], self.opened[i] = i, last
                if not stack:
                    return i
        raise _Broken("its brackets do not match")

    @staticmethod
    def _branch(text: str, stack: list[int], branches: list[tuple[int, set[int], bool]]) -> None:
        word = text[1:].split(maxsplit=1)[0] if text[1:].strip() else ""
        if word.startswith("if"):
            branches.append((len(stack), set(), False))
        elif word.startswith(("el", "endif")):
            if not branches:
                raise _Broken("its #if and #endif do not match")
            before, ends, alone = branches.pop()
            ends = {*ends, len(stack)}
            if word != "endif":
                del stack[before:]
                branches.append((before, ends, alone or word == "else"))
            elif len(ends if alone else {*ends, before}) != 1:
                raise _Broken("an #if has braces that do not match")

    def forms(self) -> dict[str, Form]:
        found: dict[str, Form] = {}
        at = 0
        while at < len(self.tokens):
            if self.tokens[at].text not in ("kernel", "__kernel"):
                at += 1
                continue
            form, at = self._kernel(at + 1)
            if form is not None:
                if form.name in found:
                    form.reason = "it is declared twice"
                    found[form.name].reason = form.reason
                else:
                    found[form.name] = form
        return found

    def _kernel(self, at: int) -> tuple[Form | None, int]:
        form = None
        try:
            at = self._skip(at, attributes_only=False)
            form = Form(self.tokens[at].text)
            end = self.close(at + 1)
            form.reason = self.reason
            self._parameters(form, at + 2, end)
            body = self._skip(end + 1, attributes_only=True)
            if self.tokens[body].text != "{":
                raise _Unreadable("it is declared apart from its body")
            at, close = self.close(body) + 1, end
            self.ends[form.name] = body, at - 1, close
        except IndexError:
            if form is not None:
                form.reason = "it ends too early"
            at = len(self.tokens)
        except _Unreadable as reason:
            if form is not None:
                form.reason = str(reason)
            at = len(self.tokens) if isinstance(reason, _Broken) else at + 1
        return form, at

    def _skip(self, at: int, *, attributes_only: bool) -> int:
        """Skip attributes; and a return type, up to the name before a parenthesis."""
        while True:
            kind, text, _ = self.tokens[at]
            if text in ("__attribute__", "__attribute"):
                at = self.close(at + 1) + 1
            elif attributes_only or (kind == "word" and self.tokens[at + 1].text == "("):
                return at
            elif kind == "word":
                at += 1
            else:
                raise _Unreadable("its declaration cannot be read")

    def _parameters(self, form: Form, begin: int, end: int) -> None:
        part: list[Token] = []
        at = begin
        parts = []
        while at < end:
            token = self.tokens[at]
            if token.kind == "directive":
                raise _Unreadable("there is an #if among its parameters")
            if token.text in ("__attribute__", "__attribute"):
                at = self.close(at + 1)
            elif token.text == ",":
                parts.append(part)
                part = []
            elif token.text in ("(", "["):
                until = self.close(at)
                part += self.tokens[at : until + 1]
                at = until
            else:
                part.append(token)
            at += 1
        if part and [token.text for token in part] != ["void"]:
            parts.append(part)
        form.n_args = len(parts)
        for i, part in enumerate(parts):
            self._parameter(form, i, part)

    def _parameter(self, form: Form, i: int, part: list[Token]) -> None:
        texts = [token.text for token in part]
        words = [token.text for token in part if token.kind == "word"]
        form.names.append(words[-1] if words else "")
        for word in words:
            if re.search(r"[*\[\](),]", self.macros.bodies.get(word, "")):
                raise _Unreadable(f"the macro {word} is among its parameters")
        if not _SPACES & set(words) or not set("*[") & set(texts):
            return
        pointer = Pointer(words[-1], i, "")
        form.pointers.append(pointer)
        star = texts.index("*") if "*" in texts else -1
        after = [text for text in texts[star + 1 :] if text not in _QUALIFIERS]
        plain = all([token.kind == "word" for j, token in enumerate(part) if j != star])
        if star < 1 or after != [pointer.name] or not plain:
            pointer.reason = "its declaration cannot be read"
            return
        kept = [word for word in texts[:star] if word not in {*_SPACES, *_QUALIFIERS}]
        pointer.type_text = " ".join(kept)
        pointer.is_plain = not any([word in self.macros.bodies for word in kept])

    # ---- uses ----

    def rewrite(self, form: Form) -> None:
        """Examine the uses of the form's pointers, and record the edits."""
        if form.reason:
            return
        begin, end, close = self.ends[form.name]
        uses: dict[str, list[tuple[int, int]]] = {}
        for pointer in form.pointers:
            try:
                if pointer.reason:
                    continue
                if pointer.name in self.macros.bodies or pointer.name in self.macros.named:
                    raise _Unreadable("a macro names it")
                uses[pointer.name] = list(self._uses(pointer.name, begin, end))
            except _Unreadable as reason:
                pointer.reason = str(reason)
        for n, pointer in enumerate(form.checked):
            for opened, closed in uses[pointer.name]:
                self.n_sites += 1
                form.sites[self.n_sites] = self._site(pointer.name, opened)
                inside = f"{PREFIX}in({PREFIX}record, (long)("
                self.edits.append((self.tokens[opened].start + 1, inside))
                after = f"), {PREFIX}n{n}, {self.n_sites})"
                self.edits.append((self.tokens[closed].start, after))
        if not form.checked:
            return
        hidden = [f"__global int *{PREFIX}record"]
        hidden += [f"ulong {PREFIX}n{n}" for n, _ in enumerate(form.checked)]
        self.edits.append((self.tokens[close].start, ", " + ", ".join(hidden)))
        if form.measured:
            sizes = [
                f"{PREFIX}out[{n}] = sizeof({p.type_text});" for n, p in enumerate(form.measured)
            ]
            declaration = f" __kernel void {SIZES}{form.name}(__global ulong *{PREFIX}out)"
            text = f"{declaration} {{ {' '.join(sizes)} }}"
            self.edits.append((self.tokens[end].start + 1, text))

    def _site(self, name: str, at: int) -> Site:
        line = bisect.bisect_left(self.newlines, self.tokens[at].start)
        begin = self.newlines[line - 1] + 1 if line else 0
        text = self.text[begin : begin + 200].split("\n")[0].strip()
        return Site(name, line + 1, text[:80].rstrip("; "))

    def _uses(self, name: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield (index of [, index of ]) of each use in a body."""
        for at in range(begin + 1, end):
            if self.tokens[at].kind != "word" or self.tokens[at].text != name:
                continue
            before, after = self.tokens[at - 1].text, self.tokens[at + 1].text
            if before in (".", "->"):
                continue  # a member with the same name
            if after != "[":
                raise _Unreadable(_without_index(before, after))
            if self._declares(at, begin):
                raise _Unreadable("its name is declared again")
            if self._takes_address(at):
                raise _Unreadable("the address of an item is taken")
            closed = self.close(at + 1)
            if self.directives[closed] != self.directives[at]:
                raise _Unreadable("there is an #if in an index")
            yield at + 1, closed

    def _declares(self, at: int, begin: int) -> bool:
        """Whether ``p[`` at *at* may declare another p, such as ``float *p[3]``."""
        before, stars = at - 1, False
        while True:
            kind, text, _ = self.tokens[before]
            if kind != "directive" and text != "*" and text not in _QUALIFIERS:
                break
            stars = stars or kind != "directive"
            before -= 1
        if kind == "word" and not stars:
            return text not in _BEFORE_EXPRESSIONS
        if kind == "word":  # a type, or a factor
            return text not in _BEFORE_EXPRESSIONS and self._begins(before, begin)
        return text == "," and self._lists(before, begin)

    def _begins(self, at: int, begin: int) -> bool:
        """Whether a statement, or a type's name that ends there, may begin with the name at
        *at*."""
        kind, text, _ = self.tokens[at - 1]
        if text == "(":
            return self.tokens[at - 2].text == "for"
        if kind == "word":
            return text not in _BEFORE_EXPRESSIONS
        return kind == "directive" or at - 1 <= begin or text in (";", "{", "}", ":")

    def _lists(self, at: int, begin: int) -> bool:
        """Whether the comma at *at* may separate declared variables."""
        passed = []
        first, found = at, False
        while first >= begin and not found:
            if first in self.lists:
                found = self.lists[first]
                break
            kind, text, _ = self.tokens[first]
            if text in _PAIRS.values() and first in self.opened:
                first = self.opened[first]
                if text != "}":
                    first -= 1
                    continue
                kind, text = "mark", "}"  # the brace of a block, or of an initializer
            elif text == ",":
                passed.append(first)
            if text == "(" and self.tokens[first - 1].text != "for":
                break  # the bracket of a call
            if text in (";", "{", "}", ":", "(", "[") or kind == "directive":
                after = self.closed[first] if text == "}" else first
                head, second = self.tokens[after + 1 : after + 3]
                found = head.kind == "word" and head.text not in _BEFORE_EXPRESSIONS
                found = found and (second.kind == "word" or second.text == "*")
                if text not in ("}", ":") and kind != "directive":
                    break
            first -= 1
        for comma in passed:
            self.lists[comma] = found
        return found

    def _takes_address(self, at: int) -> bool:
        """Whether a unary & precedes ``p[``, other than for an atomic function."""
        first = at - 1
        while self.tokens[first].text == "(":
            first -= 1
        if self.tokens[first].text != "&":
            return False
        before = self.tokens[first - 1]
        if before.text == ")":  # perhaps of a cast
            inside = first - 2
            while self.tokens[inside].kind == "word" or self.tokens[inside].text == "*":
                inside -= 1
            return self.tokens[inside].text == "("
        if before.kind in ("word", "number"):
            return before.text in _BEFORE_EXPRESSIONS
        if before.text == "]":
            return False
        atomic = before.text == "(" and first == at - 1
        return not (atomic and re.match(r"atom(ic)?_(?!init)", self.tokens[first - 2].text))


def _without_index(before: str, after: str) -> str:
    if before in ("(", ",") and after in (")", ","):
        return "it is passed to a function or macro"
    if before == "*":
        return "it is used with *"
    if after in ("+", "-", "++", "--") or before in ("+", "-", "++", "--"):
        return "it is moved"
    return "it is assigned to" if after == "=" else "it is used without an index"


def read(source: bytes, words: Sequence[str]) -> tuple[dict[str, Form], bytes]:
    """Return the kernels of a source, and the source with checked indices. words: the options."""
    text = source.decode("latin-1")
    reader = _Reader(text, words)
    forms = reader.forms()
    for form in forms.values():
        reader.rewrite(form)
    parts, last = [PRELUDE], 0
    for at, inserted in sorted(reader.edits, key=lambda edit: edit[0]):
        parts += [text[last:at], inserted]
        last = at
    return forms, "".join([*parts, text[last:]]).encode("latin-1")
