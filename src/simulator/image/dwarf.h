/* dwarf.h - the line table of an image: which line of the source an instruction came from. */
#ifndef PYGPU_SIM_DWARF_H
#define PYGPU_SIM_DWARF_H

#include "simulator/image/elf.h"

typedef struct LineTable {
    const unsigned char *line, *line_strings,
        *strings; /* sections .debug_line, .debug_line_str, .debug_str */
    size_t line_size, line_strings_size, strings_size;
} LineTable;

/* The sections, copied: one block to free, NULL if there are none. */
void *line_table_copy(LineTable *out, const Elf *elf);
/* File and line of an address as linked. Of code inlined from files below `skip` the line that it
 * was called from, as far as the order of instructions tells: *exact is false then. False: no line
 * of anybody else is known. */
bool line_table_find(const LineTable *table, uint64_t address, const char *skip, char *file,
                     size_t size, unsigned *line, bool *exact);

#endif
