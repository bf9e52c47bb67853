"""Programs that a type checker refuses: `# E: code` is what mypy says of the line."""

import numpy as np
from numpy.typing import ArrayLike

import pygpu as cl
import pygpu.array as cla
from pygpu.array import Array
from pygpu.cuda import gpuarray
from pygpu.cuda.gpuarray import GPUArray

queue = cl.CommandQueue(cl.create_some_context(interactive=False))
f4 = cla.zeros(queue, 4, np.float32)
g4 = gpuarray.zeros(4, np.float32)

double: Array[np.float64] = f4  # E: assignment
other: GPUArray[np.float32] = f4  # E: assignment
number: int = f4.sum()  # E: assignment
f4 + "text"  # E: operator
f4.astype(3)  # E: call-overload
f4["a", "b"]  # E: index
f4.reshpe(2, 2)  # E: attr-defined
f4.queue = 3  # E: assignment
f4.shape = (2, 2)  # E: misc
host: ArrayLike = f4  # E: assignment
Array[int]  # E: type-var
cla.zeros(np.float32, 4, queue)  # E: call-overload
g4.get(stream=queue)  # E: arg-type
