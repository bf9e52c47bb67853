"""Arrays on a device, on either backend: layout, ufuncs, reductions, scans, sorting, indexing."""

from pygpu._src.util.lazy import provide as _provide

_provide("opencl array", "pygpu._src.array.opencl_array", "Array")
_provide("cuda array", "pygpu._src.array.cuda_array", "GPUArray")
