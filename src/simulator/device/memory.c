/* memory.c - the table of allocations: which addresses are device memory, who owns them, and which
 * were freed recently.
 *
 * A treap by base address. It is searched for each address in a call or a failing kernel, under a
 * lock for many readers. */
#include "simulator/device/memory.h"
#include "simulator/device/pages.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct Node {
    struct Node *left, *right;
    struct Node *next; /* of those removed together */
    uint32_t priority;
    SimBlockInfo info;
} Node;

#define N_FREED 512

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static Node *root;
static SimBlock freed[N_FREED]; /* a ring; the latest is at n_freed - 1 */
static size_t n_freed;
static _Atomic size_t used[SIM_MAX_DEVICES];
static _Atomic uint64_t epoch = 1;
static unsigned long long last_id;

/* ---- the treap; callers hold the lock -------------------------------------------------------- */

static uint32_t random_priority(void) {
    static uint64_t state = 0x9e3779b97f4a7c15u;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

/* Nodes with bases below address go to left, the others to right. */
static void split(Node *tree, uintptr_t address, Node **left, Node **right) {
    while (tree != NULL) {
        if (tree->info.block.base < address) {
            *left = tree;
            left = &tree->right;
            tree = tree->right;
        } else {
            *right = tree;
            right = &tree->left;
            tree = tree->left;
        }
    }
    *left = *right = NULL;
}

static void insert(Node *node) {
    Node **link = &root;
    while (*link != NULL && (*link)->priority >= node->priority) {
        link = node->info.block.base < (*link)->info.block.base ? &(*link)->left : &(*link)->right;
    }
    split(*link, node->info.block.base, &node->left, &node->right);
    *link = node;
}

static void take_out(Node *node) {
    Node **link = &root;
    while (*link != node) {
        link = node->info.block.base < (*link)->info.block.base ? &(*link)->left : &(*link)->right;
    }
    Node *left = node->left, *right = node->right;
    while (left != NULL && right != NULL) {
        if (left->priority >= right->priority) {
            *link = left;
            link = &left->right;
            left = left->right;
        } else {
            *link = right;
            link = &right->left;
            right = right->left;
        }
    }
    *link = left != NULL ? left : right;
}

/* The node with the highest base that is not above address. */
static Node *floor_of(uintptr_t address) {
    Node *best = NULL;
    for (Node *node = root; node != NULL;) {
        if (node->info.block.base <= address) {
            best = node;
            node = node->right;
        } else {
            node = node->left;
        }
    }
    return best;
}

static Node *containing(uintptr_t address) {
    Node *node = floor_of(address);
    return node != NULL && address - node->info.block.base < node->info.block.size ? node : NULL;
}

/* ---- lookup ---------------------------------------------------------------------------------- */

bool sim_memory_info(uintptr_t address, SimBlockInfo *out) {
    pthread_rwlock_rdlock(&lock);
    Node *node = containing(address);
    if (node != NULL) {
        *out = node->info;
    }
    pthread_rwlock_unlock(&lock);
    return node != NULL;
}

bool sim_memory_find(uintptr_t address, SimBlock *out) {
    SimBlockInfo info = {.id = 0};
    if (!sim_memory_info(address, &info)) {
        return false;
    }
    *out = info.block;
    return true;
}

/* The node with the lowest base above address. */
static Node *above(uintptr_t address) {
    Node *best = NULL;
    for (Node *node = root; node != NULL;) {
        if (node->info.block.base > address) {
            best = node;
            node = node->left;
        } else {
            node = node->right;
        }
    }
    return best;
}

static bool is_used_again(const SimBlock *block) {
    const Node *node = floor_of(block->base + block->size - 1);
    return node != NULL && node->info.block.base + node->info.block.size > block->base;
}

static bool find_freed(uintptr_t address, SimBlock *out) {
    for (size_t i = 0; i < N_FREED && i < n_freed; i++) {
        const SimBlock *block = &freed[(n_freed - 1 - i) % N_FREED];
        if (block->size != 0 && address - block->base < block->size && !is_used_again(block)) {
            *out = *block;
            return true;
        }
    }
    return false;
}

bool sim_memory_near(uintptr_t address, SimBlock *out) {
    pthread_rwlock_rdlock(&lock);
    const Node *node = floor_of(address), *next = above(address);
    const bool inside = node != NULL && address - node->info.block.base < node->info.block.size;
    if (!inside && next != NULL && next->info.block.base - address < 65536 &&
        (node == NULL || next->info.block.base - address <=
                             address - node->info.block.base - node->info.block.size)) {
        node = next; /* the address is shortly before it */
    }
    bool found = node != NULL;
    if (found) {
        *out = node->info.block;
    }
    if (!inside &&
        find_freed(address,
                   out)) { /* the inside of a freed block tells more than the end of a live one */
        found = true;
    }
    pthread_rwlock_unlock(&lock);
    return found;
}

uint64_t sim_memory_epoch(void) {
    return atomic_load_explicit(&epoch, memory_order_acquire);
}

size_t sim_memory_used(CUdevice device) {
    return atomic_load(&used[device]);
}

/* ---- checks ---------------------------------------------------------------------------------- */

CUresult sim_memory_check(uintptr_t address, size_t size, const char *what) {
    SimBlockInfo info = {.id = 0};
    SimBlock block;
    if (size == 0) {
        return CUDA_SUCCESS;
    }
    bool known = sim_memory_info(address, &info);
    block = info.block;
    if (known && !info.retired) {
        size_t offset = address - block.base;
        if (size <= block.size - offset) {
            return CUDA_SUCCESS;
        }
        return sim_fail(
            CUDA_ERROR_INVALID_VALUE,
            "%s: %zu bytes at %#zx reach %zu bytes past the end of the %zu-byte allocation at %#zx",
            what, size, (size_t)address, size - (block.size - offset), block.size,
            (size_t)block.base);
    }
    if (known || (sim_memory_near(address, &block) && block.freed)) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "%s: %#zx lies in the %zu-byte allocation at %#zx, which was freed", what,
                        (size_t)address, block.size, (size_t)block.base);
    }
    if (address == 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%s: the address is NULL", what);
    }
    return sim_fail(CUDA_ERROR_INVALID_VALUE, "%s: %#zx is not a device address", what,
                    (size_t)address);
}

CUresult sim_memory_check_box(uintptr_t address, size_t width, size_t height, size_t depth,
                              size_t pitch, size_t slice, const char *what) {
    size_t rows, slices, size;
    if (width == 0 || height == 0 || depth == 0) {
        return CUDA_SUCCESS;
    }
    if (height > 1 && pitch < width) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "%s: the pitch of %zu bytes is less than the width of %zu bytes", what,
                        pitch, width);
    }
    if (__builtin_mul_overflow(height - 1, pitch, &rows) ||
        __builtin_mul_overflow(depth - 1, slice, &slices) ||
        __builtin_add_overflow(rows, slices, &size) || __builtin_add_overflow(size, width, &size)) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "%s: width, height, depth and pitch are beyond all memory", what);
    }
    return sim_memory_check(address, size, what);
}

/* ---- insertion and removal ------------------------------------------------------------------- */

static bool is_charged(SimKind kind) {
    return kind == SIM_DEVICE || kind == SIM_MANAGED || kind == SIM_ARRAY;
}

static CUresult charge(CUdevice device, size_t size) {
    size_t total = sim_device_memory(), now = atomic_load(&used[device]);
    do {
        if (size > total || now > total - size) {
            return sim_fail(CUDA_ERROR_OUT_OF_MEMORY,
                            "a block of %zu bytes, and %zu of %zu are free (PYGPU_SIM_MEMORY)",
                            size, total - now, total);
        }
    } while (!atomic_compare_exchange_weak(&used[device], &now, now + size));
    return CUDA_SUCCESS;
}

static CUresult insert_block(const SimBlockInfo *info) {
    Node *node = malloc(sizeof(*node));
    if (node == NULL) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    uintptr_t base = info->block.base, end = base + info->block.size;
    pthread_rwlock_wrlock(&lock);
    Node *below = floor_of(end - 1);
    if (below != NULL && below->info.block.base + below->info.block.size > base) {
        pthread_rwlock_unlock(&lock);
        free(node);
        return sim_fail(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                        "%#zx overlaps the %zu bytes at %#zx", (size_t)base, below->info.block.size,
                        (size_t)below->info.block.base);
    }
    node->info = *info;
    node->info.id = ++last_id;
    node->priority = random_priority();
    insert(node);
    pthread_rwlock_unlock(&lock);
    atomic_fetch_add(&epoch, 1);
    return CUDA_SUCCESS;
}

static CUresult alloc(SimOwner owner, size_t size, SimKind kind, unsigned flags, SimPayer *payer,
                      uintptr_t *out) {
    size_t rounded = sim_pages_rounded(size);
    if (size == 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "the size is 0");
    }
    if (rounded < size) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes are more than there are addresses",
                        size);
    }
    if (is_charged(kind)) {
        SIM_TRY(charge(owner.device, rounded));
    }
    void *base = sim_pages_alloc(size, kind == SIM_HOST || kind == SIM_MANAGED);
    SimBlockInfo info = {.block = {.base = (uintptr_t)base,
                                   .size = size,
                                   .used = size,
                                   .kind = kind,
                                   .context = owner.context,
                                   .flags = flags},
                         .payer = payer,
                         .device = owner.device};
    CUresult status = base != NULL ? insert_block(&info)
                                   : sim_fail(CUDA_ERROR_OUT_OF_MEMORY,
                                              "the machine has no %zu bytes left", size);
    if (status == CUDA_SUCCESS) {
        if (payer != NULL) {
            payer->charge(payer, rounded);
        }
        *out = info.block.base;
        return CUDA_SUCCESS;
    }
    if (base != NULL) {
        sim_pages_free(base, size);
    }
    if (is_charged(kind)) {
        atomic_fetch_sub(&used[owner.device], rounded);
    }
    return status;
}

CUresult sim_memory_alloc(SimOwner owner, size_t size, SimKind kind, unsigned flags,
                          uintptr_t *out) {
    return alloc(owner, size, kind, flags, NULL, out);
}

CUresult sim_memory_alloc_pool(SimOwner owner, size_t size, SimPayer *payer, uintptr_t *out) {
    return alloc(owner, size, SIM_DEVICE, 0, payer, out);
}

CUresult sim_memory_adopt(SimOwner owner, uintptr_t base, size_t size, SimKind kind,
                          unsigned flags) {
    if (size == 0 || base == 0 || base + size < base) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "no memory: %zu bytes at %#zx", size,
                        (size_t)base);
    }
    const SimBlockInfo info = {.block = {.base = base,
                                         .size = size,
                                         .used = size,
                                         .kind = kind,
                                         .context = owner.context,
                                         .flags = flags},
                               .device = owner.device};
    return insert_block(&info);
}

void sim_memory_set_used(uintptr_t base, unsigned long long id, size_t size, bool shrink) {
    pthread_rwlock_wrlock(&lock);
    Node *node = containing(base);
    if (node != NULL && node->info.id == id) {
        SimBlock *block = &node->info.block;
        const size_t most = size < block->size ? size : block->size;
        block->used = shrink || most > block->used ? most : block->used;
    }
    pthread_rwlock_unlock(&lock);
    atomic_fetch_add(&epoch, 1);
}

/* Frees what a node stood for, after its removal from the table. */
static void dispose(Node *node) {
    const SimBlock *block = &node->info.block;
    if (block->kind != SIM_REGISTERED && block->kind != SIM_VARIABLE) {
        size_t rounded = sim_pages_rounded(block->size);
        SimPayer *payer = node->info.payer;
        if (payer != NULL) {
            payer->refund(payer, rounded);
        }
        sim_pages_free((void *)block->base, block->size);
        if (is_charged(block->kind)) {
            atomic_fetch_sub(&used[node->info.device], rounded);
        }
    }
    free(node);
}

/* Records a freed block, under the lock. Skips memory that others own, since it lives on or gets
 * another use. */
static void record_freed(const Node *node) {
    if (node->info.block.kind == SIM_REGISTERED || node->info.block.kind == SIM_VARIABLE) {
        return;
    }
    SimBlock *slot = &freed[n_freed++ % N_FREED];
    *slot = node->info.block;
    slot->freed = true;
}

CUresult sim_memory_free(uintptr_t base, SimKind kind) {
    SimBlock near;
    pthread_rwlock_wrlock(&lock);
    Node *node = containing(base);
    if (node != NULL && node->info.block.base == base && node->info.block.kind == kind) {
        take_out(node);
        record_freed(node);
        pthread_rwlock_unlock(&lock);
        atomic_fetch_add(&epoch, 1);
        dispose(node);
        return CUDA_SUCCESS;
    }
    near = node != NULL ? node->info.block : (SimBlock){0};
    pthread_rwlock_unlock(&lock);
    static const char *const kinds[] = {"device memory",           "managed memory",
                                        "page-locked host memory", "registered host memory",
                                        "the memory of an array",  "a variable of a module"};
    if (near.size != 0 && near.base != base) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "%#zx is inside, not at the start, of the %zu bytes at %#zx", (size_t)base,
                        near.size, (size_t)near.base);
    }
    if (near.size != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%#zx is %s, not %s", (size_t)base,
                        kinds[near.kind], kinds[kind]);
    }
    if (sim_memory_near(base, &near) && near.freed) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%#zx was freed already (%zu bytes)",
                        (size_t)base, near.size);
    }
    return sim_fail(CUDA_ERROR_INVALID_VALUE, "%#zx is not an allocation", (size_t)base);
}

CUresult sim_memory_retire(uintptr_t base, unsigned long long *id) {
    pthread_rwlock_wrlock(&lock);
    Node *node = containing(base);
    bool found = node != NULL && node->info.block.base == base && !node->info.retired &&
                 node->info.block.kind == SIM_DEVICE;
    if (found) {
        node->info.retired = true;
        *id = node->info.id;
    }
    pthread_rwlock_unlock(&lock);
    return found ? CUDA_SUCCESS
                 : sim_fail(CUDA_ERROR_INVALID_VALUE, "%#zx is not the start of device memory",
                            (size_t)base);
}

/* Finds a retired block by its number: the block may be gone with its context, and another one may
 * have its address. */
static Node *retired(uintptr_t base, unsigned long long id) {
    Node *node = containing(base);
    return node != NULL && node->info.retired && node->info.id == id ? node : NULL;
}

void sim_memory_unretire(uintptr_t base, unsigned long long id) {
    pthread_rwlock_wrlock(&lock);
    Node *node = retired(base, id);
    if (node != NULL) {
        node->info.retired = false;
    }
    pthread_rwlock_unlock(&lock);
}

void sim_memory_free_retired(uintptr_t base, unsigned long long id) {
    pthread_rwlock_wrlock(&lock);
    Node *node = retired(base, id);
    if (node != NULL) {
        take_out(node);
        record_freed(node);
    }
    pthread_rwlock_unlock(&lock);
    if (node != NULL) {
        atomic_fetch_add(&epoch, 1);
        dispose(node);
    }
}

CUresult sim_memory_set_sync(uintptr_t address, bool sync) {
    pthread_rwlock_wrlock(&lock);
    Node *node = containing(address);
    if (node != NULL) {
        node->info.sync_memops = sync;
    }
    pthread_rwlock_unlock(&lock);
    return node != NULL ? CUDA_SUCCESS
                        : sim_fail(CUDA_ERROR_INVALID_VALUE, "%#zx is not a device address",
                                   (size_t)address);
}

static Node *all_of_context(Node *tree, CUcontext context, Node *list) {
    if (tree == NULL) {
        return list;
    }
    list = all_of_context(tree->left, context, list);
    if (tree->info.block.context == context) {
        tree->next = list;
        list = tree;
    }
    return all_of_context(tree->right, context, list);
}

void sim_memory_free_context(CUcontext context) {
    pthread_rwlock_wrlock(&lock);
    Node *list = all_of_context(root, context, NULL);
    for (Node *node = list; node != NULL; node = node->next) {
        take_out(node);
        record_freed(node);
    }
    pthread_rwlock_unlock(&lock);
    atomic_fetch_add(&epoch, 1);
    for (Node *node = list, *next; node != NULL; node = next) {
        next = node->next;
        dispose(node);
    }
}
