/* module.c - images loaded into the process: the kernels and variables of a shared object made by
 * compiler.c.
 *
 * Each load has its own variables, so each needs a file of its own, since the system's loader
 * identifies files by name. The names of kernels and variables come from the object's full symbol
 * table; it exports nothing. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulator/compiler/compiler.h"
#include "simulator/device/module.h"
#include "simulator/image/dwarf.h"
#include "simulator/image/elf.h"

typedef struct {
    const char *name;
    uintptr_t address;
    size_t size;
} Variable;

struct SimModule {
    uint64_t number;
    SimOwner owner;
    void *object;
    uintptr_t base, text, text_end, end;
    size_t shared; /* static shared memory of all kernels together; for one kernel:
                    * SimKernel.shared */
    char *names;
    SimKernel *kernels;
    size_t n_kernels;
    Variable *variables;
    size_t n_variables;
    Variable *shared_variables; /* their addresses are offsets in the static shared memory */
    size_t n_shared;
    const SimDynamic *const *dynamic;
    size_t n_dynamic;
    LineTable lines;
    void *lines_block;
    void *image; /* as loaded, for messages */
    size_t image_size;
    char path[300];       /* of the image, if it was kept */
    unsigned char unset;  /* the byte with which uninitialized locals are filled */
    unsigned unset_least; /* how many such bytes count as uninitialized */
};

static void module_free(SimModule *module) {
    for (size_t i = 0; i < module->n_variables; i++)
        sim_memory_free(module->variables[i].address, SIM_VARIABLE);
    if (module->object != NULL)
        dlclose(module->object);
    if (module->path[0] != 0)
        unlink(module->path);
    free(module->kernels);
    free(module->variables);
    free(module->shared_variables);
    free(module->names);
    free(module->lines_block);
    free(module->image);
    free(module);
}

static bool ours(const char *name) {
    return strncmp(name, "sim_", 4) == 0 || strncmp(name, "_ZL4sim_", 8) == 0 ||
           strstr(name, "SimKernel") != NULL || strstr(name, "SimLoops") != NULL ||
           name[0] == '.' || strncmp(name, "_ZTV", 4) == 0 || strncmp(name, "_ZTI", 4) == 0 ||
           strncmp(name, "_ZTS", 4) == 0 || strncmp(name, "_ZZ", 3) == 0 ||
           strncmp(name, "_ZGV", 4) == 0 || strncmp(name, "_DYNAMIC", 8) == 0 ||
           strncmp(name, "_GLOBAL_", 8) == 0;
}

static CUresult find_variables(SimModule *module, const Elf *elf) {
    size_t n = 0;
    for (size_t i = 0; i < elf->n_symbols; i++)
        n += ELF64_ST_TYPE(elf->symbols[i].st_info) == STT_OBJECT;
    module->variables = calloc(n + 1, sizeof(Variable));
    if (module->variables == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < elf->n_symbols; i++) {
        const Elf64_Sym *symbol = &elf->symbols[i];
        const char *name = elf_symbol_name(elf, symbol);
        if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_shndx == SHN_UNDEF ||
            symbol->st_size == 0 || ours(name))
            continue;
        Variable *variable = &module->variables[module->n_variables];
        *variable = (Variable){module->names + (name - elf->names), module->base + symbol->st_value,
                               symbol->st_size};
        if (sim_memory_adopt(module->owner, variable->address, variable->size, SIM_VARIABLE, 0) ==
            CUDA_SUCCESS)
            module->n_variables++;
    }
    return CUDA_SUCCESS;
}

/* Finds the variables in static shared memory, which is thread-local storage, for messages. */
static void find_shared(SimModule *module, const Elf *elf) {
    size_t n = 0;
    for (size_t i = 0; i < elf->n_symbols; i++)
        n += ELF64_ST_TYPE(elf->symbols[i].st_info) == STT_TLS;
    module->shared_variables = calloc(n + 1, sizeof(Variable));
    for (size_t i = 0; module->shared_variables != NULL && i < elf->n_symbols; i++) {
        const Elf64_Sym *symbol = &elf->symbols[i];
        if (ELF64_ST_TYPE(symbol->st_info) != STT_TLS)
            continue;
        module->shared_variables[module->n_shared++] =
            (Variable){module->names + (elf_symbol_name(elf, symbol) - elf->names),
                       symbol->st_value, symbol->st_size};
    }
}

/* Extracts "s" from _ZZ4kernelE1s: the text after the last length that fits. */
static void plain_name(const char *mangled, char *out, size_t size) {
    const size_t n = strlen(mangled);
    for (size_t i = n; strncmp(mangled, "_Z", 2) == 0 && i-- > 2;) {
        if (mangled[i] < '0' || mangled[i] > '9')
            continue;
        while (mangled[i - 1] >= '0' && mangled[i - 1] <= '9')
            i--;
        char *end;
        const unsigned long length = strtoul(mangled + i, &end, 10);
        if (length > 0 && length <= strlen(end) && (strlen(end) == length || end[length] == '_')) {
            snprintf(out, size, "%.*s", (int)length, end);
            return;
        }
    }
    snprintf(out, size, "%s", mangled);
}

void sim_module_shared_name(const SimModule *module, size_t *offset, char *text, size_t size) {
    snprintf(text, size, "static shared memory");
    for (size_t i = 0; i < module->n_shared; i++) {
        const Variable *variable = &module->shared_variables[i];
        if (*offset - variable->address < variable->size) {
            char name[200];
            plain_name(variable->name, name, sizeof name);
            snprintf(text, size, "'%s'", name);
            *offset -= variable->address;
            return;
        }
    }
}

unsigned char sim_module_unset(const SimModule *module, unsigned *least) {
    *least = module->unset_least;
    return module->unset;
}

/* Whether a variable is local to the kernel with that symbol. The variable's name contains the
 * name of the kernel's function, sim_v_NAME, which has parameters before the kernel's own:
 * _ZZ7sim_v_fILi2EEv5uint3...E1s belongs to _Z1fILi2EEvPf, _ZZ7sim_v_gE1s to g. Overloads are not
 * distinguished. */
static bool is_local_to(const char *variable, const char *kernel) {
    static const char renamed[] = "sim_v_";
    const char *name = strncmp(variable, "_ZZ", 3) == 0 ? strstr(variable, renamed) : NULL,
               *digits = name;
    char *text, *begin = NULL, *end;
    if (name == NULL)
        return false;
    while (digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    const size_t skipped = sizeof renamed - 1, length = strtoul(digits, &text, 10);
    if (text != name || length <= skipped || length > strlen(name))
        return false;
    name += skipped;
    if (strncmp(kernel, "_Z", 2) != 0)
        return strlen(kernel) == length - skipped && strncmp(kernel, name, length - skipped) == 0;
    if (asprintf(&begin, "_Z%.*s%zu%s", (int)(digits - variable - 3), variable + 3,
                 length - skipped, name) < 0)
        return false;
    if ((end = strstr(begin, "8SimBlock")) == NULL)
        end = strstr(begin, "5uint3"); /* where the parameters begin */
    const bool same = end != NULL && strncmp(begin, kernel, (size_t)(end - begin)) == 0;
    free(begin);
    return same;
}

/* Counts each kernel's own variables, and those that belong to no kernel, because it may call the
 * functions that declare them. */
static void count_shared(SimModule *module) {
    for (size_t i = 0; i < module->n_shared; i++) {
        const Variable *variable = &module->shared_variables[i];
        bool owned = false;
        for (size_t k = 0; k < module->n_kernels; k++)
            owned = owned || is_local_to(variable->name, module->kernels[k].name);
        for (size_t k = 0; k < module->n_kernels; k++) {
            SimKernel *kernel = &module->kernels[k];
            if (!owned || is_local_to(variable->name, kernel->name))
                kernel->shared += (variable->size + 3) / 4 * 4;
        }
    }
    for (size_t k = 0; k < module->n_kernels; k++) {
        SimKernel *kernel = &module->kernels[k];
        kernel->max_dynamic =
            (int)(SIM_SHARED_DEFAULT - (kernel->shared < SIM_SHARED_DEFAULT ? kernel->shared : 0));
    }
}

static CUresult find_kernels(SimModule *module, const Elf *elf) {
    uint64_t address = 0, size = 0;
    if (!elf_section(elf, "sim_kernels", &address, &size))
        return CUDA_SUCCESS;
    const SimEntry *const *entries = (const SimEntry *const *)(module->base + address);
    const size_t n = size / sizeof *entries;
    module->kernels = calloc(n + 1, sizeof(SimKernel));
    if (module->kernels == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < n; i++) {
        if (entries[i] == NULL)
            continue;
        const Elf64_Sym *symbol =
            elf_symbol_at(elf, (uintptr_t)entries[i]->function - module->base);
        if (symbol == NULL)
            continue;
        SimKernel *kernel = &module->kernels[module->n_kernels++];
        *kernel = (SimKernel){.entry = entries[i],
                              .module = module,
                              .name = module->names + (elf_symbol_name(elf, symbol) - elf->names),
                              .carveout = -1};
    }
    count_shared(module);
    return CUDA_SUCCESS;
}

static void find_segments(SimModule *module, const Elf *elf) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)elf->image;
    for (unsigned i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr segment;
        if (head->e_phoff + (i + 1) * sizeof segment > elf->size)
            return;
        memcpy(&segment, elf->image + head->e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD &&
            module->base + segment.p_vaddr + segment.p_memsz > module->end) {
            module->end = module->base + segment.p_vaddr + segment.p_memsz;
        }
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X)) {
            module->text = module->base + segment.p_vaddr;
            module->text_end = module->text + segment.p_memsz;
        } else if (segment.p_type == PT_TLS) {
            module->shared = segment.p_memsz;
        }
    }
}

static CUresult load_object(SimModule *module, const void *image, size_t size) {
    char path[256];
    CUresult status = compiler_temporary_file(path, sizeof path, ".so", image, size);
    if (status != CUDA_SUCCESS)
        return status;
    module->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (sim_debug())
        snprintf(module->path, sizeof module->path, "%s", path);
    else
        unlink(path);
    if (module->object == NULL) {
        const char *text = dlerror();
        const bool missing = text != NULL &&
                             strstr(text, "undefined symbol") != NULL; /* defined by another
                                                                        * program, with -rdc=true */
        return sim_fail(missing ? CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND
                                : CUDA_ERROR_INVALID_IMAGE,
                        "the image cannot be loaded: %s", text != NULL ? text : "?");
    }
    struct link_map *map = NULL;
    if (dlinfo(module->object, RTLD_DI_LINKMAP, &map) != 0 || map == NULL)
        return CUDA_ERROR_INVALID_IMAGE;
    module->base = map->l_addr;
    sim_thread_module();
    return CUDA_SUCCESS;
}

static CUresult load(SimModule *module, const void *image, size_t size) {
    Elf elf;
    if (!elf_open(&elf, image, size))
        return sim_fail(CUDA_ERROR_INVALID_IMAGE, "the image is damaged");
    uint64_t address, bytes;
    if (!elf_section(&elf, "sim_abi", &address, &bytes)) {
        return sim_fail(
            CUDA_ERROR_INVALID_IMAGE,
            "the image is a shared object, but not one that the simulator's compiler made");
    }
    unsigned abi = SIM_ABI; /* one for each program that was linked */
    bool readable = bytes >= sizeof abi;
    for (uint64_t at = 0; at + sizeof abi <= bytes && readable && abi == SIM_ABI; at += sizeof abi)
        readable = elf_bytes_at(&elf, address + at, &abi, sizeof abi);
    if (!readable || abi != SIM_ABI) {
        return sim_fail(CUDA_ERROR_NO_BINARY_FOR_GPU,
                        "the image was made by another version of the simulator (%u, this is %u): "
                        "compile it again",
                        abi, SIM_ABI);
    }
    if (!seal_holds(&elf))
        return sim_fail(CUDA_ERROR_INVALID_IMAGE,
                        "the image is damaged: it is no longer what the compiler made");
    module->names = malloc(elf.names_size);
    if (module->names == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(module->names, elf.names, elf.names_size);
    CUresult status = load_object(module, image, elf.size);
    if (status != CUDA_SUCCESS)
        return status;
    find_segments(module, &elf);
    if ((module->image = malloc(elf.size)) != NULL)
        memcpy(module->image, image, module->image_size = elf.size);
    module->unset =
        memmem(image, elf.size, "clang version", 13) != NULL ? 0xaa : 0xfe; /* as .comment says */
    module->unset_least = elf_section(&elf, "sim_unset", &address, &bytes) &&
                                  memmem(image, elf.size, UNSET_MARK "4", sizeof UNSET_MARK) == NULL
                              ? 8
                              : 4;
    find_shared(module, &elf);
    module->lines_block = line_table_copy(&module->lines, &elf);
    if (elf_section(&elf, "sim_dynamic", &address, &bytes)) {
        module->dynamic = (const SimDynamic *const *)(module->base + address);
        module->n_dynamic = bytes / sizeof *module->dynamic;
    }
    if ((status = find_variables(module, &elf)) != CUDA_SUCCESS)
        return status;
    return find_kernels(module, &elf);
}

CUresult sim_module_load(SimOwner owner, const void *image, size_t size, SimModule **out) {
    void *decoded = NULL;
    const void *object = image;
    size_t bytes = elf_size(image, size);
    if (bytes == 0) {
        CUresult status = compiler_decode_text(image, size, &decoded, &bytes);
        if (status != CUDA_SUCCESS)
            return status;
        object = decoded;
    } else if ((uintptr_t)image % 8 != 0) { /* a bytes object may be unaligned */
        if ((decoded = malloc(bytes)) == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        memcpy(decoded, image, bytes);
        object = decoded;
    }
    SimModule *module = calloc(1, sizeof *module);
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;
    if (module != NULL) {
        static uint64_t last;
        module->number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
        module->owner = owner;
        status = load(module, object, bytes);
        if (status == CUDA_SUCCESS)
            *out = module;
        else
            module_free(module);
    }
    free(decoded);
    return status;
}

void sim_module_unload(SimModule *module) {
    module_free(module);
}

/* Whether this is the mangled name of a template's variable in the simulator's sim_launch.h. */
static int is_of_launch(const char *name) {
    return strncmp(name, "_ZN10SimRegionsI", 16) == 0 || strncmp(name, "_ZN8SimLoopsI", 13) == 0 ||
           strncmp(name, "_ZN9SimKernelI", 14) == 0;
}

/* "a, b" for messages */
static void list_names(char *text, size_t size, size_t n,
                       const char *(*name)(const SimModule *, size_t), const SimModule *module) {
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < n && used + 1 < size; i++) {
        const char *one = name(module, i);
        if (strncmp(one, "_ZL", 3) ==
            0) { /* static and const variables: strip the mangling; skip the simulator's own */
            one += 3 + strspn(one + 3, "0123456789");
        }
        if (strncmp(one, "__sim", 5) == 0 || is_of_launch(one))
            continue;
        int more = snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", one);
        used += more > 0 ? (size_t)more : 0;
    }
}

static const char *kernel_name(const SimModule *module, size_t i) {
    return module->kernels[i].name;
}

static const char *variable_name(const SimModule *module, size_t i) {
    return module->variables[i].name;
}

CUresult sim_module_kernel(SimModule *module, const char *name, SimKernel **out) {
    for (size_t i = 0; i < module->n_kernels; i++) {
        if (strcmp(module->kernels[i].name, name) == 0) {
            *out = &module->kernels[i];
            return CUDA_SUCCESS;
        }
    }
    char names[800];
    list_names(names, sizeof names, module->n_kernels, kernel_name, module);
    return sim_fail(CUDA_ERROR_NOT_FOUND, "the module has: %s", names[0] != 0 ? names : "none");
}

CUresult sim_module_variable(SimModule *module, const char *name, uintptr_t *address,
                             size_t *size) {
    char local[256]; /* static and const variables, which C++ compilers mangle this way */
    snprintf(local, sizeof local, "_ZL%zu%s", strlen(name), name);
    for (size_t i = 0; i < module->n_variables; i++) {
        const Variable *variable = &module->variables[i];
        if (strcmp(variable->name, name) == 0 || strcmp(variable->name, local) == 0) {
            if (address != NULL)
                *address = variable->address;
            if (size != NULL)
                *size = variable->size;
            return CUDA_SUCCESS;
        }
    }
    char names[800];
    list_names(names, sizeof names, module->n_variables, variable_name, module);
    return sim_fail(CUDA_ERROR_NOT_FOUND, "the module has: %s", names[0] != 0 ? names : "none");
}

/* ---- kernels --------------------------------------------------------------------------------- */

const char *sim_kernel_name(const SimKernel *kernel) {
    return kernel->name;
}

int sim_kernel_n_params(const SimKernel *kernel) {
    return (int)kernel->entry->n_params;
}

void sim_kernel_param(const SimKernel *kernel, int index, size_t *offset, size_t *size) {
    const SimEntry *entry = kernel->entry;
    size_t at = 0;
    for (unsigned i = 0; i <= (unsigned)index && i < entry->n_params; i++) {
        const size_t alignment = entry->sizes[entry->n_params + 1 + i];
        at = (at + alignment - 1) / alignment * alignment;
        *offset = at;
        *size = entry->sizes[i];
        at += *size;
    }
}

/* Whether a kernel runs as loops between its barriers; otherwise threads that wait are fibers. */
int sim_kernel_in_regions(const SimKernel *kernel) {
    return kernel->entry->regions && kernel->entry->block != NULL;
}

/* Registers and similar values are made up so that programs which decide by them work as on a
 * GPU. */
CUresult sim_kernel_attribute(const SimKernel *kernel, CUfunction_attribute attribute, int *value) {
    const int arch = sim_architecture();
    switch (attribute) {
    case 0:
        *value = kernel->entry->max_threads != 0 ? (int)kernel->entry->max_threads
                                                 : (int)SIM_MAX_THREADS;
        break;
    case 1:
        *value = (int)kernel->shared;
        break; /* SHARED_SIZE_BYTES */
    case 2:
        *value = 0;
        break; /* CONST_SIZE_BYTES */
    case 3:
        *value = 0;
        break; /* LOCAL_SIZE_BYTES */
    case 4:
        *value = 32;
        break; /* NUM_REGS */
    case 5:
    case 6:
        *value = arch;
        break; /* PTX_VERSION, BINARY_VERSION */
    case 7:
        *value = 0;
        break; /* CACHE_MODE_CA */
    case 8:
        *value = kernel->max_dynamic;
        break;
    case 9:
        *value = kernel->carveout;
        break;
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
    case 15:
        *value = 0;
        break; /* clusters */
    default:
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "no attribute %d of a function", attribute);
    }
    return CUDA_SUCCESS;
}

CUresult sim_kernel_set_attribute(SimKernel *kernel, CUfunction_attribute attribute, int value) {
    if (attribute == 8) {
        if (value < 0 || (size_t)value + kernel->shared > SIM_SHARED_MOST) {
            return sim_fail(CUDA_ERROR_INVALID_VALUE,
                            "MAX_DYNAMIC_SHARED_SIZE_BYTES %d, and %zu of static shared memory; at "
                            "most %u in all",
                            value, kernel->shared, SIM_SHARED_MOST);
        }
        kernel->max_dynamic = value;
    } else if (attribute == 9) {
        if (value < -1 || value > 100)
            return sim_fail(CUDA_ERROR_INVALID_VALUE,
                            "PREFERRED_SHARED_MEMORY_CARVEOUT %d; -1 to 100 per cent", value);
        kernel->carveout = value;
    } else {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "attribute %d of a function cannot be set",
                        attribute);
    }
    return CUDA_SUCCESS;
}

/* ---- for exec/ ------------------------------------------------------------------------------- */

extern void *__tls_get_addr(size_t *module_and_offset); /* from the system's loader */

bool sim_module_ready(const SimModule *module) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    size_t tls_index[2] = {0, 0};
    void *block = NULL;
    if (module->shared == 0 || dlinfo(module->object, RTLD_DI_TLS_MODID, &tls_index[0]) != 0)
        return true;
    if (dlinfo(module->object, RTLD_DI_TLS_DATA, &block) == 0 && block != NULL)
        return true;
    pthread_mutex_lock(&lock); /* so that no other worker takes the free memory */
    const bool room = sim_thread_room(module->shared + 4096);
    if (room)
        (void)__tls_get_addr(tls_index);
    pthread_mutex_unlock(&lock);
    return room;
}

uint64_t sim_module_number(const SimModule *module) {
    return module->number;
}

void sim_module_enter(const SimModule *module, char *dynamic) {
    for (size_t i = 0; i < module->n_dynamic; i++) {
        if (module->dynamic[i] != NULL)
            module->dynamic[i]->set(dynamic);
    }
}

unsigned sim_module_pointers(const SimModule *module, char *dynamic, uintptr_t *out,
                             unsigned most) {
    unsigned n = 0;
    for (size_t i = 0; i < module->n_dynamic && n < most; i++) {
        if (module->dynamic[i] != NULL)
            out[n++] = (uintptr_t)module->dynamic[i]->set(dynamic);
    }
    return n;
}

bool sim_module_contains(const SimModule *module, uintptr_t pc) {
    return pc >= module->text && pc < module->text_end;
}

const LineTable *sim_module_lines(const SimModule *module, uintptr_t *base) {
    *base = module->base;
    return &module->lines;
}

bool sim_module_image(const SimModule *module, uintptr_t address) {
    return address >= module->base && address < module->end;
}

uintptr_t sim_module_shared(const SimModule *module, size_t *size) {
    void *block = NULL;
    *size = module->shared;
    return module->shared > 0 && dlinfo(module->object, RTLD_DI_TLS_DATA, &block) == 0
               ? (uintptr_t)block
               : 0;
}

const void *sim_module_image_copy(const SimModule *module, size_t *size) {
    *size = module->image_size;
    return module->image;
}
