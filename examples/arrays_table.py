"""A table of timed measurements on the device: sorted by time, and aggregated for each day.

python arrays_table.py
"""

import numpy as np

import pygpu.xp as xp

KIND = np.dtype([("value", "f8"), ("time", "M8[s]"), ("sensor", "i4")], align=True)
rng = np.random.default_rng(0)
host = np.zeros(20_000, KIND)
host["time"] = np.datetime64("2026-01-01", "s") + rng.integers(0, 7 * 86400, host.size)
host["sensor"] = rng.integers(0, 4, host.size)
host["value"] = np.sin(host["time"].astype("i8") / 86400) + 0.1 * rng.normal(size=host.size)
host["time"][::1000] = "NaT"  # clocks that had stopped

table = xp.asarray(host)
table = table[~np.isnat(table["time"])]
table = np.sort(table, order=["time", "sensor"])
pause = np.diff(table["time"]).max()

days, first = np.unique(table["time"].astype("M8[D]"), return_index=True)
means = np.add.reduceat(table["value"], first) / np.diff(first, append=table.size)
for day, mean in zip(days.get(), means.get()):
    print(f"{day}  {mean:6.3f}")
print("longest pause:", pause.item())

wanted = np.sort(host[~np.isnat(host["time"])], order=["time", "sensor"])
assert (table["sensor"].get() == wanted["sensor"]).all()
assert (table["time"].get() == wanted["time"]).all()
assert len(days) == 7
assert np.allclose(means.get()[0], wanted["value"][wanted["time"] < days.get()[1]].mean())
