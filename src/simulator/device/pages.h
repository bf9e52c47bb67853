/* pages.h - where the memory of allocations comes from. */
#ifndef PYGPU_SIM_PAGES_H
#define PYGPU_SIM_PAGES_H

#include "simulator/sim.h"

/* rounded: what an allocation takes of the device. NULL: there is
 * no more. */
void *sim_pages_alloc(size_t size, bool apart); /* apart: a mapping of its own whatever the size, so
                                                   that nothing is there once it is freed */
void sim_pages_free(void *base, size_t size);
size_t sim_pages_rounded(size_t size);
bool sim_pages_own(
    const void *address); /* where small blocks lie, or have lain: never memory of the program */

#endif
