"""The pytest plugin under the package's name, for ``-p pygpu.pytest_plugin``: see pygpu_pytest.

pytest itself finds it as ``pygpu_pytest``, which it can import without pygpu.
"""

from pygpu_pytest import ctx_factory, pygpu_queue, pytest_generate_tests

__all__ = ["ctx_factory", "pygpu_queue", "pytest_generate_tests"]
