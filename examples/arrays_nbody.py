"""Stars that attract each other: forces between all pairs as arrays of shape (n, n).

python arrays_nbody.py [--backend opencl|cuda]
"""

import sys

import numpy as np

import pygpu as cl

if sys.argv[1:] == ["--backend", "cuda"]:
    import pygpu.cuda.autoinit  # noqa: F401
    from pygpu.cuda.gpuarray import to_gpu as to_device
else:
    from pygpu.array import to_device as to_queue

    queue = cl.CommandQueue(cl.create_some_context(interactive=False))

    def to_device(host):
        return to_queue(queue, host)


N, STEPS, DT, SOFT = 256, 20, 0.005, 0.05

random = np.random.default_rng(7)
place = to_device(random.normal(size=(N, 3)).astype(np.float32))
speed = to_device(random.normal(scale=0.3, size=(N, 3)).astype(np.float32))
mass = to_device(random.uniform(0.5, 1.5, N).astype(np.float32) / N)


def forces():
    apart = place[None, :, :] - place[:, None, :]  # apart[i, j]: from star i to star j
    square = (apart * apart).sum(axis=2) + SOFT**2
    pull = mass / (square * np.sqrt(square))
    return (apart * pull[:, :, None]).sum(axis=1), square


def energy(square):
    pairs = mass[:, None] * mass / np.sqrt(square)
    own = (mass * mass).sum() / SOFT  # of each star with itself
    moving = (mass * (speed * speed).sum(axis=1)).sum() / 2
    return float((moving - (pairs.sum() - own) / 2).get())


start_momentum = (mass[:, None] * speed).sum(axis=0).get()
force, square = forces()
before = energy(square)
for _ in range(STEPS):  # leapfrog: half a step of speed, a step of place, half a step of speed
    speed += force * (DT / 2)
    place += speed * DT
    force, square = forces()
    speed += force * (DT / 2)
after = energy(square)

print(f"energy {before:.5f} -> {after:.5f} after {STEPS} steps of {N} stars")
assert abs(after - before) < 2e-3 * abs(before)
momentum = (mass[:, None] * speed).sum(axis=0).get()
assert np.allclose(momentum, start_momentum, atol=1e-5)
