"""Records what a program gives to the device, and writes a trace and a picture of it.

Run: python examples/profile.py
"""

import json
import tempfile
from pathlib import Path

import numpy as np

import pygpu as cl
import pygpu.array

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
host = np.random.default_rng(3).random(1 << 20, np.float32)


def smooth(profile: cl.profiling.Profile) -> np.ndarray:
    with profile.range("to the device"):
        x = pygpu.array.to_device(queue, host)
    with profile.range("three rounds"):
        for _ in range(3):
            x = (x + 1) * 0.5
    return x.get()


profile = cl.profile()
smooth(profile)  # compiles; not recorded yet
with profile:
    result = smooth(profile)
assert np.allclose(result, host / 8 + 7 / 8)

print(profile)
kernels = [command for command in profile.commands if command.kind == "kernel"]
assert len(kernels) == 6 and all(command.seconds is not None for command in kernels)
with tempfile.TemporaryDirectory() as folder:
    profile.save(Path(folder, "trace.json"))
    profile.save(Path(folder, "profile.svg"))
    trace = json.loads(Path(folder, "trace.json").read_text())
    print(len(trace["traceEvents"]), "events for chrome://tracing or https://ui.perfetto.dev")
