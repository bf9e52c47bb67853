"""Compares the names of PyOpenCL, PyCUDA or Numba with pygpu's.

    python tools/compare_names.py pyopencl --python VENV/bin/python    # where it is installed
    python tools/compare_names.py pycuda --source CHECKOUT             # where it cannot be
    python tools/compare_names.py pyopencl ... --uses FOLDER...        # sources of other packages

Prints the names that pygpu lacks, the reason from tests/python/peer_names/left_out.txt if it has
one, and which packages in the folders use them, the peer's private names included. --record writes
the names to tests/python/peer_names/, where a test compares them with pygpu without the peer.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).parent.parent
RECORDS = ROOT / "tests" / "python" / "peer_names"
EXCLUDED = {"tests", "test", "testing"}
# Run where the peer is installed: prints its folder, its version, and the members of its classes
# and of its extension modules, which have no source.
ASK = """
import importlib, json, sys
from importlib.metadata import version
from pathlib import Path
peer, modules = sys.argv[1], json.loads(sys.argv[2])
found = {}
package = importlib.import_module(peer)
folder = str(Path(package.__file__).parent)
for name in modules:
    try:
        module = importlib.import_module(name)
    except Exception:
        continue
    compiled = not str(getattr(module, "__file__", "")).endswith(".py")
    names = [n for n in dir(module) if not n.startswith("__")] if compiled else []
    for key, value in list(vars(module).items()):
        if isinstance(value, type) and value.__module__.partition(".")[0] == peer:
            members = [n for n in dir(value) if not n.startswith("_") and not hasattr(object, n)]
            found[name + "." + key] = members
    found.setdefault(name, names)
print(json.dumps([folder, version(peer), found]))
"""
# The same for Numba, most of whose names are of its compiler: what users find in these.
NUMBA = [
    "numba.cuda",
    *(f"numba.cuda.{part}" for part in ("atomic", "const", "fp16", "libdevice", "local", "shared")),
]
ASK_NUMBA = """
import json, sys
from functools import reduce
from importlib.metadata import version
from types import ModuleType
import numba.cuda.libdevice
found = {}
for name in json.loads(sys.argv[1]):
    place = reduce(getattr, name.split(".")[1:], numba)
    public = [n for n in dir(place) if not n.startswith("_")]
    found[name] = [n for n in public if not isinstance(getattr(place, n), ModuleType)]
print(json.dumps([version("numba"), found]))
"""
# Run with pygpu: prints the names that are missing.
LOOK = """
import importlib, json, sys
from pygpu import compat
compat.install()
missing = []
for name in json.load(sys.stdin):
    parts = name.split(".")
    for k in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:k]))
        except ImportError:
            continue
        try:
            for part in parts[k:]:
                value = getattr(value, part)
        except AttributeError:
            missing.append(name)
        break
    else:
        missing.append(name)
print(json.dumps(missing))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("peer", choices=["pyopencl", "pycuda", "numba"])
    parser.add_argument("--python", help="an interpreter that imports the peer")
    parser.add_argument("--source", type=Path, help="a checkout of the peer")
    parser.add_argument("--uses", type=Path, nargs="*", default=[], help="folders of packages")
    parser.add_argument("--record", action="store_true", help="write the lists that a test reads")
    given = parser.parse_args()
    if (given.python is None) == (given.source is None):
        parser.error("one of --python and --source is needed")
    if given.python:
        version, names = names_installed(given.peer, given.python)
    else:
        version, names = "of the source", names_in_source(given.peer, given.source)
    if given.record:
        record(given.peer, version, names)
    used: dict[str, set[str]] = {}
    for folder in given.uses:
        for name, packages in uses(given.peer, folder).items():
            used.setdefault(name, set()).update(packages)
    everything = {f"{where}.{name}" for where, members in names.items() for name in members}
    public = {name for name in everything if not is_private(name)}
    print(f"{given.peer} {version}: {len(public)} public names")
    reasons = left_out()
    for name in missing_names(sorted(public | set(used) & (everything | set(names)))):
        reason = next((text for key, text in reasons if fnmatchcase(name, key)), "UNDECIDED")
        users = f" [used by {', '.join(sorted(used[name]))}]" if name in used else ""
        print(f"{name}: {reason}{users}")
    return 0


def is_private(name: str) -> bool:
    return any(part.startswith("_") for part in name.split("."))


def missing_names(names: list[str]) -> list[str]:
    """Those that are not there after pygpu.compat.install(). "pygpu.x" is looked up as it is."""
    done = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", LOOK],
        input=json.dumps(names), capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
    )  # fmt: skip
    return json.loads(done.stdout)


def left_out() -> list[tuple[str, str]]:
    """Patterns of names that pygpu leaves out, and the reason of each."""
    found, reason = [], ""
    for line in (RECORDS / "left_out.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            found.append((line, reason))
    return found


def record(peer: str, version: str, names: dict[str, set[str]]) -> None:
    lines = [f"# The public names of {peer} {version}, by tools/compare_names.py --record"]
    for where in sorted(names):
        public = sorted(n for n in names[where] if not n.startswith("_"))
        if public and not is_private(where):
            lines.append(f"{where}: {' '.join(public)}")
    (RECORDS / f"{peer}.txt").write_text("\n".join(lines) + "\n", "utf-8")


# ---- the peer's names


def names_installed(peer: str, python: str) -> tuple[str, dict[str, set[str]]]:
    if peer == "numba":
        command = [python, "-W", "ignore", "-c", ASK_NUMBA, json.dumps(NUMBA)]
        version, found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        return version, {where: set(names) for where, names in found.items()}

    def ask(modules: list[str]) -> list:
        command = [python, "-W", "ignore", "-c", ASK, peer, json.dumps(modules)]
        return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)

    folder, version, _ = ask([])
    names = names_in_package(peer, Path(folder))
    modules = {where for where in names} | {f"{peer}._cl", f"{peer}._driver"}
    for where, members in ask(sorted(modules))[2].items():
        module, _, name = where.rpartition(".")
        if where in names or name in names.get(module, ()) or module.endswith("._cl"):
            names.setdefault(where, set()).update(members)
    return version, names


def names_in_source(peer: str, checkout: Path) -> dict[str, set[str]]:
    names = names_in_package(peer, checkout / peer)
    compiled = set()
    for path in checkout.glob("src/wrapper/*.cpp"):
        text = path.read_text("utf-8", "replace")
        compiled |= set(re.findall(r'(?:class_|enum_)<[^"]*?>\s*(?:\w+\s*)?\(\s*"(\w+)"', text))
        compiled |= set(re.findall(r'py::def\(\s*"(\w+)"', text))
        compiled |= set(re.findall(r"DEF_SIMPLE_FUNCTION(?:_WITH_ARGS)?\(\s*(\w+)", text))
    if compiled:
        names.setdefault(f"{peer}._driver", set()).update(compiled)
        names[f"{peer}.driver"] |= {n for n in compiled if not n.startswith("_")}
    return names


def names_in_package(peer: str, folder: Path) -> dict[str, set[str]]:
    """Modules and classes, and what each defines or takes over from the package itself."""
    names: dict[str, set[str]] = {}
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.pyi")]):
        parts = (peer, *path.relative_to(folder).with_suffix("").parts)
        if EXCLUDED & set(parts):
            continue
        where = ".".join(parts).removesuffix(".__init__")
        for owner, name in names_in(ast.parse(path.read_text("utf-8")), where, peer):
            names.setdefault(owner, set()).add(name)
    return names


def names_in(tree: ast.AST, where: str, peer: str) -> Iterator[tuple[str, str]]:
    """(module or class, name) of the statements of a module or of a public class."""
    for node in getattr(tree, "body", []):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield where, node.name
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                inside = names_in(node, f"{where}.{node.name}", peer)
                yield from (pair for pair in inside if not pair[1].startswith("_"))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in (t for each in targets for t in ast.walk(each)):
                if isinstance(target, ast.Name) and not target.id.startswith("__"):
                    yield where, target.id
        elif isinstance(node, ast.ImportFrom) and not isinstance(tree, ast.ClassDef):
            if node.level or (node.module or "").partition(".")[0] == peer:
                yield from ((where, a.asname or a.name) for a in node.names if a.name != "*")
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.For):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                continue
            for part in (node, *getattr(node, "handlers", [])):
                yield from names_in(part, where, peer)
            rest = [*getattr(node, "orelse", []), *getattr(node, "finalbody", [])]
            yield from names_in(ast.Module(rest, []), where, peer)


# ---- what others use of it


def uses(peer: str, folder: Path) -> dict[str, set[str]]:
    """Dotted names of the peer that the packages in a folder import or look up, and which do."""
    found: dict[str, set[str]] = {}
    for path in folder.rglob("*.py"):
        text = path.read_text("utf-8", "replace")
        if peer not in text:
            continue
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        for name in uses_in(tree, peer):
            found.setdefault(name, set()).add(path.relative_to(folder).parts[0])
    return found


def uses_in(tree: ast.AST, peer: str) -> Iterator[str]:
    called: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == peer:
            for alias in node.names:
                called[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == peer:
                    called[alias.asname or peer] = alias.name if alias.asname else peer
                    yield alias.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            first, *rest = ast.unparse(node).split(".")
            if first in called and all(part.isidentifier() for part in rest):
                yield ".".join([called[first], *rest])


if __name__ == "__main__":
    sys.exit(main())
