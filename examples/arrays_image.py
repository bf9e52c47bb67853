"""An image blurred, sharpened and equalised: slices of arrays, a sort and a search."""

import matplotlib.pyplot as plt
import numpy as np

from pygpu import xp

WEIGHTS = np.exp(-0.5 * (np.arange(-3, 4) / 1.2) ** 2)
WEIGHTS /= WEIGHTS.sum()


def blurred(image, weights=WEIGHTS):
    """Weighted sums of neighbours, first along rows, then along columns; edges are repeated."""
    half = len(weights) // 2
    for axis in (0, 1):
        n = image.shape[axis]
        rows = np.clip(np.arange(-half, n + half), 0, n - 1)
        wide = image.take(xp.asarray(rows), axis=axis)
        parts = [slice(None)] * 2
        total = 0.0
        for k, weight in enumerate(weights):
            parts[axis] = slice(k, k + n)
            total = wide[tuple(parts)] * float(weight) + total
        image = total
    return image


def equalised(image):
    """Each value becomes the share of pixels that are not brighter."""
    flat = image.ravel()
    rank = np.searchsorted(np.sort(flat), flat, side="right")
    return (rank.astype(np.float32) / flat.size).reshape(image.shape)


y, x = np.mgrid[0:240, 0:320].astype(np.float32)
scene = 0.3 + 0.1 * np.sin(x / 17) * np.cos(y / 23) + 0.2 * ((x - 160) ** 2 + (y - 120) ** 2 < 3600)
noisy = scene + np.random.default_rng(1).normal(scale=0.05, size=scene.shape)

image = xp.asarray(noisy.astype(np.float32))
soft = blurred(image)
sharp = np.clip(soft + 1.5 * (soft - blurred(soft)), 0, 1)
equal = equalised(sharp)

noise = [float(np.std(part.get()[:40, :40] - scene[:40, :40])) for part in (image, soft)]
print(f"noise {noise[0]:.3f} -> {noise[1]:.3f} by blurring")
assert noise[1] < noise[0] / 2

edge = [float(np.abs(np.diff(part.get()[120, 210:230])).max()) for part in (soft, sharp)]
print(f"steepest edge {edge[0]:.3f} -> {edge[1]:.3f} by sharpening")
assert edge[1] > 1.2 * edge[0]

counts = np.histogram(equal.get(), bins=16, range=(0, 1))[0]
print("pixels by brightness:", counts.tolist())
assert np.abs(counts - counts.mean()).max() < 0.02 * counts.mean()

figure, places = plt.subplots(1, 4, figsize=(12, 2.7), layout="constrained")
pictures = {"noisy": image, "blurred": soft, "sharpened": sharp, "equalised": equal}
for place, (title, picture) in zip(places, pictures.items()):
    place.imshow(picture.get(), cmap="gray")
    place.set(title=title, xticks=[], yticks=[])
plt.show()
