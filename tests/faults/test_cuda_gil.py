"""While a stream is to call a Python function, no driver call that may wait keeps the GIL from it.

The driver's queue has an end, and who queues more waits; so may other threads that call the driver
then. If they keep the GIL, the function that the queue waits for never gets it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pygpu.cuda.driver as cuda

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from supervise import environment  # noqa: E402

NEVER_WAIT = {
    **dict.fromkeys(
        ("cuCtxGetCurrent", "cuCtxSetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent"),
        "the thread's own stack",
    ),
    **dict.fromkeys(("cuCtxGetDevice", "cuCtxGetApiVersion"), "what a context is made with"),
    "cuThreadExchangeStreamCaptureMode": "the thread's own",
    "cuOccupancyMaxPotentialBlockSize": "may call Python itself",
}


def never_waits(function: str) -> bool:
    """Constants of a device, and what is the calling thread's own, wait for nothing."""
    return function in NEVER_WAIT or re.match("cuDevice(?!PrimaryCtx)|nvrtc", function) is not None


def test_no_call_that_may_wait_keeps_the_gil() -> None:
    try:
        cuda.init()
    except cuda.Error as error:
        if sys.platform.startswith("linux"):
            raise  # the simulator is built there: that it does not load is a defect
        pytest.skip(f"no CUDA driver, and no simulator: {str(error).splitlines()[0]}")
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "cuda_gil_worker.py")],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment() | {"PYGPU_SIM_DEVICES": "2"},
    )
    assert ended.returncode == 0, ended.stderr
    held = json.loads(ended.stdout)
    assert "cuMemcpyDtoDAsync" in held.pop("without a function"), "the hook does not see the GIL"
    assert "cuCtxGetCurrent" in held
    keeps = {function: names for function, names in held.items() if not never_waits(function)}
    assert not keeps, keeps
