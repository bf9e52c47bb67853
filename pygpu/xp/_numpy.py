"""NumPy's other functions on arrays of a device, which NumPy dispatches to pygpu.

_numpy.pyi has their types. NumPy's versions before 2.2 lack some.
"""

from __future__ import annotations

import numpy as np

from ._arguments import on_device

NAMES: tuple[str, ...] = tuple(
    (
        "allclose angle append apply_along_axis apply_over_axes argpartition argwhere "
        "array2string array_equal array_equiv array_repr array_split array_str atleast_1d "
        "atleast_2d atleast_3d average bincount block busday_count busday_offset choose "
        "column_stack common_type compress convolve copy copyto corrcoef correlate cov cross "
        "cumprod cumsum delete diag diag_indices_from diagflat diagonal digitize dot dsplit "
        "dstack ediff1d einsum_path extract fill_diagonal fix flatnonzero fliplr flipud "
        "gradient histogram histogram2d histogram_bin_edges histogramdd hsplit hstack i0 inner "
        "insert interp intersect1d is_busday isclose iscomplex iscomplexobj isfortran isneginf "
        "isposinf isreal isrealobj ix_ kron lexsort may_share_memory median min_scalar_type "
        "nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin "
        "nanpercentile nanprod nanquantile nanstd nansum nanvar ndim outer packbits pad "
        "partition percentile piecewise place poly polyadd polyder polydiv polyfit polyint "
        "polymul polysub polyval ptp put put_along_axis putmask quantile ravel "
        "ravel_multi_index real_if_close resize rollaxis roots rot90 select setdiff1d setxor1d "
        "shape shares_memory sinc size sort_complex split swapaxes trace transpose trapezoid "
        "tril_indices_from trim_zeros triu_indices_from union1d unique unpackbits "
        "unravel_index unwrap vander vdot vsplit vstack "
    ).split()
)
UFUNCS: tuple[str, ...] = tuple(
    (
        "bitwise_count cbrt deg2rad degrees divmod exp2 fabs float_power fmax fmin fmod frexp gcd "
        "heaviside isnat lcm ldexp logaddexp2 matvec modf rad2deg radians rint spacing vecmat "
    ).split()
)

__all__ = [name for name in (*NAMES, *UFUNCS) if hasattr(np, name)]

globals().update({name: on_device(name, getattr(np, name)) for name in __all__})
