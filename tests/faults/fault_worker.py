"""Fail every driver call of one scenario in turn.

fault_worker.py RESULTS SCENARIO [FROM ["count"]]

Writes JSON lines: what is about to be tried, and what was wrong with it. FROM skips that many
trials, so that a supervisor can go on behind one that crashed; "count" tries none, and tells only
which calls there are.
"""

from __future__ import annotations

import gc
import json
import re
import sys
import time
from typing import Any, TextIO

from scenarios import SCENARIOS, Base

import pygpu as cl

hooks: Any = cl._opencl
NTH = 4
"""Of many calls of one function in a scenario, the first NTH and the last fail; the others are
of the same kind."""
OUT_OF_MEMORY = (-4, -5, -6)
"""MEM_OBJECT_ALLOCATION_FAILURE (the one that is a MemoryError, as in PyOpenCL), ..._RESOURCES,
..._HOST_MEMORY."""
COMPILING = {"programs", "failing_builds", "compiled_and_linked", "cached_builds", "kernels"}
"""Scenarios of which each trial compiles: they have the first of these codes only."""
MEMORY_ERROR = -4
"""The code that is a MemoryError."""
INSIDE = (
    "clGetEventInfo",
    "clSetEventCallback",
    "clFlush",
    "clEnqueueMarkerWithWaitList",
    "clWaitForEvents",
    "clRetainEvent",
    "clGetDeviceInfo",
)
"""What waiting is made of: its error names the call that the program made (clFinish,
clEnqueueReadBuffer)."""


def handles() -> dict[str, int]:
    return {k: v for k, v in hooks._handle_counts().items() if v}


def settle(wanted: dict[str, int]) -> dict[str, int]:
    """Collect until the handles are back at *wanted*, or seconds have passed; other processes may
    want the processor too."""
    deadline = time.monotonic() + 20
    while True:
        gc.collect()
        now = handles()
        if now == wanted or time.monotonic() > deadline:
            return now
        time.sleep(0.005)


def trials(counts: dict[str, int], scenario: str) -> list[tuple[str, int, int, int]]:
    """(function, code, nth, times): -30 at each place; the out-of-memory codes once and for ever
    at the first."""
    found = []
    codes = OUT_OF_MEMORY[:1] if scenario in COMPILING else OUT_OF_MEMORY
    for name, count in counts.items():
        places = sorted({*range(1, min(NTH, count) + 1), count})
        found += [(name, -30, nth, 1) for nth in places]
        # Commands that wait for a user event can never run without clSetUserEventStatus; if it
        # fails once, they can.
        often = (1,) if name == "clSetUserEventStatus" else (1, 10**6)
        found += [(name, code, 1, times) for code in codes for times in often]
    return found


def attempt(
    base: Base, name: str, trial: tuple[str, int, int, int], baseline: dict[str, int]
) -> list[str]:
    """Run the scenario with one fault; return what was wrong."""
    function, code, nth, times = trial
    wrong: list[str] = []
    hooks._fault(function, code, nth, times)
    try:
        SCENARIOS[name](base)
    except cl.Error as error:
        said = f"{error} {getattr(error, 'routine', '')}"
        # A failing fault inside a retry or a build may surface as its consequence; the call must be
        # told then too.
        named = function in said or (function in INSIDE and re.search(r"\w+ failed", said))
        if not named and hooks._fault_hits():
            wrong.append(
                f"the message does not name the call: {type(error).__name__}: {str(error)[:200]}"
            )
        if isinstance(error, MemoryError) != (code == MEMORY_ERROR) and error.code == code:
            wrong.append(f"code {code} became a {type(error).__name__}")
    except AssertionError as error:
        wrong.append(f"silently wrong: {str(error)[:200]}")
    except BaseException as error:
        wrong.append(f"{type(error).__name__}: {str(error)[:300]}")
    finally:
        hooks._fault(None, 0)
    after = settle(baseline)
    if after != baseline:
        wrong.append(f"handles before {baseline}, after {after}")
    return wrong


def main() -> None:
    path, name = sys.argv[1:3]
    skipped = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    with open(path, "a") as stream:
        run(stream, name, skipped, count=sys.argv[4:] == ["count"])


def tell(stream: TextIO, **row: Any) -> None:
    stream.write(json.dumps(row) + "\n")
    stream.flush()


def again(base: Base, name: str, baseline: dict[str, int]) -> list[str]:
    """The scenario without a fault: right once more, and without a handle left."""
    try:
        SCENARIOS[name](base)
    except BaseException as error:
        return [f"unusable afterwards: {type(error).__name__}: {str(error)[:300]}"]
    after = settle(baseline)
    return [] if after == baseline else [f"no fault: handles before {baseline}, after {after}"]


def run(stream: TextIO, name: str, skipped: int, count: bool = False) -> None:
    tell(stream, step="start")
    base = Base()
    gc.collect()
    gc.freeze()  # a collection after each trial need not look at all modules again
    baseline = handles()
    SCENARIOS[name](base)
    problems = again(base, name, baseline)
    hooks._call_counts(reset=True)
    SCENARIOS[name](base)
    counts = hooks._call_counts(reset=True)
    tell(stream, step="counts", counts=counts, problems=problems)
    todo = [] if count else trials(counts, name)
    for number, trial in enumerate(todo[skipped:], skipped):
        tell(stream, step="try", number=number, trial=trial)
        wrong = attempt(base, name, trial, baseline)
        if wrong or number + 1 == len(todo) or todo[number + 1][0] != trial[0]:
            wrong += again(base, name, baseline)
        if wrong:
            baseline = handles()  # what is lost is lost, and told once
            tell(stream, step="wrong", number=number, trial=trial, wrong=wrong)
    tell(stream, step="done", tried=len(todo))


if __name__ == "__main__":
    main()
