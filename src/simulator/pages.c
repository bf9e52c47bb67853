/* pages.c - where the memory of allocations comes from.
 *
 * Large blocks (and all in checked mode) are mappings of their own with a guard page on both sides and their end at the guard, so that a
 * kernel that runs past them is stopped; once freed, their addresses stay reserved for a while, so that its next use of them is stopped
 * too. Small ones are carved out of chunks by size class: the system allows a process only 65530 mappings. */
#include "driver.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SMALL 65536u         /* below this: size classes */
#define CHUNK (1024u * 1024u)
#define ALIGNMENT 512u       /* of every block, as GPUs' allocators give */
#define N_CLASSES 32
#define N_RESERVED 64        /* freed mappings whose addresses are kept */
#define HUGE (4u * 1024u * 1024u)

typedef struct Free { struct Free *next; } Free;
typedef struct { void *start; size_t size; } Range;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Free *classes[N_CLASSES];
static char *chunk, *chunk_end;
static Range reserved[N_RESERVED];
static size_t n_reserved;

static size_t page_size(void) {
    static size_t size;
    if (size == 0) {
        size = (size_t)sysconf(_SC_PAGESIZE);
    }
    return size;
}

static size_t round_up(size_t size, size_t step) {
    return (size + step - 1) / step * step;
}

/* Eight classes up to 4 KiB, then four for each power of two. */
static unsigned class_of(size_t size, size_t *class_size) {
    if (size <= 8 * ALIGNMENT) {
        *class_size = round_up(size, ALIGNMENT);
        return (unsigned)(*class_size / ALIGNMENT) - 1;
    }
    unsigned exponent = 63u - (unsigned)__builtin_clzll(size - 1); /* 2^exponent < size <= 2^(exponent + 1) */
    size_t step = (size_t)1 << (exponent - 2);
    *class_size = round_up(size, step);
    return 8 + (exponent - 12) * 4 + (unsigned)((*class_size >> (exponent - 2)) - 5);
}

static bool is_small(size_t size) {
    return size < SMALL && !sim_checked();
}

size_t sim_pages_rounded(size_t size) {
    size_t rounded;
    if (is_small(size)) {
        (void)class_of(size, &rounded);
    } else {
        rounded = round_up(size, page_size());
    }
    return rounded;
}

static void *small_alloc(size_t size) {
    size_t class_size;
    unsigned number = class_of(size, &class_size);
    pthread_mutex_lock(&lock);
    Free *block = classes[number];
    if (block != NULL) {
        classes[number] = block->next;
    } else {
        if ((size_t)(chunk_end - chunk) < class_size) { /* what is left of the old chunk is given up: under 6 % */
            void *fresh = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (fresh == MAP_FAILED) {
                pthread_mutex_unlock(&lock);
                return NULL;
            }
            chunk = fresh;
            chunk_end = chunk + CHUNK;
        }
        block = (Free *)(void *)chunk;
        chunk += class_size;
    }
    pthread_mutex_unlock(&lock);
    return block;
}

void *sim_pages_alloc(size_t size) {
    if (is_small(size)) {
        return small_alloc(size);
    }
    size_t page = page_size(), inside = round_up(size, page);
    if (inside < size || inside > SIZE_MAX / 2) {
        return NULL;
    }
    char *start = mmap(NULL, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) {
        return NULL;
    }
    if (mprotect(start + page, inside, PROT_READ | PROT_WRITE) != 0) {
        munmap(start, inside + 2 * page);
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    if (inside >= HUGE) {
        (void)madvise(start + page, inside, MADV_HUGEPAGE);
    }
#endif
    char *base = start + page + (inside - round_up(size, ALIGNMENT));
    if (sim_checked()) {
        memset(base, 0xff, size); /* NaN, and no plausible index: what a GPU's memory holds at first is anything */
    }
    return base;
}

void sim_pages_free(void *base, size_t size) {
    if (is_small(size)) {
        size_t class_size;
        unsigned number = class_of(size, &class_size);
        Free *block = base;
        pthread_mutex_lock(&lock);
        block->next = classes[number];
        classes[number] = block;
        pthread_mutex_unlock(&lock);
        return;
    }
    size_t page = page_size(), whole = round_up(size, page) + 2 * page;
    char *start = (char *)((uintptr_t)base / page * page - page);
    /* Replaced in one step: no other mapping can slip in between. */
    if (mmap(start, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
        munmap(start, whole);
        return;
    }
    pthread_mutex_lock(&lock);
    Range *slot = &reserved[n_reserved++ % N_RESERVED], old = *slot;
    *slot = (Range){start, whole};
    pthread_mutex_unlock(&lock);
    if (old.start != NULL) {
        munmap(old.start, old.size);
    }
}

bool sim_memory_readable(const void *address, size_t size) {
    if (address == NULL) {
        return false;
    }
    size_t page = page_size();
    uintptr_t first = (uintptr_t)address / page * page, last = (uintptr_t)address + size;
    if (last < (uintptr_t)address) {
        return false;
    }
    /* msync says ENOMEM where nothing is mapped, and does nothing to memory without a file. */
    return msync((void *)first, last - first, MS_ASYNC) == 0;
}
