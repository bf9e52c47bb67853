"""The layers of docs/design/index.md, read from every import: no arrow goes up or across.

An arrow is an import, wherever in a file it stands, or a string that is the name of one of our
modules, as tables of lazily loaded names and C code have them.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "pygpu"

# From the bottom. A module is in the layer of the longest name here that it begins with.
LAYERS = {
    "pygpu.errors": 0,
    "pygpu.version": 0,
    "pygpu._src": 0,
    "pygpu._src.util": 0,
    "pygpu._src.drivers": 0,
    "pygpu._opencl": 1,
    "pygpu._cuda": 1,
    "pygpu._array": 1,
    "pygpu.constants": 1,
    "pygpu._src.codegen": 2,
    "pygpu._src.runtime": 3,
    "pygpu._src.array": 4,
    "pygpu._src.user_kernels": 5,
    "pygpu._src.jit": 5,
    "pygpu._src.interop": 5,
    "pygpu._src.observe": 5,
    "pygpu": 6,
    "pygpu._src.diagnosis": 6,
}
# Side by side: neither names the other.
APART = [
    ("pygpu._src.user_kernels", "pygpu._src.jit"),
    ("pygpu._src.runtime.opencl", "pygpu._src.runtime.cuda"),
]


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    return {name_of(path): path for path in PACKAGE.rglob("*.py")}


EXTENSIONS = ("pygpu._opencl", "pygpu._cuda", "pygpu._array")


def belongs(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def layer(name: str) -> int:
    return LAYERS[max((known for known in LAYERS if belongs(name, known)), key=len)]


def known(name: str) -> bool:
    return name in modules() or name in EXTENSIONS


def imports(name: str, tree: ast.AST) -> set[str]:
    """The modules of ours that a module imports."""
    package = name if modules()[name].name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    types_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in chain.from_iterable(map(ast.walk, node.body))
    }
    for node in ast.walk(tree):
        if node in types_only:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*above, *filter(None, [node.module])]) if node.level else node.module
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                found.add(inner if known(inner) else str(base))
    return {target for target in found if belongs(target, "pygpu")}


def strings(name: str, tree: ast.AST) -> set[str]:
    """The modules of ours that a module names in strings, as "pygpu.x", ".x" or "..x"."""
    package = name if modules()[name].name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    public = set()  # where a class says that it is found
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and "__module__" in ast.unparse(node.targets[0]):
            public.add(node.value)
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values)
            public |= {
                value
                for key, value in pairs
                if isinstance(key, ast.Constant) and key.value == "__module__"
            }
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "publish":
            public.add(node.args[2])
    for node in ast.walk(tree):
        if node in public:
            continue
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        text = node.value
        if re.fullmatch(r"\.+[a-z_][\w.]*", text):
            dots = len(text) - len(text.lstrip("."))
            above = package.split(".")[: len(package.split(".")) - dots + 1]
            text = ".".join([*above, text.lstrip(".")])
        elif re.fullmatch(r"_src(\.\w+)+", text):
            text = f"pygpu.{text}"
        if known(text) and text != "pygpu":
            found.add(text)
    return found


@cache
def arrows() -> dict[str, frozenset[str]]:
    found = {}
    for name, path in modules().items():
        tree = ast.parse(path.read_text("utf-8"))
        found[name] = frozenset(imports(name, tree) | strings(name, tree)) - {name}
    for extension in EXTENSIONS:
        folder = ROOT / "src" / extension.partition("._")[2]
        texts = (path.read_text("utf-8") for path in folder.rglob("*.[ch]"))
        pattern = r'PyImport_ImportModule\("(pygpu(?:\.\w+)+)"\)'
        named = set(chain.from_iterable(re.findall(pattern, text) for text in texts))
        found[extension] = frozenset(filter(known, named)) - {extension}
    return found


def wrong(source: str, target: str) -> bool:
    if layer(target) > layer(source):
        return True
    pairs = [*APART, *((b, a) for a, b in APART)]
    return any(belongs(source, one) and belongs(target, other) for one, other in pairs)


def test_arrows_are_read():
    assert len(modules()) > 200
    assert sum(map(len, arrows().values())) > 900
    assert "pygpu._src.codegen.dtypes" in arrows()["pygpu._src.array.reduction"]
    assert "pygpu._src.jit.decorators.kernel" in arrows()["pygpu"]  # a string in a table
    assert arrows()["pygpu._cuda"] and arrows()["pygpu._opencl"]


def test_every_module_is_in_a_layer():
    strangers = {name for name in modules() if belongs(name, "pygpu._src") and layer(name) == 0}
    named = ("pygpu._src.util", "pygpu._src.drivers")
    assert {s for s in strangers if not any(belongs(s, name) for name in named)} == {"pygpu._src"}


def test_no_arrow_goes_up_or_across():
    found = {(a, b) for a, targets in arrows().items() for b in targets if wrong(a, b)}
    assert found == set(), "import from your own layer or one below"


def test_no_files_import_each_other_in_a_circle():
    order = TopologicalSorter(arrows()).static_order()
    assert set(arrows()) <= set(order)  # a circle raises CycleError, which names its files


@pytest.mark.parametrize("name", sorted(n for n in LAYERS if n.startswith("pygpu._src.")))
def test_layers_are_there(name: str):
    assert name in modules()
