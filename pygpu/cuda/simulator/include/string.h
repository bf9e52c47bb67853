/* string.h - memcpy and its like are known anyway. With SIM_HOSTED, the library's own. */
#if defined(SIM_HOSTED)
#pragma GCC system_header
#include_next <string.h>
#else
#pragma once
#pragma GCC system_header
#include "sim_runtime.h"
#endif
