/* prune.h - see prune.c. */
#ifndef PYGPU_SIM_PRUNE_H
#define PYGPU_SIM_PRUNE_H

#include <stddef.h>

/* Drops unused units from a preprocessed text, in place; text[length] must be '\0'. Returns the new
 * length. Without memory, the text stays as it is. */
size_t sim_prune(char *text, size_t length);

#endif
