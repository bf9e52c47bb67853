"""How many steps a regular expression takes to search a text, counted by a matcher written in
Python that backtracks as re does: a measure of time that is the same on every machine.
"""

import re
from collections.abc import Iterator
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_LEAVES = (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN, codes.AT)
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_MOST_COPIES = 40
# Characters to try for a class such as \w or [^;]
_SAMPLES = 'a1 \n*.;[(#</-+,{}_:@"\\'


class Steps:
    """Counts the steps of all searches with one pattern."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.count = 0
        self._real = re.compile(pattern, flags)
        self.tree = parser.parse(pattern, flags)
        self._code = self._program(self.tree)

    # Instructions: (match, leaf), (split, first, second), (jump, to), (run, program, kind),
    # (mark, loop), (moved, loop), (end,)
    def _program(self, tree: Any) -> list[tuple[Any, ...]]:
        code: list[tuple[Any, ...]] = []
        self._emit(tree, code)
        code.append(("end",))
        return code

    def _emit(self, tree: Any, code: list[tuple[Any, ...]]) -> None:
        for node in tree:
            kind, value = node
            if kind in _LEAVES:
                code.append(("match", self._leaf(node)))
            elif kind is codes.SUBPATTERN:
                self._emit(value[-1], code)
            elif kind is codes.BRANCH:
                self._branch(value[1], code)
            elif kind is codes.ATOMIC_GROUP:
                code.append(("run", self._program(value), "atomic"))
            elif kind is codes.POSSESSIVE_REPEAT:
                greedy: list[tuple[Any, ...]] = []
                self._repeat(value, True, greedy)
                code.append(("run", [*greedy, ("end",)], "atomic"))
            elif kind in _REPEATS:
                self._repeat(value, kind is codes.MAX_REPEAT, code)
            elif kind in (codes.ASSERT, codes.ASSERT_NOT):
                direction, inner = value
                if direction > 0:
                    wanted = "ahead" if kind is codes.ASSERT else "not ahead"
                    code.append(("run", self._program(inner), wanted))
                else:  # of a fixed width
                    code.append(("match", self._leaf(node)))
            else:
                raise NotImplementedError(f"{kind} in {self._real.pattern}")

    def _leaf(self, node: Any) -> Any:
        tree = parser.SubPattern(self.tree.state, [node])
        return compiler.compile(tree, self._real.flags & ~re.UNICODE | re.UNICODE).match

    def _branch(self, branches: list[Any], code: list[tuple[Any, ...]]) -> None:
        jumps = []
        for branch in branches[:-1]:
            split = len(code)
            code.append(())
            self._emit(branch, code)
            jumps.append(len(code))
            code.append(())
            code[split] = ("split", split + 1, len(code))
        self._emit(branches[-1], code)
        for jump in jumps:
            code[jump] = ("jump", len(code))

    def _repeat(self, value: Any, greedy: bool, code: list[tuple[Any, ...]]) -> None:
        least, most, inner = value
        for _ in range(min(least, _MOST_COPIES)):
            self._emit(inner, code)
        if most is codes.MAXREPEAT:
            loop = len(code)
            code.append(())
            code.append(("mark", loop))
            self._emit(inner, code)
            code.append(("moved", loop))
            code.append(("jump", loop))
            first, second = loop + 1, len(code)
            code[loop] = ("split", first, second) if greedy else ("split", second, first)
            return
        splits = []
        for _ in range(min(most, _MOST_COPIES) - least):
            splits.append(len(code))
            code.append(())
            self._emit(inner, code)
        for split in splits:
            first, second = split + 1, len(code)
            code[split] = ("split", first, second) if greedy else ("split", second, first)

    def _run(self, code: list[tuple[Any, ...]], text: str, start: int) -> int:
        """The end of a match that begins at *start*, -1 without one."""
        stack: list[tuple[int, int, dict[int, int]]] = [(0, start, {})]
        while stack:
            at, position, marks = stack.pop()
            while True:
                self.count += 1
                kind, *values = code[at]
                if kind == "end":
                    return position
                if kind == "match":
                    found = values[0](text, position)
                    if found is None:
                        break
                    position = found.end()
                elif kind == "split":
                    stack.append((values[1], position, marks))
                    at = values[0]
                    continue
                elif kind == "jump":
                    at = values[0]
                    continue
                elif kind == "mark":
                    marks = {**marks, values[0]: position}
                elif kind == "moved":
                    if marks[values[0]] == position:
                        break
                else:
                    end = self._run(values[0], text, position)
                    if (end < 0) != (values[1] == "not ahead"):
                        break
                    if values[1] == "atomic":
                        position = end
                at += 1
        return -1

    def match(self, text: str, start: int = 0) -> int:
        return self._run(self._code, text, start)

    def find_all(self, text: str) -> int:
        """Find all matches as finditer does. Returns how many there are."""
        at = found = 0
        while at <= len(text):
            end = self.match(text, at)
            found += end >= 0
            at = end if end > at else at + 1
        return found


# ---- texts that a pattern may take long for -----------------------------------------------------


def _shortest(tree: Any) -> str:
    """A text that the pattern matches, of few characters."""
    text = ""
    for kind, value in tree:
        if kind is codes.LITERAL:
            text += chr(value)
        elif kind in (codes.NOT_LITERAL, codes.ANY, codes.IN):
            text += _characters(kind, value)[0]
        elif kind is codes.SUBPATTERN:
            text += _shortest(value[-1])
        elif kind is codes.BRANCH:
            text += _shortest(value[1][0])
        elif kind is codes.ATOMIC_GROUP:
            text += _shortest(value)
        elif kind in _REPEATS:
            text += _shortest(value[2]) * value[0]
    return text


def _characters(kind: Any, value: Any) -> list[str]:
    tree = parser.SubPattern(parser.State(), [(kind, value)])
    leaf = compiler.compile(tree, re.UNICODE)
    chosen = [c for c in _SAMPLES if leaf.match(c)]
    if chosen:
        return chosen
    return [next(c for c in map(chr, range(128)) if leaf.match(c))]


def _repeats(tree: Any, before: str) -> Iterator[tuple[str, list[str]]]:
    """Of each repeat in the pattern: what leads to it, and what it repeats."""
    for node in tree:
        kind, value = node
        if kind in _REPEATS:
            inner = value[2]
            if len(inner) == 1 and inner[0][0] in (codes.NOT_LITERAL, codes.ANY, codes.IN):
                yield before, _characters(*inner[0])[:8]
            elif value[1] > 1:
                yield before, [_shortest(inner) or "a"]
            yield from _repeats(inner, before)
        elif kind is codes.SUBPATTERN:
            yield from _repeats(value[-1], before)
        elif kind is codes.ATOMIC_GROUP:
            yield from _repeats(value, before)
        elif kind is codes.BRANCH:
            for branch in value[1]:
                yield from _repeats(branch, before)
        elif kind is codes.ASSERT or kind is codes.ASSERT_NOT:
            yield from _repeats(value[1], before)
        before += _shortest([node])


def hard_texts(tree: Any) -> Iterator[tuple[str, str, str]]:
    """Texts as (head, what is repeated, tail) that make a pattern try much and fail late."""
    units = dict.fromkeys(
        ("a", " ", "\n", "(", "[", "{", "<", "/*", '"', "\\", "#", "1", ".", "a ")
    )
    seen = set()
    for before, bodies in _repeats(tree, ""):
        for body in bodies:
            for text in ((before, body, "\0"), ("", before + body, "\0"), ("", before, "\0")):
                if text[1] and text not in seen:
                    seen.add(text)
                    yield text
        units[before + bodies[0]] = None
    for unit in units:
        if unit and ("", unit, "\0") not in seen:
            yield "", unit, "\0"
