/* string.h - memcpy and similar functions are always declared. With SIM_HOSTED, the library's own. */
#if defined(SIM_HOSTED)
#pragma GCC system_header
#include_next <string.h>
#else
#pragma once
#pragma GCC system_header
#include "sim_runtime.h"
#endif
