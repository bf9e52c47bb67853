/* place.c - the source line of an address in a kernel, for messages. */
#include <stdio.h>

#include "compiler.h"
#include "dwarf.h"
#include "exec.h"

void place_describe(const SimModule *module, uintptr_t pc, char *text, size_t size) {
    char file[400];
    unsigned line;
    if (size > 0) text[0] = 0;
    uintptr_t base;
    const LineTable *lines = sim_module_lines(module, &base);
    if (lines->line != NULL && sim_module_contains(module, pc) && line_table_find(lines, pc - base, compiler_headers(), file, sizeof file, &line)) {
        snprintf(text, size, " at %s:%u", file, line);
    }
}
