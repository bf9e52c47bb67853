/* assert.h - assert is known anyway. With SIM_HOSTED, the library's own. */
#if defined(SIM_HOSTED)
#pragma GCC system_header
#include_next <assert.h>
#else
#pragma once
#pragma GCC system_header
#include "sim_runtime.h"
#endif
