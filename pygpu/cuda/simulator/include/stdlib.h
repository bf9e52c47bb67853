/* stdlib.h - malloc and free are known anyway. With SIM_HOSTED, the library's own. */
#if defined(SIM_HOSTED)
#pragma GCC system_header
#include_next <stdlib.h>
#else
#pragma once
#pragma GCC system_header
#include "sim_runtime.h"
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
#endif
