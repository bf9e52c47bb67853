"""The first ten lines: NumPy's functions on whatever device there is."""

from pygpu import xp

x = xp.linspace(-3, 3, 601, dtype=xp.float32)  # on the GPU, or the CPU if there is none
y = xp.exp(-x * x)
area = float(xp.sum(y) * (x[1] - x[0]))
host = y.get()  # a NumPy array
assert abs(area - 3.14159**0.5) < 1e-3 and host.max() == 1
print(f"{len(y)} points on {y.device.name}: an area of {area:.4f}, the root of pi is 1.7725")
