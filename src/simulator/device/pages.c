/* pages.c - the memory of allocations.
 *
 * Large blocks (in checked mode, all blocks) are separate mappings that end at a guard page and
 * begin after one, so that a kernel that runs past them is stopped. Their addresses stay reserved
 * for a while after they are freed, which also stops a kernel that still uses them. Small blocks
 * are carved out of one region by size class, because the system allows a process only 65530
 * mappings. For the same reason, after the first 15000 mappings, blocks of up to 64 MiB come from
 * the region too, without guards. Small memory that the host uses also gets separate mappings:
 * when it is freed, for instance with its context, the host can no longer access it, as with a
 * GPU's driver. */
#include "simulator/device/pages.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SMALL 65536u /* smaller blocks have size classes */
#define CHUNK (1024u * 1024u)
#define REGION \
    ((size_t)1 \
     << 38) /* reserved addresses for small blocks; fewer if the system does not allow so many */
#define MAX_GUARDED   15000u /* blocks with separate mappings: each needs up to three */
#define ALIGNMENT     512u   /* of every block, as with GPUs' allocators */
#define N_CLASSES     72     /* up to this size [bytes]: */
#define LARGEST_CLASS ((size_t)1 << 26)
#define N_RESERVED    64 /* freed mappings whose addresses stay reserved */
#define HUGE          (4u * 1024u * 1024u)

/* The free blocks of a class. They are not linked through the blocks themselves, which a kernel
 * may overwrite after they are freed. */
typedef struct {
    void **list;
    size_t n, room;
} Free;
typedef struct {
    void *start;
    size_t size;
} Range;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Free classes[N_CLASSES];
static _Atomic(char *) region, region_end; /* written once, under the lock */
static char *fresh, *fresh_end;            /* usable, not yet allocated */
static _Atomic unsigned n_guarded;
static Range reserved[N_RESERVED];
static size_t n_reserved;

static size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t round_up(size_t size, size_t step) {
    return (size + step - 1) / step * step;
}

/* Eight classes up to 4 KiB, then four per power of two. */
static unsigned class_of(size_t size, size_t *class_size) {
    if (size <= 8 * ALIGNMENT) {
        *class_size = round_up(size, ALIGNMENT);
        return (unsigned)(*class_size / ALIGNMENT) - 1;
    }
    unsigned exponent =
        63u - (unsigned)__builtin_clzll(size - 1); /* 2^exponent < size <= 2^(exponent + 1) */
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

/* Makes size more bytes of the region usable, at least a chunk. Needs the lock. */
static bool extend_region(size_t wanted) {
    wanted = round_up(wanted, CHUNK);
    for (size_t size = REGION; region == NULL && size >= (size_t)1 << 30; size /= 2) {
        void *start =
            mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (start != MAP_FAILED) {
            fresh = fresh_end = start;
            region = fresh;
            region_end = fresh + size;
        }
    }
    if (region == NULL || (size_t)(region_end - fresh_end) < wanted ||
        mprotect(fresh_end, wanted, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    fresh_end += wanted; /* adjacent to the one before: the system merges them into one mapping */
    return true;
}

bool sim_pages_own(const void *address) {
    return (const char *)address >= atomic_load(&region) &&
           (const char *)address < atomic_load(&region_end);
}

static void *class_alloc(size_t size) {
    size_t class_size;
    unsigned number = class_of(size, &class_size);
    pthread_mutex_lock(&lock);
    Free *unused = &classes[number];
    void *block;
    if (unused->n > 0) {
        block = unused->list[--unused->n];
    } else {
        if ((size_t)(fresh_end - fresh) < class_size && !extend_region(class_size)) {
            pthread_mutex_unlock(&lock);
            return NULL;
        }
        block = fresh;
        fresh += class_size;
    }
    pthread_mutex_unlock(&lock);
    return block;
}

/* Releases the addresses of freed mappings, which count towards the process's limit (RLIMIT_AS).
 * Returns false if there were none. */
static bool release_reserved(void) {
    Range ranges[N_RESERVED];
    pthread_mutex_lock(&lock);
    memcpy(ranges, reserved, sizeof(ranges));
    memset(reserved, 0, sizeof(reserved));
    pthread_mutex_unlock(&lock);
    bool any = false;
    for (size_t i = 0; i < N_RESERVED; i++) {
        if (ranges[i].start != NULL) {
            munmap(ranges[i].start, ranges[i].size);
            any = true;
        }
    }
    return any;
}

static void *guarded_alloc(size_t size) {
    size_t page = page_size(), inside = round_up(size, page);
    if (inside < size || inside > SIZE_MAX / 2) {
        return NULL;
    }
    char *start = mmap(NULL, inside + 2 * page, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
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
    return start + page + (inside - round_up(size, ALIGNMENT));
}

static void *counted_guarded_alloc(size_t size) {
    void *base = atomic_fetch_add(&n_guarded, 1) < MAX_GUARDED || size > LARGEST_CLASS
                     ? guarded_alloc(size)
                     : NULL;
    if (base == NULL) {
        atomic_fetch_sub(&n_guarded, 1);
    }
    return base;
}

/* Allocates a mapping or from the region, and the other way if that fails: a process with limited
 * addresses may have no region. */
static void *alloc_with_fallback(size_t size, bool from_region) {
    void *base = from_region ? class_alloc(size) : counted_guarded_alloc(size);
    if (base == NULL && (from_region || size <= LARGEST_CLASS)) {
        base = from_region ? counted_guarded_alloc(size) : class_alloc(size);
    }
    return base;
}

void *sim_pages_alloc(size_t size, bool apart) {
    bool from_region = is_small(size) && !apart;
    void *base = alloc_with_fallback(size, from_region);
    if (base == NULL && release_reserved()) {
        base = alloc_with_fallback(size, from_region);
    }
    if (from_region) {
        return base;
    }
    if (base != NULL && sim_checked()) {
        memset(
            base, 0xff,
            size); /* NaN, and an implausible index: on a GPU the initial contents are arbitrary */
    }
    return base;
}

void sim_pages_free(void *base, size_t size) {
    if (sim_pages_own(base)) {
        size_t class_size;
        unsigned number = class_of(size, &class_size);
        if (size >= SMALL) {
            (void)madvise(base, class_size / page_size() * page_size(),
                          MADV_DONTNEED); /* fails harmlessly if it does not begin at a page */
        }
        pthread_mutex_lock(&lock);
        Free *unused = &classes[number];
        if (unused->n == unused->room) {
            size_t room = 2 * unused->room + 16;
            void **list = realloc(unused->list, room * sizeof(*list));
            unused->list = list != NULL ? list : unused->list;
            unused->room = list != NULL ? room : unused->room;
        }
        if (unused->n < unused->room) { /* else the block is lost, which no longer matters then */
            unused->list[unused->n++] = base;
        }
        pthread_mutex_unlock(&lock);
        return;
    }
    atomic_fetch_sub(&n_guarded, 1);
    size_t page = page_size(), whole = round_up(size, page) + 2 * page;
    char *start = (char *)((uintptr_t)base / page * page - page);
    /* Replaces the mapping in one step, so that no other one can take its place. */
    if (mmap(start, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == MAP_FAILED) {
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
