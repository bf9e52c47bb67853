/* elf.h - reading a shared object's sections and symbols from memory, before or without loading it.
 * Every offset is checked: an image may be damaged, or be something else. */
#ifndef PYGPU_SIM_ELF_H
#define PYGPU_SIM_ELF_H

#include <elf.h>

#include "simulator/sim.h"

typedef struct {
    const unsigned char *image;
    size_t size;
    const Elf64_Shdr *sections;
    unsigned n_sections;
    const char *section_names;
    const Elf64_Sym *symbols;
    size_t n_symbols;
    const char *names; /* of the symbols; ends with 0 */
    size_t names_size;
} Elf;

/* Size of the image at address, from its headers; 0: no ELF file. Reads no more than the file's own
 * headers say. */
size_t elf_size(const void *image, size_t size /* 0: unknown */);
bool elf_open(Elf *elf, const void *image, size_t size);
/* Address and size of a section of that name, as linked; false: there is none. */
bool elf_section(const Elf *elf, const char *name, uint64_t *address, uint64_t *size);
const char *elf_symbol_name(const Elf *elf, const Elf64_Sym *symbol);
/* The symbol that is at this address; functions and objects only. */
const Elf64_Sym *elf_symbol_at(const Elf *elf, uint64_t address);
/* The pointer that will be at an address of the loaded object, as linked (that is, without the
 * base). */
bool elf_pointer_at(const Elf *elf, uint64_t address, uint64_t *value);
bool elf_bytes_at(const Elf *elf, uint64_t address, void *out, size_t size);

#endif
