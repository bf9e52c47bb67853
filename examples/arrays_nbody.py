"""Stars that attract each other: forces between all pairs as arrays of shape (n, n)."""

import matplotlib.pyplot as plt
import numpy as np

from pygpu import xp

N, STEPS, DT, SOFT = 256, 60, 0.01, 0.1

random = np.random.default_rng(7)
place = xp.asarray(random.normal(size=(N, 3)).astype(np.float32))
speed = xp.asarray(random.normal(scale=0.3, size=(N, 3)).astype(np.float32))
mass = xp.asarray(random.uniform(0.5, 1.5, N).astype(np.float32) / N)


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
paths = [place.get()]
for _ in range(STEPS):  # leapfrog: half a step of speed, a step of place, half a step of speed
    speed += force * (DT / 2)
    place += speed * DT
    force, square = forces()
    speed += force * (DT / 2)
    paths.append(place.get())
after = energy(square)

print(f"energy {before:.5f} -> {after:.5f} after {STEPS} steps of {N} stars")
assert abs(after - before) < 2e-3 * abs(before)
momentum = (mass[:, None] * speed).sum(axis=0).get()
assert np.allclose(momentum, start_momentum, atol=1e-5)

for path in np.stack(paths, axis=1):
    plt.plot(path[:, 0], path[:, 1], "C0", linewidth=0.8)
plt.plot(*paths[-1][:, :2].T, "k.", markersize=3)
plt.gca().set(aspect="equal", xlabel="x", ylabel="y")
plt.show()
