"""Heat in a rod: slices of one array, by the same function on a device and on the host."""

import matplotlib.pyplot as plt
import numpy as np

from pygpu import xp


def cool(rod, steps):
    """The temperatures after so many steps; both ends stay as they are."""
    for _ in range(steps):
        rod[1:-1] += 0.25 * (rod[2:] - 2 * rod[1:-1] + rod[:-2])
    return rod


start = np.zeros(101, np.float32)
start[50] = 100

plt.plot(start, label="at the beginning")
for steps in (10, 50, 200):
    rod = cool(xp.asarray(start), steps)
    plt.plot(rod.get(), label=f"after {steps} steps")
plt.gca().set(xlabel="place", ylabel="temperature", xlim=(20, 80), ylim=(0, 40))
plt.legend()

assert np.allclose(rod.get(), cool(start.copy(), 200))
print(f"on {rod.device.name}: hottest {float(rod.max()):.2f}, heat {float(rod.sum()):.2f} of 100")
plt.show()
