"""Running programs written for PyOpenCL, PyCUDA or Numba without changing them.

``python -m pygpu.compat program.py arguments`` runs a program, ``python -m pygpu.compat -m module
arguments`` a module, with ``import pyopencl`` meaning pygpu. :func:`install` does the same for the
imports that follow it, :func:`uninstall` ends that. Packages that ask importlib.metadata for
PyOpenCL's version get the version whose interface pygpu has.

Importing a module without a counterpart in pygpu raises an ImportError that says so.
"""

from __future__ import annotations

import sys

from pygpu.compat.finder import Finder
from pygpu.compat.peers import PEERS

__all__ = ["install", "uninstall"]


def install(*names: str) -> None:
    """Make imports of these packages load pygpu's modules; without names, all in the table.

    Can be repeated. Raises ValueError for a package that pygpu does not replace, and RuntimeError
    if the real package has been imported already: its objects are not pygpu's, so
    mixing the two would fail later and less clearly.
    """
    for name in names:
        if name not in PEERS:
            raise ValueError(
                f"pygpu.compat.install: pygpu cannot replace {name!r}, only " + ", ".join(PEERS)
            )
    for name in names or PEERS:
        if _finder_of(name) is not None:
            continue
        if any(module == name or module.startswith(f"{name}.") for module in sys.modules):
            raise RuntimeError(
                f"pygpu.compat.install: {name} itself has been imported already; install first"
            )
        sys.meta_path.insert(0, Finder(PEERS[name]))


def uninstall(*names: str) -> None:
    """Undo install. Modules imported meanwhile remain usable; the next import finds the real
    package, if there is one.
    """
    for name in names or PEERS:
        finder = _finder_of(name)
        if finder is not None:
            sys.meta_path.remove(finder)
            for module in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
                del sys.modules[module]


def _stands_in_for(name: str) -> bool:
    """Whether programs of the package run by pygpu now, which the C code asks."""
    return _finder_of(name) is not None


def _finder_of(name: str) -> Finder | None:
    for finder in sys.meta_path:
        if isinstance(finder, Finder) and finder.peer.name == name:
            return finder
    return None
