/* inttypes.h - whole numbers of a given width. With SIM_HOSTED, the library's own. */
#if defined(SIM_HOSTED)
#pragma GCC system_header
#include_next <inttypes.h>
#else
#pragma once
#pragma GCC system_header
#include "stdint.h"
#endif
