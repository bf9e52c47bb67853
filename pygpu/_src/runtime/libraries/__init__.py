"""Libraries that compute for arrays where they are installed: cuBLAS, cuSOLVER, cuFFT, CLBlast.

None is linked: each is opened by name when it is first needed, and without it arrays are computed
another way. See docs/arrays/linalg_fft.md.
"""

from __future__ import annotations

__all__: list[str] = []
