/* thread.c - allocates thread-local storage without the risk that the process ends.
 *
 * The system's loader allocates the storage of libraries that are loaded late (this one, and each
 * module with static shared memory) when a thread first touches it. Without memory at that time,
 * it ends the process. So each thread first allocates as much memory, frees it, and touches the
 * storage at once. */
#include "simulator/sim.h"

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SLACK ((size_t)8192) /* for the loader's and malloc's own use [bytes] */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* the thread's value: how many modules there were when it was prepared */
static bool has_key;
static size_t own_size;
static _Thread_local volatile bool touched; /* in this library's storage, which is one block */
static _Atomic uintptr_t modules =
    1; /* loaded so far: each may lengthen a thread's table of modules */

static int find_size(struct dl_phdr_info *info, size_t size, void *unused) {
    const uintptr_t here = (uintptr_t)&find_size;
    size_t storage = 0;
    bool ours = false;
    (void)size;
    (void)unused;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_TLS)
            storage = segment->p_memsz;
        ours = ours || (segment->p_type == PT_LOAD && here - start < segment->p_memsz);
    }
    if (ours)
        own_size = storage;
    return ours;
}

static void begin(void) {
    own_size = 65536;
    dl_iterate_phdr(find_size, NULL);
    has_key = pthread_key_create(&key, NULL) == 0;
}

bool sim_thread_room(size_t size) {
    const size_t table = 64 * atomic_load_explicit(&modules, memory_order_relaxed);
    void *volatile room = malloc(size + table + SLACK);
    free(room);
    return room != NULL;
}

void sim_thread_module(void) {
    atomic_fetch_add_explicit(&modules, 1, memory_order_relaxed);
}

bool sim_thread_ready(void) {
    pthread_once(&once, begin);
    const uintptr_t now = atomic_load_explicit(&modules, memory_order_relaxed);
    if (has_key && (uintptr_t)pthread_getspecific(key) == now) {
        return true;
    }
    if (!sim_thread_room(own_size)) {
        return false;
    }
    touched = true;
    if (has_key) {
        (void)pthread_setspecific(key, (void *)now);
    }
    return true;
}
