/* seal.c - a checksum that shows whether an image is still intact. The system's
 * loader trusts a damaged image, and its code would run. */
#include <string.h>

#include "simulator/compiler/compiler.h"
#include "simulator/image/elf.h"

/* Finds the place for the checksum; false: the image has none. */
static bool find(const Elf *elf, uint64_t *offset) {
    for (unsigned i = 0; i < elf->n_sections; i++) {
        const Elf64_Shdr *section = &elf->sections[i];
        if (strcmp(elf->section_names + section->sh_name, "sim_seal") != 0)
            continue;
        *offset = section->sh_offset;
        return section->sh_type != SHT_NOBITS && section->sh_size >= sizeof(Key) &&
               section->sh_offset <= elf->size && elf->size - section->sh_offset >= sizeof(Key);
    }
    return false;
}

static Key sum(const Elf *elf, uint64_t offset) {
    Key key = key_begin();
    key_add(&key, elf->image, offset);
    key_add(&key, elf->image + offset + sizeof key, elf->size - offset - sizeof key);
    return key;
}

bool seal_image(Text *image) {
    Elf elf;
    uint64_t offset;
    if (!elf_open(&elf, image->data, image->size) || !find(&elf, &offset))
        return false;
    const Key key = sum(&elf, offset);
    memcpy(image->data + offset, &key, sizeof key);
    return true;
}

bool seal_holds(const Elf *elf) {
    uint64_t offset;
    if (!find(elf, &offset))
        return false;
    const Key key = sum(elf, offset);
    return memcmp(elf->image + offset, &key, sizeof key) == 0;
}
