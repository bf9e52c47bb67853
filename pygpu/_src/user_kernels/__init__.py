"""Kernels from snippets of C: elementwise operations, reductions, scans, sorts, for both backends.

Users meet them as the classes of `pygpu.elementwise`, `pygpu.reduction`, `pygpu.scan` and
`pygpu.algorithm`, and of `pygpu.cuda.elementwise` and so on. docs/design/user_kernels.md describes
how they work.
"""
