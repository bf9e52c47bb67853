"""Times, profiles and reports on both backends; the fixtures are those of the arrays."""

import importlib.util
import sys
from pathlib import Path

# Several test folders have a conftest.py, so this one is loaded by its path.
_spec = importlib.util.spec_from_file_location(
    "array_conftest", Path(__file__).parent.parent / "array" / "conftest.py"
)
assert _spec is not None and _spec.loader is not None
_module = sys.modules.get("array_conftest")
if _module is None:
    _module = importlib.util.module_from_spec(_spec)
    sys.modules["array_conftest"] = _module
    _spec.loader.exec_module(_module)

Maker = _module.Maker
cuda_context = _module.cuda_context
make = _module.make
opencl_maker = _module.opencl_maker
