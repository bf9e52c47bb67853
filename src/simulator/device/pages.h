/* pages.h - the memory of allocations. */
#ifndef PYGPU_SIM_PAGES_H
#define PYGPU_SIM_PAGES_H

#include "simulator/sim.h"

/* rounded: how much of the device's memory it uses. Returns NULL if out of memory. */
void *sim_pages_alloc(size_t size, bool apart); /* apart: a separate mapping whatever the size,
                                                 * which is unmapped when freed */
void sim_pages_free(void *base, size_t size);
size_t sim_pages_rounded(size_t size);
bool sim_pages_own(
    const void *address); /* whether small blocks are or were there: never memory of the program */

#endif
