"""A small model trained on all GPUs at once: each has a part of the data, NCCL adds the gradients.

One process for all of them. Needs pip install ".[nccl]"; without it, or with a single device,
the same program runs on that device alone.
"""

import numpy as np

import pygpu.xp as xp

HIDDEN, STEPS, RATE = 24, 150, 0.5
SHAPES = {"w1": (3, HIDDEN), "w2": (HIDDEN, 1)}


def open_nccl():
    """The devices to use, a communicator for each, and why there is only one."""
    alone = [xp.default_device()]
    found = xp.__array_namespace_info__().devices()
    gpus = [device for device in found if device.kind == "cuda"]
    if len(gpus) < 2:
        return alone, [], "there are not two GPUs"
    try:
        from nccl import core

        return gpus, core.Communicator.init_all(len(gpus)), ""
    except Exception as error:  # no nccl4py, no NCCL, or GPUs that it does not drive
        return alone, [], f"without NCCL: {type(error).__name__}"


def add_gradients(comms, gradients):
    """Puts the sum of all GPUs' gradients in the place of each."""
    from nccl import core

    with core.group():  # one call for all: each alone would wait for the others
        for comm, gradient in zip(comms, gradients):
            comm.allreduce(gradient, gradient, core.SUM)


def gradient_of(parameters, x, y, count):
    """The loss's derivatives by all parameters, as one array: a two-layer network for classes."""
    w1, w2 = parameters
    hidden = xp.tanh(x @ w1)
    error = (1 / (1 + xp.exp(-(hidden @ w2))) - y) / count
    by_w2 = hidden.T @ error
    by_w1 = x.T @ ((error @ w2.T) * (1 - hidden * hidden))
    return xp.concat([by_w1.ravel(), by_w2.ravel()])


# Two classes: inside a ring, and outside of it. The column of ones is the constant term.
rng = np.random.default_rng(5)
points = rng.uniform(-1.5, 1.5, (1200, 2)).astype(np.float32)
classes = (np.hypot(*points.T) < 1).astype(np.float32)[:, None]
inputs = np.concatenate([3 * points, np.ones((len(points), 1), np.float32)], axis=1)
start = [rng.normal(size=shape).astype(np.float32) for shape in SHAPES.values()]

devices, comms, reason = open_nccl()
parts, copies = [], []
for number, device in enumerate(devices):
    mine = slice(number, None, len(devices))
    parts.append([xp.asarray(part[mine], device=device) for part in (inputs, classes)])
    copies.append([xp.asarray(w, device=device) for w in start])
for _ in range(STEPS):
    gradients = [gradient_of(w, *part, 300) for w, part in zip(copies, parts)]
    if comms:
        add_gradients(comms, gradients)
    for parameters, gradient in zip(copies, gradients):
        parameters[0] -= RATE * gradient[: 3 * HIDDEN].reshape(3, HIDDEN)
        parameters[1] -= RATE * gradient[3 * HIDDEN :].reshape(HIDDEN, 1)

w1, w2 = (w.get() for w in copies[0])
right = float(((np.tanh(inputs @ w1) @ w2 > 0) == (classes > 0)).mean())
print(
    f"{right:.1%} right, trained on", ", ".join(map(str, devices)), f"({reason})" if reason else ""
)
assert right > 0.9
for other in copies[1:]:  # all have taken the same steps
    assert all((a.get() == b.get()).all() for a, b in zip(other, copies[0]))
for comm in comms:
    comm.destroy()
