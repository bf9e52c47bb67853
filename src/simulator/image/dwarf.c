/* dwarf.c - reads DWARF line tables, versions 2 to 5, as g++ and clang++ write them. Nothing in
 * them is trusted; damaged tables yield no line. */
#include "simulator/image/dwarf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const unsigned char *at, *end;
} Reader;

static uint64_t read_fixed(Reader *r, unsigned bytes) {
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < bytes) {
        r->at = r->end;
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)r->at[i] << 8 * i;
    r->at += bytes;
    return value;
}

static uint64_t variable(Reader *r, bool is_signed) {
    uint64_t value = 0;
    unsigned shift = 0, byte = 0x80;
    while ((byte & 0x80) && r->at < r->end) {
        byte = *r->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    }
    if (is_signed && shift < 64 && (byte & 0x40))
        value |= ~(uint64_t)0 << shift;
    return value;
}

static const char *string(Reader *r) {
    const char *text = (const char *)r->at;
    const unsigned char *end = memchr(r->at, 0, (size_t)(r->end - r->at));
    r->at = end != NULL ? end + 1 : r->end;
    return end != NULL ? text : "";
}

static const char *string_at(const unsigned char *section, size_t size, uint64_t offset) {
    if (section == NULL || offset >= size || memchr(section + offset, 0, size - offset) == NULL)
        return "";
    return (const char *)section + offset;
}

/* Reads a value in version 5's lists of files: text, or a number. */
static const char *form(const LineTable *table, Reader *r, uint64_t kind, unsigned offset_size,
                        uint64_t *number) {
    *number = 0;
    switch (kind) {
    case 0x08:
        return string(r);
    case 0x0e:
        return string_at(table->strings, table->strings_size, read_fixed(r, offset_size));
    case 0x1f:
        return string_at(table->line_strings, table->line_strings_size, read_fixed(r, offset_size));
    case 0x0b:
        *number = read_fixed(r, 1);
        break;
    case 0x05:
        *number = read_fixed(r, 2);
        break;
    case 0x06:
        *number = read_fixed(r, 4);
        break;
    case 0x07:
        *number = read_fixed(r, 8);
        break;
    case 0x0f:
        *number = variable(r, false);
        break;
    case 0x1e:
        read_fixed(r, 8), read_fixed(r, 8);
        break;
    case 0x09: {
        const uint64_t size = variable(r, false);
        r->at += size < (uint64_t)(r->end - r->at) ? size : (uint64_t)(r->end - r->at);
        break;
    }
    default:
        r->at = r->end;
        break;
    }
    return NULL;
}

#define MOST_FILES 400

typedef struct {
    const char *names[MOST_FILES];
    unsigned directories[MOST_FILES], n;
    const char *folders[MOST_FILES];
    unsigned n_folders;
} Files;

static void read_list(const LineTable *table, Reader *r, unsigned offset_size, const char **names,
                      unsigned *directories, unsigned *n) {
    uint64_t kinds[8][2] = {{0}};
    const unsigned n_kinds = (unsigned)read_fixed(r, 1);
    for (unsigned i = 0; i < n_kinds; i++) {
        const uint64_t content = variable(r, false), kind = variable(r, false);
        if (i < 8)
            kinds[i][0] = content, kinds[i][1] = kind;
    }
    const uint64_t count = variable(r, false);
    *n = 0;
    for (uint64_t i = 0; i < count && r->at < r->end; i++) {
        for (unsigned k = 0; k < n_kinds && k < 8; k++) {
            uint64_t number;
            const char *text = form(table, r, kinds[k][1], offset_size, &number);
            if (*n >= MOST_FILES)
                continue;
            if (kinds[k][0] == 1 && text != NULL)
                names[*n] = text;
            if (kinds[k][0] == 2 && directories != NULL)
                directories[*n] = (unsigned)number;
        }
        if (*n < MOST_FILES)
            ++*n;
    }
}

static void read_files(const LineTable *table, Reader *r, unsigned version, unsigned offset_size,
                       Files *files) {
    memset(files, 0, sizeof *files);
    if (version >= 5) {
        read_list(table, r, offset_size, files->folders, NULL, &files->n_folders);
        read_list(table, r, offset_size, files->names, files->directories, &files->n);
        return;
    }
    files->n_folders = 1; /* folder 0 is the compiler's own */
    for (const char *name = string(r); *name != 0 && r->at < r->end; name = string(r)) {
        if (files->n_folders < MOST_FILES)
            files->folders[files->n_folders++] = name;
    }
    files->n = 1;
    for (const char *name = string(r); *name != 0 && r->at < r->end; name = string(r)) {
        const unsigned directory = (unsigned)variable(r, false);
        variable(r, false), variable(r, false);
        if (files->n < MOST_FILES)
            files->names[files->n] = name, files->directories[files->n++] = directory;
    }
}

static void path_of(const Files *files, unsigned number, char *out, size_t size) {
    const char *name = number < files->n && files->names[number] != NULL ? files->names[number]
                                                                         : "?",
               *folder = NULL;
    const unsigned directory = number < files->n ? files->directories[number] : 0;
    if (directory > 0 && directory < files->n_folders)
        folder = files->folders[directory];
    if (name[0] == '/' || folder == NULL)
        snprintf(out, size, "%s", name);
    else
        snprintf(out, size, "%s/%s", folder, name);
}

typedef struct {
    uint64_t address;
    unsigned file, line;
    bool statement;
} Row; /* statement: one begins here */

static bool is_skipped(const Files *files, const Row *row, const char *skip) {
    char path[1000];
    path_of(files, row->file, path, sizeof path);
    if (path[0] != '/' && files->n_folders > 0 && files->folders[0] != NULL &&
        strchr(path, '/') != NULL) { /* clang omits its own folder */
        char whole[2000];
        snprintf(whole, sizeof whole, "%s/%s", files->folders[0], path);
        if (strncmp(whole, skip, strlen(skip)) == 0)
            return true;
    }
    return (skip[0] != 0 && strncmp(path, skip, strlen(skip)) == 0) ||
           strncmp(path, "/usr/", 5) == 0 || row->line == 0;
}

/* The program of a unit, whose opcodes produce the rows of the table, and its state. */
typedef struct {
    unsigned least, line_range, opcode_base;
    int line_base;
    bool statement;
    unsigned lengths[256]; /* the number of arguments of each opcode */
    Row row;
} Program;

/* Reads the header and moves the reader to the program; false if it is invalid. */
static bool read_header(const LineTable *table, Reader *r, unsigned offset_size, Program *program,
                        Files *files) {
    const unsigned version = (unsigned)read_fixed(r, 2);
    if (version < 2 || version > 5)
        return false;
    if (version >= 5)
        read_fixed(r, 2);
    const uint64_t header = read_fixed(r, offset_size);
    if (header > (uint64_t)(r->end - r->at))
        return false;
    const unsigned char *begin = r->at + header;
    memset(program, 0, sizeof *program);
    program->least = (unsigned)read_fixed(r, 1);
    if (version >= 4)
        read_fixed(r, 1);
    program->statement = read_fixed(r, 1) != 0;
    program->line_base = (signed char)read_fixed(r, 1);
    program->line_range = (unsigned)read_fixed(r, 1);
    program->opcode_base = (unsigned)read_fixed(r, 1);
    for (unsigned i = 1; i < program->opcode_base; i++)
        program->lengths[i] = (unsigned)read_fixed(r, 1);
    read_files(table, r, version, offset_size, files);
    r->at = begin;
    program->row = (Row){0, 1, 1, program->statement};
    return program->line_range != 0;
}

/* How an opcode affects the row. */
typedef enum { STEP_ON, STEP_ROW, STEP_END, STEP_DAMAGED } Step;

static Step extended_opcode(Program *self, Reader *r) {
    const uint64_t size = variable(r, false);
    if (size == 0 || size > (uint64_t)(r->end - r->at))
        return STEP_DAMAGED;
    const unsigned char *next = r->at + size;
    const unsigned opcode = (unsigned)read_fixed(r, 1);
    if (opcode == 2)
        self->row.address = read_fixed(r, (unsigned)(size - 1 <= 8 ? size - 1 : 8));
    r->at = next;
    return opcode == 1 ? STEP_END : STEP_ON;
}

static Step standard_opcode(Program *self, Reader *r, unsigned opcode) {
    Row *row = &self->row;
    switch (opcode) {
    case 1:
        return STEP_ROW;
    case 2:
        row->address += variable(r, false) * self->least;
        break;
    case 3:
        row->line = (unsigned)((int64_t)row->line + (int64_t)variable(r, true));
        break;
    case 4:
        row->file = (unsigned)variable(r, false);
        break;
    case 6:
        row->statement = !row->statement;
        break;
    case 8:
        row->address += (uint64_t)((255 - self->opcode_base) / self->line_range) * self->least;
        break;
    case 9:
        row->address += read_fixed(r, 2);
        break;
    default:
        for (unsigned i = 0; i < self->lengths[opcode]; i++)
            variable(r, false);
    }
    return STEP_ON;
}

static Step next_opcode(Program *self, Reader *r) {
    const unsigned opcode = (unsigned)read_fixed(r, 1);
    if (opcode >= self->opcode_base) {
        const unsigned adjusted = opcode - self->opcode_base;
        self->row.address += (uint64_t)(adjusted / self->line_range) * self->least;
        self->row.line =
            (unsigned)((int)self->row.line + self->line_base + (int)(adjusted % self->line_range));
        return STEP_ROW;
    }
    return opcode == 0 ? extended_opcode(self, r) : standard_opcode(self, r, opcode);
}

/* The state of a search for an address. */
typedef struct {
    uint64_t wanted;
    const char *skip;
    const Files *files;
    Row last, user;                      /* the previous row; the last row in the user's code */
    bool have_last, have_user, is_users; /* is_users: last is in the user's code */
    bool passed;                         /* the address was passed; take a later line of the
                                          * user's */
    Row found;
    bool exact;
} Search;

/* Processes a row. Returns true when the search is over, and found is set. */
static bool take_row(Search *self, const Row *row, bool end) {
    if (self->have_last && row->address > self->wanted && self->last.address <= self->wanted) {
        self->found = self->is_users ? self->last : self->user;
        self->exact = self->is_users;
        if (self->have_user)
            return true;
        self->passed = true;
    }
    if (end) {
        self->have_last = self->have_user = false;
        return false;
    }
    const bool is_users = !is_skipped(self->files, row, self->skip);
    if (self->passed && is_users) {
        self->found = *row;
        return true;
    }
    self->last = *row;
    self->have_last = true;
    self->is_users = is_users;
    if (is_users && (row->statement || !self->have_user || !self->user.statement)) {
        /* does not belong to an earlier statement that was moved into this one */
        self->user = *row;
        self->have_user = true;
    }
    return false;
}

/* Reads one unit of the section. Returns true if the address is in it; found is then set. */
static bool read_unit(const LineTable *table, const Reader *unit, unsigned offset_size,
                      Files *files, Search *search) {
    Reader r = *unit;
    Program program;
    if (!read_header(table, &r, offset_size, &program, files))
        return false;
    search->have_last = search->have_user = search->is_users = search->passed = false;
    while (r.at < r.end) {
        const Step step = next_opcode(&program, &r);
        if (step == STEP_DAMAGED)
            return false;
        if (step == STEP_ON)
            continue;
        if (take_row(search, &program.row, step == STEP_END))
            return true;
        if (step == STEP_END) {
            if (search->passed)
                return false;
            program.row = (Row){0, 1, 1, program.statement};
        }
    }
    return false;
}

bool line_table_find(const LineTable *table, uint64_t address, const char *skip, char *file,
                     size_t size, unsigned *line, bool *exact) {
    Reader r = {table->line, table->line + table->line_size};
    Files *files = malloc(sizeof *files);
    bool good = false;
    Search search = {.wanted = address, .skip = skip, .files = files};
    while (files != NULL && !good && r.end - r.at > 8) {
        unsigned offset_size = 4;
        uint64_t length = read_fixed(&r, 4);
        if (length == 0xffffffffu) {
            offset_size = 8;
            length = read_fixed(&r, 8);
        }
        if (length > (uint64_t)(r.end - r.at))
            break;
        Reader unit = {r.at, r.at + length};
        if (read_unit(table, &unit, offset_size, files, &search)) {
            path_of(files, search.found.file, file, size);
            *line = search.found.line;
            good = true;
        }
        r.at += length;
    }
    *exact = search.exact;
    free(files);
    return good;
}

void *line_table_copy(LineTable *out, const Elf *elf) {
    struct {
        const char *name;
        const unsigned char **data;
        size_t *size;
    } wanted[] = {
        {".debug_line", &out->line, &out->line_size},
        {".debug_line_str", &out->line_strings, &out->line_strings_size},
        {".debug_str", &out->strings, &out->strings_size},
    };
    size_t total = 0;
    unsigned char *block = NULL;
    memset(out, 0, sizeof *out);
    for (int pass = 0; pass < 2; pass++) {
        size_t used = 0;
        for (unsigned i = 0; i < elf->n_sections; i++) {
            const Elf64_Shdr *section = &elf->sections[i];
            for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
                if (strcmp(elf->section_names + section->sh_name, wanted[k].name) != 0 ||
                    section->sh_type == SHT_NOBITS || (section->sh_flags & SHF_COMPRESSED) ||
                    section->sh_offset > elf->size ||
                    section->sh_size > elf->size - section->sh_offset) {
                    continue;
                }
                if (pass == 1) {
                    memcpy(block + used, elf->image + section->sh_offset, section->sh_size);
                    *wanted[k].data = block + used;
                    *wanted[k].size = section->sh_size;
                }
                used += section->sh_size;
            }
        }
        if (pass == 0) {
            total = used;
            block = total > 0 ? malloc(total) : NULL;
            if (block == NULL)
                return NULL;
        }
    }
    return block;
}
