"""Reads kernels/*.cu: kernels with their launch, inputs and expected results in comments.

A case begins with `//@ case: name`; what stands before the first one belongs to all of the file.
Values are Python expressions, in which np, rng (seeded by the case's name), expected.py's functions
and the arguments so far are known; a line `//@+` goes on with the value before it. Keys:

    grid, block          int or tuple; 1 and 32 if not given
    shared, cooperative  dynamic shared memory [bytes]; a cooperative launch
    kernel               its name, if it is not k
    options              words for the compiler
    in NAME              an argument: an array in device memory, a NumPy scalar by value
    out NAME             the same; what it is afterwards is compared with
    expect NAME          this. A second expect of a name replaces the first
    texture NAME         an argument: dict(data=array of (..., channels), address=, filter=, ...)
    surface NAME         an argument: dict(data=array, layered=); compared with its expect
    rtol, atol, ulp      how far floating point may be off; exact if none is given
    check                an expression that must be true, for results that have no single value
    simulator            true: about the simulator alone (a GPU would do something else)
"""

from __future__ import annotations

import sys
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))  # the folder of tests is not a package

FOLDER = Path(__file__).parent / "kernels"
KEYS = set("grid block shared cooperative kernel options rtol atol ulp simulator".split())


@dataclass
class Case:
    file: str
    name: str
    line: int
    prelude: str
    lines: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    arguments: list[tuple[str, str, str]] = field(default_factory=list)  # (kind, name, expression)
    expects: dict[str, str] = field(default_factory=dict)
    checks: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        return f"{self.file}-{self.name}"

    @property
    def source(self) -> str:
        """The program, with the line numbers of the file."""
        text = self.prelude.rstrip("\n") + "\n" if self.prelude.strip() else ""
        return f'{text}#line {self.line + 1} "{self.file}.cu"\n' + "\n".join(self.lines) + "\n"

    @property
    def options(self) -> tuple[str, ...]:
        return tuple(self.settings.get("options", "").split())

    def namespace(self) -> dict:
        import expected

        names = {key: value for key, value in vars(expected).items() if not key.startswith("_")}
        names["np"] = np
        names["rng"] = np.random.default_rng(zlib.crc32(self.name.encode()))
        return names

    def setting(self, key: str, default):
        return eval(self.settings[key], {"np": np}) if key in self.settings else default


def _put(case: Case, key: str, value: str, more: bool, where: str) -> None:
    kind, _, name = key.partition(" ")
    if kind in ("in", "out", "texture", "surface") and name:
        if more:
            kind, name, before = case.arguments.pop()
            value = before + " " + value
        case.arguments.append((kind, name, value))
    elif kind == "expect" and name:
        case.expects[name] = case.expects[name] + " " + value if more else value
    elif key == "check":
        case.checks.append(case.checks.pop() + " " + value if more else value)
    elif key in KEYS:
        case.settings[key] = value
    else:
        raise ValueError(f"{where}: no such key: {key}")


def read_file(path: Path) -> list[Case]:
    cases: list[Case] = []
    prelude: list[str] = []
    key = ""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.startswith("//@+"):
            _put(cases[-1], key, line[4:].strip(), True, f"{path}:{number}")
        elif line.startswith("//@"):
            key, _, value = (part.strip() for part in line[3:].partition(":"))
            if key == "case":
                cases.append(Case(path.stem, value, number, "\n".join(prelude)))
            else:
                _put(cases[-1], key, value, False, f"{path}:{number}")
            if cases:
                cases[-1].lines.append("")
            continue
        if cases:
            cases[-1].lines.append(line if not line.startswith("//@") else "")
        else:
            prelude.append(line)
    # The first line of a case is that of `case:` itself.
    return cases


def read_all() -> list[Case]:
    return [case for path in sorted(FOLDER.glob("*.cu")) for case in read_file(path)]
