/* handle.c - handles: numbers that show whether their object still exists.
 *
 * A handle consists of an index into a table, the type and a generation. It is never an address,
 * so a stale or invented handle is detected instead of followed. A lookup is a single
 * compare-and-exchange on the entry, which also takes a reference; launches need no lock. */
#include "simulator/driver/context.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/work.h"

#include <sys/mman.h>

/* At most 4 Mi live objects; the table is reserved as a whole, and the system provides pages as
 * they are used. */
#define INDEX_BITS      22
#define TYPE_BITS       4
#define GENERATION_BITS 28
/* Zero, so that handles look aligned and differ from the special streams 1 and 2. */
#define LOW_BITS 4

/* state: generation << 32 | alive << 31 | references */
#define ALIVE      (1ull << 31)
#define REFERENCES (ALIVE - 1)

typedef struct {
    _Atomic uint64_t state;
    _Atomic(SimObject *) object;
} Entry;

static Entry *table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the list of free entries */
static uint32_t n_used = 1, first_free, *next_free;

static size_t index_of(uintptr_t handle) {
    return (handle >> LOW_BITS) & ((1u << INDEX_BITS) - 1);
}

static void *reserve(size_t size) {
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static uint32_t entry_new(void) {
    uint32_t index = 0;
    pthread_mutex_lock(&lock);
    if (table == NULL) {
        next_free = reserve(sizeof(*next_free) << INDEX_BITS);
        Entry *entries = next_free != NULL ? reserve(sizeof(*table) << INDEX_BITS) : NULL;
        __atomic_store_n(&table, entries, __ATOMIC_RELEASE);
    }
    if (table != NULL && first_free != 0) {
        index = first_free;
        first_free = next_free[index];
    } else if (table != NULL && n_used < 1u << INDEX_BITS) {
        index = n_used++;
    }
    pthread_mutex_unlock(&lock);
    return index;
}

static void entry_free(uint32_t index) {
    pthread_mutex_lock(&lock);
    next_free[index] = first_free;
    first_free = index;
    pthread_mutex_unlock(&lock);
}

CUresult sim_object_open(void *op, SimType type, SimContext *context, void (*free)(void *self)) {
    SimObject *object = op;
    uint32_t index = entry_new();
    if (index == 0) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY,
                        "too many objects (contexts, streams, events, ...) live at once");
    }
    Entry *entry = &table[index];
    uint64_t generation = (atomic_load(&entry->state) >> 32) + 1;
    if (generation >= 1u << GENERATION_BITS) {
        generation = 1;
    }
    object->type = type;
    object->free = free;
    object->handle = (uintptr_t)(generation << (LOW_BITS + INDEX_BITS + TYPE_BITS) |
                                 (uint64_t)type << (LOW_BITS + INDEX_BITS) |
                                 (uint64_t)index << LOW_BITS);
    atomic_store(&entry->object, object);
    object->context = NULL;
    object->next = object->previous = NULL;
    /* Set before the context knows of it: a context that is being destroyed skips objects that
     * seem to be closing already. */
    atomic_store(&entry->state, generation << 32 | ALIVE | 2);
    if (context != NULL) {
        pthread_mutex_lock(&context->lock);
        if (context->dead) {
            pthread_mutex_unlock(&context->lock);
            atomic_store(&entry->state, generation << 32);
            entry_free(index);
            return sim_fail(CUDA_ERROR_CONTEXT_IS_DESTROYED,
                            "the context was destroyed by another thread");
        }
        object->context = sim_object_keep(context);
        object->next = context->children;
        if (object->next != NULL) {
            object->next->previous = object;
        }
        context->children = object;
        pthread_mutex_unlock(&context->lock);
    }
    return CUDA_SUCCESS;
}

void *sim_object_take(uintptr_t handle, SimType type) {
    Entry *entries = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    uint64_t generation = handle >> (LOW_BITS + INDEX_BITS + TYPE_BITS);
    size_t index = index_of(handle);
    if (entries == NULL || generation == 0 || generation >= 1u << GENERATION_BITS || index == 0 ||
        (handle & ((1u << LOW_BITS) - 1)) != 0 ||
        ((handle >> (LOW_BITS + INDEX_BITS)) & ((1u << TYPE_BITS) - 1)) != (uintptr_t)type) {
        return NULL;
    }
    Entry *entry = &entries[index];
    uint64_t state = atomic_load_explicit(&entry->state, memory_order_acquire);
    do {
        if (state >> 32 != generation || (state & ALIVE) == 0) {
            return NULL;
        }
    } while (!atomic_compare_exchange_weak_explicit(&entry->state, &state, state + 1,
                                                    memory_order_acquire, memory_order_acquire));
    SimObject *object = atomic_load_explicit(&entry->object, memory_order_relaxed);
    if (object->type != type) { /* an invented handle with the right generation */
        sim_object_drop(object);
        return NULL;
    }
    return object;
}

void *sim_object_keep(void *op) {
    atomic_fetch_add_explicit(&table[index_of(((SimObject *)op)->handle)].state, 1,
                              memory_order_relaxed);
    return op;
}

bool sim_object_try_keep(void *op) {
    Entry *entry = &table[index_of(((SimObject *)op)->handle)];
    uint64_t state = atomic_load(&entry->state);
    do {
        if ((state & REFERENCES) == 0) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&entry->state, &state, state + 1));
    return true;
}

static void unlink_from_context(SimObject *object) {
    SimContext *context = object->context;
    if (context == NULL) {
        return;
    }
    pthread_mutex_lock(&context->lock);
    if (object->previous != NULL) {
        object->previous->next = object->next;
    } else if (context->children == object) {
        context->children = object->next;
    }
    if (object->next != NULL) {
        object->next->previous = object->previous;
    }
    object->next = object->previous = NULL;
    pthread_mutex_unlock(&context->lock);
}

void sim_object_drop(void *op) {
    SimObject *object = op;
    if (object == NULL) {
        return;
    }
    uint32_t index = (uint32_t)index_of(object->handle);
    Entry *entry = &table[index];
    uint64_t before = atomic_fetch_sub_explicit(&entry->state, 1, memory_order_acq_rel);
    if ((before & REFERENCES) != 1) {
        return;
    }
    SimContext *context = object->context;
    object->free(object);
    sim_object_drop(context);
    entry_free(index);
}

bool sim_object_close(void *op) {
    SimObject *object = op;
    Entry *entry = &table[index_of(object->handle)];
    if ((atomic_fetch_and(&entry->state, ~ALIVE) & ALIVE) == 0) {
        return false;
    }
    unlink_from_context(object);
    sim_object_drop(object);
    return true;
}
