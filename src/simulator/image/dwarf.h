/* dwarf.h - the line table of an image: the source lines of instructions. */
#ifndef PYGPU_SIM_DWARF_H
#define PYGPU_SIM_DWARF_H

#include "simulator/image/elf.h"

typedef struct LineTable {
    const unsigned char *line, *line_strings,
        *strings; /* sections .debug_line, .debug_line_str, .debug_str */
    size_t line_size, line_strings_size, strings_size;
} LineTable;

/* Copies the sections into one block, which the caller frees; NULL if there are none. */
void *line_table_copy(LineTable *out, const Elf *elf);
/* File and line of an address as linked. For code inlined from files below `skip`, finds the line
 * that called it, as far as the order of instructions shows it; *exact is then false. Returns false
 * if only lines in `skip` are known. */
bool line_table_find(const LineTable *table, uint64_t address, const char *skip, char *file,
                     size_t size, unsigned *line, bool *exact);

#endif
