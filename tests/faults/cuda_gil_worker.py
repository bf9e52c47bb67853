"""Which driver calls are made with the GIL held while a stream may be about to call Python.

Writes JSON: {function: [scenarios that made it so]}."""

from __future__ import annotations

import json
import sys

from cuda_scenarios import SCENARIOS, Base

import pygpu.cuda.driver as cuda
from pygpu import _cuda


def main() -> None:
    base = Base()
    for run in SCENARIOS.values():  # what is made once, and launched first
        run(base)
    stream = cuda.Stream()
    stream.begin_capture()
    cuda.launch_host_func(stream, print)
    graph = stream.end_capture()  # may call it at any time, as long as there is the graph
    held: dict[str, list[str]] = {}
    for name, run in SCENARIOS.items():
        _cuda._call_counts(reset=True, held=True)
        run(base)
        for function in _cuda._call_counts(reset=True, held=True):
            held.setdefault(function, []).append(name)
    del graph
    _cuda._call_counts(reset=True, held=True)
    SCENARIOS["asynchronous"](base)
    held["without a function"] = list(_cuda._call_counts(reset=True, held=True))
    json.dump(held, sys.stdout)


if __name__ == "__main__":
    main()
