"""Stars that attract each other: a step as one kernel by pygpu.fuse, with no array of all pairs."""

import numpy as np

import pygpu
from pygpu import xp

N, STEPS, DT, SOFT = 256, 20, 0.005, 0.05


@pygpu.fuse
def step(place, speed, mass, dt):
    apart = place[None, :, :] - place[:, None, :]  # from each star to each other; never in memory
    square = (apart * apart).sum(axis=2) + SOFT**2
    pull = mass / (square * np.sqrt(square))
    speed = speed + (apart * pull[:, :, None]).sum(axis=1) * dt
    return {"place": place + speed * dt, "speed": speed, "closest": square.min(axis=1)}


random = np.random.default_rng(7)
place = random.normal(size=(N, 3)).astype(np.float32)
speed = random.normal(scale=0.3, size=(N, 3)).astype(np.float32)
mass = random.uniform(0.5, 1.5, N).astype(np.float32) / N

wanted = {"place": place, "speed": speed}
stars = {"place": xp.asarray(place), "speed": xp.asarray(speed)}
heavy = xp.asarray(mass)
for _ in range(STEPS):
    stars = step(stars["place"], stars["speed"], heavy, DT)
    wanted = step.plain(wanted["place"], wanted["speed"], mass, DT)

print(f"{N} stars after {STEPS} steps: the first is at", stars["place"].get()[0])
for name in ("place", "speed"):
    assert np.allclose(stars[name].get(), wanted[name], atol=1e-4)
