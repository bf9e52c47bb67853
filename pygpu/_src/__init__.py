"""The implementation of pygpu. Nothing below this package is public: import from ``pygpu`` itself.

The packages are layers, from the bottom: util, codegen, runtime, array, and user_kernels and jit
side by side. A module imports from its own layer and from those below. See docs/design/index.md.
"""
