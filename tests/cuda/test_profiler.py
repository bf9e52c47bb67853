"""Switching a profiler on and off."""

import pytest

from pygpu import _cuda
from pygpu.cuda import driver as cuda


def test_start_and_stop(context):
    cuda.start_profiler()
    cuda.stop_profiler()


def test_files_are_gone(context):
    with pytest.raises(cuda.LogicError, match="run the program under 'nsys profile'"):
        cuda.initialize_profiler("config", "output", cuda.profiler_output_mode.CSV)
    with pytest.raises(TypeError):
        cuda.initialize_profiler("config")


@pytest.mark.parametrize("routine", ["cuProfilerStart", "cuProfilerStop"])
def test_faults(context, routine):
    _cuda._fault(routine, 8)
    try:
        with pytest.raises(cuda.LogicError, match=f"{routine} failed"):
            cuda.start_profiler() if routine.endswith("Start") else cuda.stop_profiler()
    finally:
        _cuda._fault(None, 0)
