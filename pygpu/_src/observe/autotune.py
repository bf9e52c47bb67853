"""``@pygpu.autotune``: finds the fastest of several configurations by trying them.

Results are cached in the process, and on disk by the rules of the cache of binaries
(docs/guide/cache.md). Their key has everything that they depend on: the function's source, the
configurations, the key arguments, the device and its driver.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import math
import threading
import time
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import update_wrapper
from pathlib import Path
from typing import Any

import numpy as np

from pygpu import _cuda
from pygpu._array import GPUArray
from pygpu._src.jit.decorators.kernel import Kernel
from pygpu._src.runtime import disk_cache
from pygpu._src.runtime.backend import Backend
from pygpu._src.util import log
from pygpu._src.util.frozen import Frozen
from pygpu._src.util.public import publish
from pygpu._src.util.sequences import as_list
from pygpu._src.util.wording import counted

from . import text
from .benchmark import _measure, _wait
from .saved import Saved
from .work import Work, current_work, find_work, surroundings

_FORMAT = "autotune 1"
_LEAST, _MOST = 3, 50  # the least and most timed calls of a configuration
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_LAUNCH = ("block", "grid", "shared")  # what a kernel's configuration may set besides arguments

Config = dict[str, Any]


class Tuned(Frozen):
    """The results of the trials for one key.

    config: the fastest one. times: seconds of a call with each configuration, in order; nan for
    one that failed. from_disk: whether they were read from the cache.
    """

    config: Config
    times: tuple[float, ...]
    from_disk: bool = False


def _names(what: str, given: str | Sequence[str]) -> tuple[str, ...]:
    names = [given] if isinstance(given, str) else as_list(given, "autotune", what)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"autotune: {what} must contain names, not {name!r}")
    return tuple(names)


def _read_configs(configs: Any) -> list[Config]:
    if isinstance(configs, Mapping):  # all combinations
        for name, values in configs.items():
            if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
                raise TypeError(
                    f"autotune: configs[{name!r}] must be the values to try, such as a list, not "
                    f"{type(values).__name__}"
                )
        names = list(configs)
        products = itertools.product(*(list(configs[name]) for name in names))
        made: list[Any] = [dict(zip(names, values)) for values in products]
    elif isinstance(configs, (str, bytes)) or not isinstance(configs, Iterable):
        raise TypeError(
            "autotune: configs must be a list of dicts, or a dict of lists, not "
            f"{type(configs).__name__}"
        )
    else:
        made = list(configs)
    if not made:
        raise ValueError("autotune: configs is empty; there is nothing to try")
    for i, config in enumerate(made):
        if not isinstance(config, Mapping) or not all(isinstance(k, str) for k in config):
            raise TypeError(f"autotune: configs[{i}] must be a dict by names, not {config!r}")
    return [dict(config) for config in made]


class Autotuned:
    """A function or kernel that runs with the fastest configuration for its arguments.

    results: the results so far, by key.
    """

    __name__: str
    __qualname__: str

    def __init__(
        self,
        function: Callable[..., Any],
        configs: list[Config],
        key: tuple[str, ...],
        restore: tuple[str, ...] | None,
        seconds: float,
        cache: bool,
    ) -> None:
        self.function = function
        self.configs = configs
        self.key = key
        self.results: dict[Any, Tuned] = {}
        self._restore = restore
        self._seconds = seconds
        self._cache = cache
        self._lock = threading.RLock()
        update_wrapper(self, function)
        plain = function.py_func if isinstance(function, Kernel) else function
        self._signature = inspect.signature(plain)
        self._names = list(self._signature.parameters)
        self._check_names()

    def _check_names(self) -> None:
        parameters = self._signature.parameters
        more = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        allowed = {*parameters, *(_LAUNCH if isinstance(self.function, Kernel) else ())}
        for what, names in (("key", self.key), ("restore", self._restore or ())):
            unknown = [name for name in names if name not in parameters]
            if unknown:
                raise ValueError(
                    f"autotune: {what} names {unknown[0]!r}, which is not a parameter of "
                    f"{self.__name__}{self._signature}"
                )
        for config in self.configs:
            unknown = [name for name in config if name not in allowed]
            if unknown and not more:
                raise ValueError(
                    f"autotune: a configuration sets {unknown[0]!r}, which is not a parameter of "
                    f"{self.__name__}{self._signature}"
                )
            if isinstance(self.function, Kernel) and "block" not in config:
                raise ValueError(
                    f"autotune: {config!r} does not set 'block', the threads of the kernel's blocks"
                )

    def __repr__(self) -> str:
        return f"<autotuned {self.__qualname__}: {counted(len(self.configs), 'configuration')}>"

    def __reduce__(self) -> str:
        return self.__qualname__  # as a function, by its name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(self.best(*args, **kwargs).config, args, kwargs)

    def forall(self, n: int, stream: Any = None) -> Callable[..., Any]:
        """For a kernel: return a callable that launches at least *n* threads in one dimension."""
        if not isinstance(self.function, Kernel):
            raise TypeError(f"{self.__name__}.forall: only kernels have this method")
        n = n.__index__()
        if n < 0:
            raise ValueError(f"{self.__name__}.forall: n must not be negative, not {n}")
        options = {} if stream is None else {"stream": stream}

        def launch(*args: Any) -> Any:
            return self(*args, grid=lambda config: max(-(-n // _threads(config)), 1), **options)

        return launch

    def best(self, *args: Any, **kwargs: Any) -> Tuned:
        """Return the result for these arguments, cached or by trials. Trials restore the contents
        of the arguments."""
        key = self._key_of(args, kwargs)
        cached = self.results.get(key)
        if cached is not None:
            return cached
        with self._lock:
            cached = self.results.get(key)
            if cached is None:
                cached = self.results[key] = self._find(key, args, kwargs)
        return cached

    # ---- calls

    def _run(self, config: Config, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not isinstance(self.function, Kernel):
            return self.function(*args, **kwargs, **config)
        options = dict(kwargs)
        options.update((k, v) for k, v in config.items() if k not in ("grid",))
        grid = config.get("grid", options.get("grid"))
        options["grid"] = grid(config) if callable(grid) else grid
        return self.function(*args, **options)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        if not kwargs and len(args) <= len(self._names):
            found = dict(zip(self._names, args))
            if all(name in found for name in self.key):
                return found
        own = {k: v for k, v in kwargs.items() if k in self._signature.parameters}
        bound = self._signature.bind_partial(*args, **own)
        bound.apply_defaults()
        return bound.arguments

    def _key_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        found: list[Any] = []
        backend: Any = None
        for arg in (*args, *kwargs.values()) if kwargs else args:
            if isinstance(arg, GPUArray):
                found.append((arg.dtype.str, arg.ndim))
                backend = backend or arg.backend
            elif isinstance(arg, np.ndarray):
                found.append((arg.dtype.str, arg.ndim))
            else:
                found.append(type(arg).__name__)
        if self.key:
            bound = self._bound(args, kwargs)
            found += [self._plain(name, bound.get(name)) for name in self.key]
        return (None if backend is None else backend.label), tuple(found)

    def _plain(self, name: str, value: Any) -> Any:
        """Return a value in the form for keys."""
        if isinstance(value, (GPUArray, np.ndarray)):
            return tuple(value.shape)
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, (tuple, list)):
            return tuple(self._plain(name, item) for item in value)
        if isinstance(value, np.dtype):
            return value.str
        if not isinstance(value, _PLAIN):
            raise TypeError(
                f"{self.__name__}: key names {name!r}, and a {type(value).__name__} cannot be part "
                "of a key; numbers, strings, tuples and arrays (for their shape) can"
            )
        return value

    # ---- trials

    def _find(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tuned:
        around = () if isinstance(self.function, Kernel) else surroundings(self.function)
        used = find_work(args, kwargs, around)
        works = used or current_work()
        store, name = self._entry(key, works)
        stored = None if store is None else self._read(store.read(name))
        if stored is not None:
            log.log("autotune", log.DEBUG, "%s: %s, from disk", self.__name__, stored.config)
            return stored
        names = self._restore
        values = (*args, *kwargs.values())
        if names is not None:
            bound = self._bound(args, kwargs)
            values = tuple(bound[name] for name in names if name in bound)
        saved = Saved(values, works)
        begin = time.perf_counter()
        times: list[float] = []
        errors: list[tuple[Config, Exception]] = []
        for config in self.configs:
            try:
                times.append(self._time(config, args, kwargs, works, bool(used)))
            except Exception as error:
                times.append(math.nan)
                errors.append((config, error))
                log.log("autotune", log.INFO, "%s: %s failed: %s", self.__name__, config, error)
            finally:
                saved.restore()
        if len(errors) == len(times):
            raise self._failure(errors)
        best = int(np.nanargmin(times))
        found = Tuned(self.configs[best], tuple(times))
        log.log(
            "autotune",
            log.INFO,
            "%s: %s is the fastest of %d configurations, %s; the trials took %s",
            self.__name__,
            found.config,
            len(times),
            text.seconds(times[best]),
            text.seconds(time.perf_counter() - begin),
        )
        if store is not None and not errors:
            # Failed configurations may be tried again another time.
            facts = {"autotune": _FORMAT, "best": best, "times": times}
            store.write(name, b"", facts)
        return found

    def _time(
        self,
        config: Config,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        works: list[Work],
        on_device: bool,
    ) -> float:
        """Return the seconds of a call: by the device's clock if *on_device* and it has one. A
        call that only may use the device is timed by the host, which sees all of it."""

        def call() -> Any:
            return self._run(config, args, kwargs)

        result = call()  # the first call compiles
        works = works or find_work(result)
        _wait(works)
        start = time.perf_counter()
        call()
        _wait(works)
        one = time.perf_counter() - start
        count = min(max(int(self._seconds / max(one, 1e-9)), _LEAST), _MOST)
        _, total, device = _measure(call, works, count, math.inf)
        return float(np.median(device if on_device and device is not None else total))

    def _failure(self, errors: list[tuple[Config, Exception]]) -> Exception:
        first = errors[0][1]
        what = f"autotune: none of the {len(errors)} configurations of {self.__name__} works"
        if all(type(e) is type(first) and str(e) == str(first) for _, e in errors):
            first.add_note(f"{what}, all for this reason")
            return first
        lines = [f"  {config}: {type(error).__name__}: {error}" for config, error in errors]
        failure = RuntimeError("\n".join([what, *lines]))
        failure.__cause__ = first
        return failure

    # ---- on disk

    def _entry(self, key: Any, works: list[Work]) -> tuple[disk_cache.Entries | None, str]:
        """Return the cache (or None) and the entry's name."""
        folder = _folder()
        if not self._cache or folder is None or len(works) != 1:
            return None, ""
        source = _source_of(self.function)
        if source is None:
            return None, ""
        parts = (
            _FORMAT,
            f"{self.function.__module__}.{self.__qualname__}",
            source,
            self.configs,
            key[1],
            _identity(works[0][0]),
            disk_cache._surroundings(),
        )
        digest = hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape"))
        return disk_cache.Entries(folder), digest.hexdigest()

    def _read(self, entry: tuple[bytes, dict[str, Any]] | None) -> Tuned | None:
        if entry is None:
            return None
        try:
            facts = entry[1]
            times = tuple(map(float, facts["times"]))
            if facts["autotune"] == _FORMAT and len(times) == len(self.configs):
                return Tuned(self.configs[range(len(times))[facts["best"]]], times, True)
        except (KeyError, TypeError, ValueError, IndexError):
            pass
        return None


def _threads(config: Config) -> int:
    block = config["block"]
    return int(math.prod(block) if isinstance(block, (tuple, list)) else block)


def _folder() -> Path | None:
    """Return the cache's folder, or None."""
    return None if disk_cache._switched_off() else disk_cache.default_folder()


def _source_of(function: Any) -> str | None:
    """Return the source of the function and of the program's kernels and functions that it names;
    None if it is unknown."""
    found: list[Any] = [inspect.unwrap(function)]
    for one in () if isinstance(function, Kernel) else surroundings(function):
        plain = inspect.unwrap(one) if callable(one) and not isinstance(one, type) else None
        if isinstance(plain, types.FunctionType) and plain not in found:
            if plain.__module__.partition(".")[0] not in ("pygpu", "numpy"):
                found.append(plain)
    try:
        return "\0".join(map(inspect.getsource, found))
    except (OSError, TypeError):
        return None


def _identity(backend: Backend) -> Any:
    if backend.name == "opencl":
        return disk_cache._identity(backend.device)
    device = backend.device
    return device.name(), device.compute_capability(), _cuda.get_driver_version()


def autotune(
    configs: Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]],
    *,
    key: str | Sequence[str] = (),
    restore: str | Sequence[str] | None = None,
    seconds: float = 0.05,
    cache: bool = True,
) -> Callable[[Callable[..., Any]], Autotuned]:
    """Decorate a function so that it is called with the fastest of several configurations.

    configs: dicts of keyword arguments, or a dict of lists for all combinations. For a
    :func:`pygpu.kernel`, "block" is the size of its blocks, "grid" and "shared" are as in a
    launch, and other names are parameters of the kernel. The first call for each kind of arguments
    tries all configurations, and restores the contents of the arguments. key: names of parameters
    whose values (for arrays, shapes) distinguish kinds, in addition to the types of all. restore:
    names of the parameters that the function writes to; None means all arrays. seconds: time for
    measuring a configuration. cache: whether results are kept on disk. Raises ValueError and
    TypeError for wrong arguments; a call raises a configuration's exception only if all fail.
    """
    found = _read_configs(configs)
    keys = _names("key", key)
    names = None if restore is None else _names("restore", restore)
    if not isinstance(seconds, (int, float)) or not 0 < seconds < math.inf:
        raise ValueError(f"autotune: seconds must be a positive number, not {seconds!r}")

    def decorate(function: Callable[..., Any]) -> Autotuned:
        if not callable(function):
            raise TypeError(f"autotune: pass a function or kernel, not {type(function).__name__}")
        return Autotuned(function, found, keys, names, float(seconds), bool(cache))

    return decorate


publish(globals(), ["autotune"], "pygpu")
publish(globals(), ["Autotuned", "Tuned"], "pygpu.profiling")
