"""What the array layer is made of: backends, one kernel text for both of them, shapes, dtypes.

Nothing here is needed to use arrays (see `pygpu.array` and `pygpu.cuda.gpuarray`); it is what those
are written with, and what other code that generates kernels may build on. docs/design.md tells how
the parts fit together.
"""
