"""The text and the signature of CUDA kernels."""

from __future__ import annotations

import inspect

import pytest

from pygpu.cuda import driver as cuda
from pygpu.cuda.compiler import SourceModule


@pytest.mark.usefixtures("context")
def test_functions_tell_their_parameters():
    source = "__global__ void f(const float *x, int block) {}"
    function = SourceModule(source).get_function("f")
    assert repr(function).startswith("<pygpu.cuda.Function 'f' (")
    assert "float *x, int block)" in repr(function)
    signature = inspect.signature(function)
    # Keywords keep their names; a parameter of such a name gets an underscore.
    assert list(signature.parameters)[:3] == ["x", "block_", "block"]
    assert signature.parameters["grid"].default == (1, 1)
    assert not hasattr(cuda.Function, "__signature__")
