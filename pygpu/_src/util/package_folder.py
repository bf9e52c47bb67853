"""The folders that programs and compilers find by path: pygpu/cl, pygpu/cuda/include."""

from __future__ import annotations

from pathlib import Path

PACKAGE_FOLDER = Path(__file__).resolve().parents[2]
"""The folder of the package pygpu."""

OPENCL_HEADERS = str(PACKAGE_FOLDER / "cl")
"""The folder of headers for kernels."""
