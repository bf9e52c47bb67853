"""Switching a profiler on and off."""

import pytest

from pygpu import _cuda
from pygpu.cuda import driver


def test_start_and_stop(context):
    driver.start_profiler()
    driver.stop_profiler()


def test_files_are_gone(context):
    with pytest.raises(driver.LogicError, match="run the program under 'nsys profile'"):
        driver.initialize_profiler("config", "output", driver.profiler_output_mode.CSV)
    with pytest.raises(TypeError):
        driver.initialize_profiler("config")


@pytest.mark.parametrize("routine", ["cuProfilerStart", "cuProfilerStop"])
def test_faults(context, routine):
    _cuda._fault(routine, 8)
    try:
        with pytest.raises(driver.LogicError, match=f"{routine} failed"):
            driver.start_profiler() if routine.endswith("Start") else driver.stop_profiler()
    finally:
        _cuda._fault(None, 0)
