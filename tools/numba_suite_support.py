"""Support modules of the test suites of numba-cuda and Numba, for tools/numba_suite.py: the names
that tests import from ``numba.cuda.testing``, ``numba.tests.support`` etc., written anew,
and stand-ins for modules of the compiler, whose use skips the test."""

from __future__ import annotations

import contextlib
import io
import math
import os
import subprocess
import sys
import tempfile
import types
import unittest
import warnings
from collections.abc import Callable, Iterator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

import numpy as np

STAND_INS = (
    "numba.cuda.cgutils numba.cuda.codegen numba.cuda.compiler numba.cuda.core.ir "
    "numba.cuda.core.untyped_passes numba.cuda.core.pythonapi numba.cuda.cudaimpl "
    "numba.cuda.datamodel numba.cuda.datamodel.models numba.cuda.descriptor "
    "numba.cuda.deviceufunc numba.cuda.extending numba.cuda.flags numba.cuda.launchconfig "
    "numba.cuda.libdevicefuncs numba.cuda.memory_management numba.cuda.memory_management.nrt "
    "numba.cuda.typing.cffi_utils numba.cuda.typing.templates numba.cuda.typeconv "
    "numba.cuda.simulator numba.cuda.utils numba.cuda.cudadrv.nvrtc numba.cuda.cudadrv.libs "
    "numba.cuda.cudadrv.linkable_code numba.core.extending numba.extending llvmlite "
    "numba.cuda.dispatcher numba.cuda.core.rewrites"
).split()


BUILDERS = (
    "numba.np.ufunc numba.np.ufunc.dufunc numba.np.ufunc.ufuncbuilder numba.np.ufunc.gufunc"
).split()


class Unknown:
    """A name of the compiler: using it skips the test."""

    def __init__(self, name: str, *more: Any) -> None:  # also as the base of a class
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._name.startswith("numba.cuda.extending.") or "lower" in self._name:
            return lambda function: function  # decorators of the module's own functions
        raise unittest.SkipTest(f"left out: {self._name} is the compiler's")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown(f"{self._name}.{name}")


class Finder(MetaPathFinder, Loader):
    """Finds the suite's packages, its support modules and the stand-ins."""

    def __init__(self, tests: Path, package: str) -> None:
        self.tests, self.package = tests, package

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        package = self.package
        supports = "numba.cuda.testing", "numba.testing", f"{package}.support"
        own = fullname in (*supports, *BUILDERS, *STAND_INS)
        if fullname.partition(".")[0] == "cuda":  # NVIDIA's bindings, which CuPy may need
            own = own or PathFinder.find_spec(fullname, path) is None
        folder = self.tests.joinpath(*fullname.removeprefix(package).split("."))
        is_package = fullname.startswith(package) and folder.is_dir()
        if not own and not is_package:
            return None
        spec = ModuleSpec(fullname, self, is_package=is_package or own)
        if is_package:
            spec.submodule_search_locations = [str(folder)]
        return spec

    def exec_module(self, module: types.ModuleType) -> None:
        name = module.__name__
        if name == "numba.cuda.utils":
            module.__dict__["PYVERSION"] = sys.version_info[:2]
        if name in STAND_INS or name.partition(".")[0] == "cuda":

            def get(attribute: str) -> Any:
                if attribute.startswith("__"):
                    raise AttributeError(attribute)
                return Unknown(f"{name}.{attribute}")

            module.__dict__["__getattr__"] = get
        elif name.endswith((".testing", ".support")):
            module.__dict__.update(SUPPORT, test_data_dir=self.tests / "data")
        elif name in BUILDERS:
            module.__dict__.update(BUILDING)
        elif name == self.package:
            module.__dict__["load_testsuite"] = lambda loader, folder: unittest.TestSuite()


def install(tests: Path, package: str) -> None:
    """Make imports of Numba find pygpu, and those of the suite what is above."""
    from pygpu import compat

    compat.install("numba")
    sys.meta_path.insert(0, Finder(tests, package))


# ---- what tests use


class TestCase(unittest.TestCase):
    longMessage = True

    @property
    def random(self) -> np.random.RandomState:
        return np.random.RandomState(42)

    def assertPreciseEqual(
        self, first: Any, second: Any, prec: str = "exact", ulps: int = 1, msg: Any = None, **_: Any
    ) -> None:
        """Equal, of the same kind; NaNs are equal; prec: "exact", "single" or "double"."""
        if isinstance(first, (tuple, list)):
            self.assertEqual(len(first), len(second), msg)
            for one, other in zip(first, second):
                self.assertPreciseEqual(one, other, prec, ulps, msg)
            return
        a, b = np.asarray(first), np.asarray(second)
        self.assertEqual(a.shape, b.shape, msg)
        if a.dtype.kind not in "fc" or prec == "exact":
            np.testing.assert_array_equal(a, b, str(msg or ""))
            return
        eps = 2.0 ** (-23 if prec == "single" else -52)
        is_complex = "c" in (a.dtype.kind, b.dtype.kind)
        if is_complex and not a.ndim and np.isnan(a) and np.isnan(b):
            return  # one part is NaN: the sign of the other, or whether it is NaN, is not specified
        if is_complex and not (np.isfinite(a) & np.isfinite(b)).all():
            a, b = np.stack([a.real, a.imag]), np.stack([b.real, b.imag])
        np.testing.assert_allclose(a, b, rtol=eps * ulps, equal_nan=True)

    @contextlib.contextmanager
    def assertTypingError(self) -> Iterator[Any]:
        from numba.core.errors import TypingError

        with self.assertRaises(TypingError) as caught:
            yield caught

    def disable_leak_check(self) -> None:
        pass

    def reset_module_warnings(self, module: Any) -> None:
        """Let the warnings of a module be given again."""
        found = sys.modules[module] if isinstance(module, str) else module
        vars(found).pop("__warningregistry__", None)

    def subprocess_test_runner(self, *args: Any, **kwargs: Any) -> None:
        raise unittest.SkipTest("left out: runs the suite's own runner")

    @staticmethod
    def run_test_in_subprocess(maybefunc: Any = None, **_: Any) -> Any:
        return maybefunc if callable(maybefunc) else lambda function: function


class CUDATestCase(TestCase):
    FLOAT16_RTOL = np.finfo(np.float16).eps

    def setUp(self) -> None:
        from numba.core import config

        self._settings = (config.CUDA_LOW_OCCUPANCY_WARNINGS, config.CUDA_WARN_ON_IMPLICIT_COPY)
        config.CUDA_LOW_OCCUPANCY_WARNINGS = config.CUDA_WARN_ON_IMPLICIT_COPY = 0

    def tearDown(self) -> None:
        from numba.core import config

        config.CUDA_LOW_OCCUPANCY_WARNINGS, config.CUDA_WARN_ON_IMPLICIT_COPY = self._settings

    def skip_for_text(self, *args: Any, **kwargs: Any) -> None:
        raise unittest.SkipTest("left out: the text of PTX or LLVM")

    assertFileCheckAsm = assertFileCheckLLVM = assertFileCheckMatches = skip_for_text


class CheckWarningsMixin:
    @contextlib.contextmanager
    def check_warnings(self, messages: list[str], category: Any = RuntimeWarning) -> Iterator[None]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        found = [str(w.message) for w in caught if issubclass(w.category, category)]
        missing = [m for m in messages if not any(m in text for text in found)]
        assert not missing, f"no warning {missing} in {found}"


class Builder:
    """What Numba makes ufuncs with, out of the decorators: signatures are added one by one."""

    objectmode = False

    def __init__(
        self,
        function: Any,
        *layout: Any,
        target: str = "cpu",
        targetoptions: Any = None,
        is_dynamic: bool = False,
        **options: Any,
    ) -> None:
        if (targetoptions or {}).get("forceobj"):
            raise unittest.SkipTest("left out: functions that run as Python on the host")
        self.function, self.layout = function, layout
        self.options = {"target": target, **options}
        self.signatures: list[Any] = []
        self._dynamic: Any = None

    def add(self, signature: Any) -> Builder:
        self.signatures.append(signature)
        return self

    def build_ufunc(self) -> Any:
        import numba

        decorate = numba.guvectorize if self.layout else numba.vectorize
        args = ([*self.signatures], *self.layout) if self.signatures else self.layout
        return decorate(*args, **self.options)(self.function)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._built()(*args, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name.startswith("_repr"):
            raise AttributeError(name)
        return getattr(self._built(), name)

    def _built(self) -> Any:
        if self._dynamic is None:
            self._dynamic = self.build_ufunc()
        return self._dynamic


BUILDING: dict[str, Any] = {
    "DUFunc": Builder, "Vectorize": Builder, "GUVectorize": Builder, "GUFuncBuilder": Builder,
    "GUFunc": Builder, "UFuncBuilder": Builder, "PyUFunc_One": 1, "PyUFunc_Zero": 0,
    "PyUFunc_None": None, "PyUFunc_ReorderableNone": "reorderable",
}  # fmt: skip


class Nothing:
    """Numba's reference counts are not there to be looked at."""


class ForeignArray:
    """An array of which only __cuda_array_interface__ is visible."""

    def __init__(self, array: Any) -> None:
        self._arr = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


@contextlib.contextmanager
def override_config(name: str, value: Any) -> Iterator[None]:
    from numba.core import config

    before = getattr(config, name)
    setattr(config, name, value)
    try:
        yield
    finally:
        setattr(config, name, before)


@contextlib.contextmanager
def override_env_config(name: str, value: str) -> Iterator[None]:
    with override_config(name.removeprefix("NUMBA_"), value):
        yield


@contextlib.contextmanager
def captured(stream: str) -> Iterator[io.StringIO]:
    before = getattr(sys, stream)
    found = io.StringIO()
    setattr(sys, stream, found)
    try:
        yield found
    finally:
        setattr(sys, stream, before)


def run_in_subprocess(code: str, flags: Any = (), env: Any = None, timeout: float = 60) -> Any:
    command = [sys.executable, *flags, "-m", "pygpu.compat", "-c", code]
    done = subprocess.run(command, capture_output=True, env=env, timeout=timeout)
    if done.returncode:
        text = done.stderr.decode(errors="replace")
        raise AssertionError(f"process failed with {done.returncode}:\n{text}")
    return done.stdout, done.stderr


@contextlib.contextmanager
def ignore_internal_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def skip_always(why: str) -> Callable[..., Any]:
    def marked(reason: Any = why) -> Any:
        return unittest.skip(why)(reason) if callable(reason) else unittest.skip(str(reason))

    return marked


def never(reason: Any = None) -> Any:
    """A decorator, or one that takes a reason, that skips nothing."""
    return reason if callable(reason) else lambda thing: thing


def capability() -> tuple[int, int]:
    from pygpu import cuda

    found: tuple[int, int] = cuda.get_current_device().compute_capability
    return found


def cc_X_or_above(major: int, minor: int) -> bool:
    return capability() >= (major, minor)


def unless(major: int, minor: int) -> Callable[[Any], Any]:
    return lambda thing: unittest.skipUnless(
        cc_X_or_above(major, minor), f"needs compute capability {major}.{minor}"
    )(thing)


def temp_directory(prefix: str) -> str:
    return tempfile.mkdtemp(prefix=prefix)


def xfail_unless_cudasim(thing: Any) -> Any:
    return unittest.expectedFailure(thing)


SUPPORT: dict[str, Any] = {
    "unittest": unittest, "TestCase": TestCase, "CUDATestCase": CUDATestCase,
    "CheckWarningsMixin": CheckWarningsMixin, "ForeignArray": ForeignArray,
    "MemoryLeak": Nothing, "MemoryLeakMixin": Nothing, "EnableNRTStatsMixin": Nothing,
    "IS_NUMPY_2": np.lib.NumpyVersion(np.__version__) >= "2.0.0",
    "cc_X_or_above": cc_X_or_above, "temp_directory": temp_directory,
    "override_config": override_config, "override_env_config": override_env_config,
    "captured_stdout": lambda: captured("stdout"), "captured_stderr": lambda: captured("stderr"),
    "run_in_subprocess": run_in_subprocess, "ignore_internal_warnings": ignore_internal_warnings,
    "import_dynamic": lambda name: __import__(name, fromlist=["x"]),
    "linux_only": unittest.skipUnless(sys.platform.startswith("linux"), "Linux only"),
    "windows_only": unittest.skipUnless(os.name == "nt", "Windows only"),
    "xfail_unless_cudasim": xfail_unless_cudasim, "expected_failure_py314": never,
    "skip_unless_cudasim": skip_always("Numba's own simulator"),
    "skip_if_nvjitlink_missing": skip_always("nvJitLink"),
    "skip_unless_conda_cudatoolkit": skip_always("conda's toolkit"),
    "skip_without_nvdisasm": skip_always("nvdisasm"),
    "skip_if_curand_kernel_missing": skip_always("cuRAND's headers"),
    "skip_unless_typeguard": skip_always("typeguard"),
    "skip_unless_cffi": unittest.skipUnless(
        "cffi" in sys.modules or __import__("importlib.util").util.find_spec("cffi"), "cffi"
    ),
    **{
        name: never
        for name in (
            "skip_on_cudasim skip_on_standalone_numba_cuda skip_if_external_memmgr skip_on_arm "
            "skip_under_cuda_memcheck skip_with_nvdisasm skip_on_wsl2 skip_if_py314 "
            "skip_if_cudadevrt_missing skip_if_cuda_includes_missing skip_if_typeguard "
            "skip_on_nvjitlink_13_1_sm_120 skip_if_numpy_2"
        ).split()
    },
    **{
        f"skip_unless_cc_{major}{minor}": unless(major, minor)
        for major, minor in ((5, 0), (5, 3), (6, 0), (7, 5), (9, 0))
    },
    "math": math, "tag": lambda *names: never, "load_testsuite": None,
    "skip_macos_fenv_errors": never, "skip_parfors_unsupported": never,
    "skip_if_freethreading": never, "skip_if_32bit": never,
}  # fmt: skip
