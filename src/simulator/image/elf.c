/* elf.c - reads shared objects in memory; see elf.h. */
#include "simulator/image/elf.h"

#include <string.h>

#if defined(__x86_64__)
#define MACHINE  EM_X86_64
#define RELATIVE R_X86_64_RELATIVE
#define POINTER  R_X86_64_64
#else
#define MACHINE  EM_AARCH64
#define RELATIVE R_AARCH64_RELATIVE
#define POINTER  R_AARCH64_ABS64
#endif

static bool inside(const Elf *elf, uint64_t offset, uint64_t size) {
    return offset <= elf->size && size <= elf->size - offset;
}

size_t elf_size(const void *image, size_t size) {
    Elf64_Ehdr head;
    if (size != 0 && size < sizeof head)
        return 0;
    if (memcmp(image, ELFMAG, SELFMAG) != 0)
        return 0;
    memcpy(&head, image, sizeof head);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != MACHINE || head.e_type != ET_DYN)
        return 0;
    if (head.e_shentsize != sizeof(Elf64_Shdr) || head.e_shnum == 0 ||
        head.e_shoff > ((uint64_t)1 << 32) || head.e_shoff % 8 != 0)
        return 0;
    const uint64_t end = head.e_shoff + (uint64_t)head.e_shnum * sizeof(Elf64_Shdr);
    if (size != 0 && end > size)
        return 0;
    uint64_t most = end;
    for (unsigned i = 0; i < head.e_shnum;
         i++) { /* lld puts the section headers last, other linkers may not */
        Elf64_Shdr section;
        memcpy(&section, (const char *)image + head.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL)
            continue;
        if (section.sh_offset > ((uint64_t)1 << 32) || section.sh_size > ((uint64_t)1 << 32))
            return 0;
        if (section.sh_offset + section.sh_size > most)
            most = section.sh_offset + section.sh_size;
    }
    return size != 0 && most > size ? 0 : (size_t)most;
}

bool elf_open(Elf *elf, const void *image, size_t size) {
    memset(elf, 0, sizeof *elf);
    elf->image = image;
    elf->size = elf_size(image, size);
    if (elf->size == 0 || (uintptr_t)image % 8 != 0)
        return false;
    const Elf64_Ehdr *head = image;
    elf->sections = (const Elf64_Shdr *)(const void *)(elf->image + head->e_shoff);
    elf->n_sections = head->e_shnum;
    if (head->e_shstrndx >= elf->n_sections)
        return false;
    const Elf64_Shdr *names = &elf->sections[head->e_shstrndx];
    if (names->sh_size == 0 || !inside(elf, names->sh_offset, names->sh_size) ||
        elf->image[names->sh_offset + names->sh_size - 1] != 0)
        return false;
    elf->section_names = (const char *)elf->image + names->sh_offset;
    for (unsigned i = 0; i < elf->n_sections; i++) {
        const Elf64_Shdr *section = &elf->sections[i];
        if (section->sh_name >= names->sh_size)
            return false;
        if (section->sh_type != SHT_SYMTAB || section->sh_link >= elf->n_sections)
            continue;
        const Elf64_Shdr *strings = &elf->sections[section->sh_link];
        if (!inside(elf, section->sh_offset, section->sh_size) || section->sh_offset % 8 != 0 ||
            strings->sh_size == 0 || !inside(elf, strings->sh_offset, strings->sh_size) ||
            elf->image[strings->sh_offset + strings->sh_size - 1] != 0) {
            return false;
        }
        elf->symbols = (const Elf64_Sym *)(const void *)(elf->image + section->sh_offset);
        elf->n_symbols = section->sh_size / sizeof(Elf64_Sym);
        elf->names = (const char *)elf->image + strings->sh_offset;
        elf->names_size = strings->sh_size;
    }
    return elf->symbols != NULL;
}

bool elf_section(const Elf *elf, const char *name, uint64_t *address, uint64_t *size) {
    for (unsigned i = 0; i < elf->n_sections; i++) {
        if (strcmp(elf->section_names + elf->sections[i].sh_name, name) == 0) {
            *address = elf->sections[i].sh_addr;
            *size = elf->sections[i].sh_size;
            return true;
        }
    }
    return false;
}

const char *elf_symbol_name(const Elf *elf, const Elf64_Sym *symbol) {
    return symbol->st_name < elf->names_size ? elf->names + symbol->st_name : "";
}

const Elf64_Sym *elf_symbol_at(const Elf *elf, uint64_t address) {
    for (size_t i = 0; i < elf->n_symbols; i++) {
        const int type = ELF64_ST_TYPE(elf->symbols[i].st_info);
        if (elf->symbols[i].st_value == address && (type == STT_FUNC || type == STT_OBJECT) &&
            elf->symbols[i].st_shndx != SHN_UNDEF) {
            return &elf->symbols[i];
        }
    }
    return NULL;
}

bool elf_bytes_at(const Elf *elf, uint64_t address, void *out, size_t size) {
    for (unsigned i = 0; i < elf->n_sections; i++) {
        const Elf64_Shdr *section = &elf->sections[i];
        if (section->sh_type == SHT_NOBITS || !(section->sh_flags & SHF_ALLOC) ||
            address < section->sh_addr || address - section->sh_addr > section->sh_size ||
            size > section->sh_size - (address - section->sh_addr)) {
            continue;
        }
        const uint64_t offset = section->sh_offset + (address - section->sh_addr);
        if (!inside(elf, offset, size))
            return false;
        memcpy(out, elf->image + offset, size);
        return true;
    }
    return false;
}

bool elf_pointer_at(const Elf *elf, uint64_t address, uint64_t *value) {
    for (unsigned i = 0; i < elf->n_sections; i++) {
        const Elf64_Shdr *section = &elf->sections[i];
        if (section->sh_type != SHT_RELA || !inside(elf, section->sh_offset, section->sh_size) ||
            section->sh_offset % 8 != 0)
            continue;
        const Elf64_Rela *rows =
            (const Elf64_Rela *)(const void *)(elf->image + section->sh_offset);
        for (size_t j = 0; j < section->sh_size / sizeof(Elf64_Rela); j++) {
            if (rows[j].r_offset != address)
                continue;
            const uint32_t type = (uint32_t)ELF64_R_TYPE(rows[j].r_info);
            if (type == RELATIVE) {
                *value = (uint64_t)rows[j].r_addend;
                return true;
            }
            if (type == POINTER && section->sh_link < elf->n_sections) {
                const Elf64_Shdr *table = &elf->sections[section->sh_link];
                const uint64_t index = ELF64_R_SYM(rows[j].r_info);
                if (!inside(elf, table->sh_offset, table->sh_size) ||
                    index >= table->sh_size / sizeof(Elf64_Sym))
                    return false;
                Elf64_Sym symbol;
                memcpy(&symbol, elf->image + table->sh_offset + index * sizeof symbol,
                       sizeof symbol);
                *value = symbol.st_value + (uint64_t)rows[j].r_addend;
                return true;
            }
        }
    }
    return elf_bytes_at(elf, address, value, sizeof *value);
}
