"""Writes docs/arrays/numpy_coverage.md: which of NumPy's names work on device arrays.

It is made from NumPy's own lists and pygpu's tables.

    python tools/numpy_coverage.py            # write the page
    python tools/numpy_coverage.py --check    # exit with 1 if it would change
"""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
from pathlib import Path
from typing import Any

import numpy as np

PAGE = Path(__file__).parent.parent / "docs" / "arrays" / "numpy_coverage.md"
DISPATCHED = type(np.sum)

# Why a function that takes arrays does not take those on a device.
REFUSED = {
    "datetime_as_string": "strings: np.datetime_as_string(a.get())",
    "save": "files: np.save(file, a.get()), or after pygpu.allow_host_copies()",
    "savetxt": "files: np.savetxt(file, a.get()), or after pygpu.allow_host_copies()",
    "savez": "files: np.savez(file, a=a.get()), or after pygpu.allow_host_copies()",
    "savez_compressed": "files, as savez",
}
HOST = {
    "poly": "on the host",
    "polydiv": "on the host",
    "polyfit": "library or host",
    "roots": "on the host",
}
INTRO = """\
# NumPy's functions on device arrays

Made by `tools/numpy_coverage.py` from NumPy {version}'s own lists and pygpu's tables;
`tests/array/test_numpy_coverage.py` compares them. What a function does is compared with NumPy by
the tests of its kind. Functions without an array as an argument (`np.zeros`, `np.arange`, dtypes,
printing, reading files) are left out: `pygpu.xp` and `pygpu.array` [make arrays](index.md). Ufuncs
have `out=`, `where=`, `dtype=`, `reduce`, `accumulate`, `reduceat`, `outer` and `at` as well.
[Differences from NumPy](index.md#differences-from-numpy) are listed with the arrays.

| | |
| --- | --- |
| on the device | the arrays stay there |
| library or host | by kernels or a vendor's library, else on the host: [which](linalg_fft.md) |
| on the host | by NumPy, with one warning |
| refused | `TypeError`; nothing is copied unless [allowed](index.md#copying) |

"""
POLYNOMIALS = """\
## numpy.polynomial

NumPy's functions there are not dispatched: they convert coefficients by `np.array`, which refuses
device arrays. `pygpu.xp.polynomial` has the same functions for them: `polyval`, `polyval2d`,
`polyval3d`, `polygrid2d`, `polygrid3d`, `polyvander`, `polyvander2d`, `polyvander3d`, `polyfit`,
`polyadd`, `polysub`, `polymul`, `polyder`, `polyint` and `polyroots` (on the host) in
`pygpu.xp.polynomial.polynomial`, and those up to `fit` in `chebyshev`, `legendre`, `hermite`,
`hermite_e` and `laguerre` by their names there, such as `chebval`. A value takes one launch for
each coefficient.
"""


def tables() -> tuple[dict[Any, Any], set[str]]:
    """pygpu's functions by NumPy's, with those of ``like=``; the names of the ufuncs."""
    from pygpu._src.array import array_function, gufunc
    from pygpu._src.array.routines import table
    from pygpu._src.codegen.ufunc_loops import NAMES

    known = {**table.makers(None), **array_function._table()}
    return known, {*NAMES, *gufunc.NAMES}


def on_host() -> dict[str, str]:
    """The functions of numpy.linalg that are, or may be, computed on the host: all that call one
    that is, by the source."""
    from pygpu._src.array.routines import linalg

    calls = {
        node.name: {ast.unparse(c.func) for c in ast.walk(node) if isinstance(c, ast.Call)}
        for node in ast.parse(inspect.getsource(linalg)).body
        if isinstance(node, ast.FunctionDef)
    }
    always = {name for name, called in calls.items() if "host_fallback.compute" in called}
    maybe = {name for name, called in calls.items() if "_on_host" in called}
    while True:
        more = {name for name, called in calls.items() if called & maybe} - maybe
        if not more:
            break
        maybe |= more
    return dict.fromkeys(maybe, "library or host") | dict.fromkeys(always, "on the host")


def statuses(module: Any) -> dict[str, str]:
    """The status of each name of a module of NumPy that takes arrays."""
    known, ufuncs = tables()
    host = on_host() if module is np.linalg else HOST
    found = {}
    for name in sorted(module.__all__):
        item = getattr(module, name)
        if isinstance(item, np.ufunc):
            works = item.__name__ in ufuncs
        elif isinstance(item, DISPATCHED):
            works = item in known
        else:
            continue
        found[name] = host.get(name, "on the device") if works else "refused"
    return found


def page() -> str:
    """The text of the page."""
    text = INTRO.format(version=".".join(np.__version__.split(".")[:2]))
    for module in (np, np.linalg, np.fft):
        found = statuses(module)
        text += f"## {module.__name__}\n\n"
        for status in ("on the device", "library or host", "on the host"):
            names = [f"`{name}`" for name, what in found.items() if what == status]
            if names:
                text += f"**{status[0].upper()}{status[1:]}** ({len(names)}): {' '.join(names)}\n\n"
        refused = [name for name, what in found.items() if what == "refused"]
        if refused:
            text += f"**Refused** ({len(refused)}):\n\n| function | why |\n| --- | --- |\n"
            text += "".join(f"| `{name}` | {REFUSED[name]} |\n" for name in refused) + "\n"
    return text + POLYNOMIALS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--check", action="store_true")
    made = page()
    if parser.parse_args().check:
        return int(made != PAGE.read_text("utf-8"))
    PAGE.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
