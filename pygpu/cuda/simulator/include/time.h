/* time.h - clock is known anyway. With SIM_HOSTED, the library's own. */
#if defined(SIM_HOSTED)
#pragma GCC system_header
#include_next <time.h>
#else
#pragma once
#pragma GCC system_header
typedef long clock_t;
#define CLOCKS_PER_SEC 1000000000l
#endif
