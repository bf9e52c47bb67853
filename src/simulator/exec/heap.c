/* heap.c - malloc and new in kernels: a separate heap, with its bookkeeping stored elsewhere.
 *
 * Kernels write past the ends of their blocks, free pointers that they did not allocate, and free
 * twice. The C library's heap would end the process some time later. Here at worst a neighbouring
 * block is hit, and free() looks up its argument without reading the memory. The range of
 * addresses is divided into pages of 64 KiB. A page holds blocks of one size, with a bit for each,
 * or is part of a large block. */
#include <string.h>
#include <sys/mman.h>

#include "simulator/exec/exec.h"

#define PAGE       ((size_t)64 << 10)
#define MOST_PAGES ((size_t)1 << 20) /* 64 GiB of addresses */

typedef enum { FREE, SMALL, LARGE, INNER } Kind;

typedef struct {
    unsigned char kind, class;
    uint16_t used;           /* in a SMALL page: number of allocated blocks */
    uint32_t pages;          /* size of a large block, in its first page */
    uint32_t next, previous; /* list of SMALL pages of a class with free blocks: indices plus 1; 0:
                              * none */
    uint64_t bits[PAGE / 16 / 64];
} Page;

static const uint16_t sizes[] = {16,   32,   48,    64,    96,    128,  192,  256,
                                 384,  512,  768,   1024,  1536,  2048, 3072, 4096,
                                 6144, 8192, 12288, 16384, 24576, 32768};
enum { CLASSES = sizeof sizes / sizeof sizes[0] };

static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;
static char *base;
static Page *pages;
static size_t n_pages, first_free;
static uint32_t with_room[CLASSES];
static size_t most = (size_t)8 << 20; /* CUDA's default */
static size_t used;

size_t sim_heap_size(void) {
    return __atomic_load_n(&most, __ATOMIC_RELAXED);
}

void sim_set_heap_size(size_t size) {
    __atomic_store_n(&most, size, __ATOMIC_RELAXED);
}

/* Reserved addresses cost nothing until used. If the process may not have so many, reserves
 * fewer. */
static bool reserve(void) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (base != NULL)
        return true;
    for (n_pages = MOST_PAGES; n_pages >= 64; n_pages /= 4) {
        base = mmap(NULL, n_pages * PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
        pages = mmap(NULL, n_pages * sizeof(Page), PROT_READ | PROT_WRITE, flags, -1, 0);
        if (base != MAP_FAILED && pages != MAP_FAILED)
            return true;
        if (base != MAP_FAILED)
            munmap(base, n_pages * PAGE);
        if (pages != MAP_FAILED)
            munmap(pages, n_pages * sizeof(Page));
    }
    base = NULL;
    return false;
}

/* Finds the first run of count free pages; n_pages: there is none. */
static size_t find_pages(size_t count) {
    size_t run = 0;
    while (first_free < n_pages && pages[first_free].kind != FREE)
        first_free++;
    for (size_t i = first_free; i < n_pages; i++) {
        run = pages[i].kind == FREE ? run + 1 : 0;
        if (run == count)
            return i + 1 - count;
    }
    return n_pages;
}

static void enlist(size_t index) {
    Page *page = &pages[index];
    page->previous = 0;
    page->next = with_room[page->class];
    if (page->next != 0)
        pages[page->next - 1].previous = (uint32_t)index + 1;
    with_room[page->class] = (uint32_t)index + 1;
}

static void delist(size_t index) {
    const Page *page = &pages[index];
    if (page->next != 0)
        pages[page->next - 1].previous = page->previous;
    if (page->previous != 0)
        pages[page->previous - 1].next = page->next;
    else
        with_room[page->class] = page->next;
}

static void free_pages(size_t index, size_t count) {
    madvise(base + index * PAGE, count * PAGE, MADV_DONTNEED);
    memset(&pages[index], 0, sizeof(Page));
    for (size_t i = index; i < index + count; i++)
        pages[i].kind = FREE;
    if (index < first_free)
        first_free = index;
}

static void *take_small(unsigned class) {
    if (with_room[class] == 0) {
        const size_t index = find_pages(1);
        if (index == n_pages)
            return NULL;
        pages[index].kind = SMALL;
        pages[index].class = (unsigned char)class;
        enlist(index);
    }
    const size_t index = with_room[class] - 1;
    Page *page = &pages[index];
    unsigned word = 0;
    while (page->bits[word] == ~(uint64_t)0)
        word++;
    const unsigned slot = word * 64 + (unsigned)__builtin_ctzll(~page->bits[word]);
    page->bits[word] |= (uint64_t)1 << slot % 64;
    if (++page->used == PAGE / sizes[class])
        delist(index);
    return base + index * PAGE + (size_t)slot * sizes[class];
}

static void *take_large(size_t count) {
    const size_t index = find_pages(count);
    if (index == n_pages)
        return NULL;
    for (size_t i = index; i < index + count; i++)
        pages[i].kind = INNER;
    pages[index].kind = LARGE;
    pages[index].pages = (uint32_t)count;
    return base + index * PAGE;
}

/* Removes a block and returns its size; 0: there is none at this address. */
static size_t remove_block(uintptr_t address) {
    const uintptr_t offset = address - (uintptr_t)base;
    if (base == NULL || offset >= n_pages * PAGE)
        return 0;
    const size_t index = offset / PAGE;
    Page *page = &pages[index];
    if (page->kind == LARGE && offset % PAGE == 0) {
        const size_t count = page->pages;
        free_pages(index, count);
        return count * PAGE;
    }
    if (page->kind != SMALL)
        return 0;
    const size_t size = sizes[page->class], slot = offset % PAGE / size;
    const uint64_t bit = (uint64_t)1 << slot % 64;
    if (offset % PAGE % size != 0 || slot >= PAGE / size || (page->bits[slot / 64] & bit) == 0)
        return 0;
    page->bits[slot / 64] &= ~bit;
    if (page->used-- == PAGE / size)
        enlist(index);
    if (page->used == 0 &&
        (page->next != 0 || page->previous != 0)) { /* keep the last page of its class */
        delist(index);
        free_pages(index, 1);
    }
    return size;
}

void *runtime_allocate(SimContext *c, unsigned long long size, unsigned long long alignment) {
    Worker *worker = (Worker *)(void *)c;
    void *address = NULL;
    unsigned class = 0;
    (void)alignment; /* CUDA guarantees 16 */
    if (size > sim_heap_size())
        return NULL;
    while (class < CLASSES && sizes[class] < size)
        class ++;
    const size_t count = (size_t)(size + PAGE - 1) / PAGE,
                 whole = class < CLASSES ? sizes[class] : count * PAGE;
    const int where = worker->where;
    worker->where = WHERE_RUNTIME;
    pthread_mutex_lock(&heap_lock);
    if (used + whole <= sim_heap_size() && reserve())
        address = class < CLASSES ? take_small(class) : take_large(count);
    if (address != NULL)
        used += whole;
    pthread_mutex_unlock(&heap_lock);
    if (address != NULL && worker->check != NULL)
        sim_memory_adopt(SIM_NO_OWNER, (uintptr_t)address, size, SIM_VARIABLE, 0);
    worker->where = where;
    return address;
}

void runtime_release(SimContext *c, void *address) {
    Worker *worker = (Worker *)(void *)c;
    if (address == NULL)
        return;
    const int where = worker->where;
    worker->where = WHERE_RUNTIME;
    pthread_mutex_lock(&heap_lock);
    const size_t size = remove_block((uintptr_t)address);
    used -= size;
    pthread_mutex_unlock(&heap_lock);
    if (size == 0) {
        char at[250];
        source_line_describe(worker->job->kernel->module,
                             (uintptr_t)__builtin_return_address(0) - 1, at, sizeof at);
        block_fail(worker, CUDA_ERROR_ILLEGAL_ADDRESS,
                   "free() of %p, which malloc() in a kernel did not return, or twice%s", address,
                   at);
    }
    if (worker->check != NULL)
        sim_memory_free((uintptr_t)address, SIM_VARIABLE);
    worker->where = where;
}
