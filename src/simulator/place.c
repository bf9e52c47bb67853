/* place.c - the source line of an address in a kernel. */
#include <stdio.h>

#include "exec.h"

void place_describe(const SimModule *module, uintptr_t pc, char *text, size_t size) {
    (void)module;
    (void)pc;
    if (size > 0) text[0] = 0;
}
