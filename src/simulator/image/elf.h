/* elf.h - reads a shared object's sections and symbols from memory, before or without loading it.
 * Checks every offset, because an image may be damaged, or be something else. */
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
    const char *names; /* of the symbols; zero-terminated */
    size_t names_size;
} Elf;

/* Size of the image at address, from its headers; 0: not an ELF file. Reads no further than the
 * file's own headers say. */
size_t elf_size(const void *image, size_t size /* 0: unknown */);
bool elf_open(Elf *elf, const void *image, size_t size);
/* Address and size of the section with that name, as linked; false: there is none. */
bool elf_section(const Elf *elf, const char *name, uint64_t *address, uint64_t *size);
const char *elf_symbol_name(const Elf *elf, const Elf64_Sym *symbol);
/* The symbol at this address; functions and objects only. */
const Elf64_Sym *elf_symbol_at(const Elf *elf, uint64_t address);
/* The pointer stored at an address of the loaded object, as linked (that is, without the base). */
bool elf_pointer_at(const Elf *elf, uint64_t address, uint64_t *value);
bool elf_bytes_at(const Elf *elf, uint64_t address, void *out, size_t size);

#endif
