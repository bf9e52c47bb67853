"""The import hook: modules of another package's names, filled from pygpu's."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from types import ModuleType
from typing import Any

from pygpu.compat.peers import Peer

__all__ = ["Finder"]


class Finder(MetaPathFinder):
    """Finds one package and its modules in pygpu."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        peer = self.peer
        package, _, module = fullname.partition(".")
        if package != peer.name:
            return None
        if module in peer.same:
            return ModuleSpec(fullname, _AliasLoader(peer.same[module]))
        if module in peer.elsewhere:
            spec = ModuleSpec(fullname, _ViewLoader(peer, module), is_package=True)
            spec.submodule_search_locations = _package_path(peer) if not module else []
            return spec
        if peer.target and _exists(name := f"{peer.target}.{module}"):
            return ModuleSpec(fullname, _AliasLoader(name))
        if module in peer.modules:
            # A ModuleNotFoundError would be swallowed by `from package import module`.
            raise ImportError(
                f"{fullname}: pygpu has no counterpart of this module yet", name=fullname
            )
        return None

    def find_distributions(
        self, context: DistributionFinder.Context | None = None
    ) -> Iterable[Distribution]:
        """The package's version, for programs that ask importlib.metadata for it."""
        name = context.name if context is not None else None
        if name is not None and name.lower().replace("_", "-") == self.peer.name:
            yield _Metadata(self.peer)


class _AliasLoader(Loader):
    """Gives a module of pygpu itself under a second name."""

    def __init__(self, target: str) -> None:
        self.target = target

    def exec_module(self, module: ModuleType) -> None:
        # The import system takes what lies here afterwards; thus the module keeps its own __spec__.
        sys.modules[module.__name__] = importlib.import_module(self.target)


class _ViewLoader(Loader):
    """Makes a module whose attributes are looked up in pygpu's."""

    def __init__(self, peer: Peer, module: str) -> None:
        self.peer, self.module = peer, module

    def create_module(self, spec: ModuleSpec) -> None:
        """Python's own: to a module of another type each look-up costs half a microsecond more."""

    def get_resource_reader(self, fullname: str) -> Any:
        return self._target().get_resource_reader(self.peer.target)

    def get_data(self, path: str) -> bytes:
        data: bytes = self._target().get_data(path)
        return data

    def _target(self) -> Any:
        """The loader of pygpu's package, which knows its data files."""
        target = self.peer.target
        spec = importlib.import_module(target).__spec__ if target and not self.module else None
        if spec is None:
            name = f"{self.peer.name}.{self.module}".rstrip(".")
            raise FileNotFoundError(f"{name} has no data files")
        return spec.loader

    def exec_module(self, module: ModuleType) -> None:
        peer, own = self.peer, self.module
        sources = [importlib.import_module(name) for name in peer.elsewhere[own]]
        names = _Names(module, peer, own, sources)
        module.__dict__.update(__getattr__=names.get, __dir__=names.all)
        if sources:
            module.__doc__ = sources[0].__doc__
            module.__file__ = getattr(sources[0], "__file__", None)
        for (where, name), value in peer.values.items():
            if where == own:
                setattr(module, name, value)
        for (where, name), (target, attribute) in peer.renamed.items():
            if where == own:
                setattr(module, name, getattr(importlib.import_module(target), attribute))
        exported = getattr(sources[0], "__all__", None) if sources else None
        if exported is not None:
            module.__dict__["__all__"] = list(exported)


class _Names:
    """Where the attributes of a module come from that it has not yet."""

    def __init__(self, module: ModuleType, peer: Peer, own: str, sources: list[Any]) -> None:
        self.module, self.peer, self.own, self.sources = module, peer, own, sources

    def get(self, name: str) -> Any:
        """The module's __getattr__."""
        module, peer, own = self.module, self.peer, self.own
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        for source in self.sources:
            try:
                value = getattr(source, name)
            except AttributeError:
                continue
            if not isinstance(value, ModuleType):
                setattr(module, name, value)  # the next look-up is a plain one
                return value
            known = value.__name__.removeprefix(f"{peer.target}.")
            if value.__name__ in peer.same.values():
                return value
            if known in peer.modules:  # array.vec is cltypes
                return importlib.import_module(f"{peer.name}.{known}")
        known = f"{own}.{name}" if own else name
        if (
            known in peer.elsewhere
            or known in peer.same
            or (peer.target and not own and _exists(f"{peer.target}.{name}"))
        ):
            return importlib.import_module(f"{peer.name}.{known}")
        raise AttributeError(f"module {module.__name__!r}, which is pygpu here, has no {name!r}")

    def all(self) -> list[str]:
        """The module's __dir__."""
        return sorted({*self.module.__dict__, *(n for source in self.sources for n in dir(source))})


class _Metadata(Distribution):
    """Name and version of the package that pygpu stands in for."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    def read_text(self, filename: str) -> str | None:
        if filename == "METADATA":
            peer = self.peer
            return f"Metadata-Version: 2.1\nName: {peer.name}\nVersion: {peer.version_text}\n"
        return None

    def locate_file(self, path: Any) -> Any:
        raise FileNotFoundError(f"{self.peer.name} is pygpu here and has no file {path}")


def _exists(name: str) -> bool:
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its package does not exist
        return False


def _package_path(peer: Peer) -> list[str]:
    """For programs that look for the package's data files, such as the headers in cl/."""
    return list(importlib.import_module(peer.target).__path__) if peer.target else []
