"""Fail every CUDA driver call of one scenario in turn.

cuda_fault_worker.py RESULTS SCENARIO [FROM ["count"]]

The walk is fault_worker's, with CUDA's scenarios and codes.
"""

from __future__ import annotations

import cuda_scenarios
import fault_worker

from pygpu import _cuda

OUT_OF_MEMORY, UNKNOWN, INVALID_VALUE, NVRTC_INTERNAL = 2, 999, 1, 11
MISSING = -90001
"""PG_STATUS_MISSING: what pygpu says itself where an old driver lacks the function."""


def trials(counts: dict[str, int], _scenario: str) -> list[tuple[str, int, int, int]]:
    """(function, code, nth, times)."""
    found = []
    for name, count in counts.items():
        places = sorted({*range(1, min(3, count) + 1), count})
        if name.startswith("nvrtc"):  # whose codes have other meanings
            found += [(name, NVRTC_INTERNAL, nth, 1) for nth in places]
            continue
        if name != "cuFuncGetParamInfo":  # this answer says that there are no more parameters
            found += [(name, INVALID_VALUE, nth, 1) for nth in places]
        found += [(name, code, 1, 1) for code in (OUT_OF_MEMORY, UNKNOWN, MISSING)]
    return found


if __name__ == "__main__":
    fault_worker.hooks = _cuda
    fault_worker.SCENARIOS = cuda_scenarios.SCENARIOS
    fault_worker.Base = cuda_scenarios.Base
    fault_worker.trials = trials
    fault_worker.MEMORY_ERROR = OUT_OF_MEMORY
    fault_worker.INSIDE = (
        *("cuStreamQuery", "cuEventQuery", "cuCtxSynchronize"),
        *("cuCtxGetCurrent", "cuCtxPushCurrent"),
    )
    fault_worker.main()
