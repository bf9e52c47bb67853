/* prune.h - drops unused device functions. */
#ifndef PYGPU_SIM_PRUNE_H
#define PYGPU_SIM_PRUNE_H

#include <stdbool.h>
#include <stddef.h>

/* Drops unused units from a preprocessed text, in place; text[length] must be '\0'. rewritten: the
 * late units, else all others. Returns the new length. If out of memory, leaves the text
 * unchanged. */
size_t sim_prune(char *text, size_t length, bool rewritten);

#endif
