"""Runs scikit-learn's own tests of the array API on device arrays.

    pip install scikit-learn pytest
    PYGPU_DEVICE=opencl python tools/sklearn_suite.py [metrics preprocessing/tests/test_data.py ...]
        [-- options of pytest]

Those tests are parametrized by namespaces; here the only one is pygpu.xp, in float64 and float32.
Where arrays of two libraries are mixed, NumPy's are the other. A call that NumPy computes on the
host is an error, as is each implicit copy to the host. Without paths it runs the files that have
such tests: some 1000 of them, a quarter of an hour on CPUs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMESPACE = "pygpu.xp"
WARNING = "error:.*is computed by NumPy on the host"


class Plugin:
    """Offers pygpu.xp to the tests before they are collected."""

    def pytest_configure(self, config: Any) -> None:
        import sklearn.utils._array_api as api

        plain = api._convert_to_numpy

        def namespaces(include_numpy_namespaces: bool = True) -> Iterator[str]:
            yield NAMESPACE

        def combinations(include_numpy_namespaces: bool = True) -> Iterator[Any]:
            yield NAMESPACE, None, "float64"
            yield NAMESPACE, None, "float32"

        def mixed() -> Iterator[Any]:
            ours, host = (api.NamespaceAndDevice(name, None) for name in (NAMESPACE, "numpy"))
            yield ours, host, f"{NAMESPACE} to numpy"
            yield host, ours, f"numpy to {NAMESPACE}"

        def to_numpy(array: Any, xp: Any) -> Any:
            return array.get() if xp.__name__ == NAMESPACE else plain(array, xp)

        api.yield_namespaces = namespaces
        api.yield_namespace_device_dtype_combinations = combinations
        api.yield_mixed_namespace_input_permutations = mixed
        api._convert_to_numpy = to_numpy


def main() -> int:
    os.environ["SCIPY_ARRAY_API"] = "1"  # read when SciPy is imported
    import pytest
    import sklearn

    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    folder = Path(sklearn.__file__).parent
    paths = [folder / word for word in given[:end]]
    if not paths:
        files = sorted(folder.rglob("test_*.py"))
        paths = [p for p in files if "yield_namespace" in p.read_text("utf-8")]
    arguments = ["-q", "-p", "no:cacheprovider", "-k", NAMESPACE, "-W", WARNING]
    return int(pytest.main([*arguments, *map(str, paths), *given[end + 1 :]], plugins=[Plugin()]))


if __name__ == "__main__":
    sys.exit(main())
