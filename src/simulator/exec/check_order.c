/* check_order.c - PYGPU_SIM_CHECK=1: which accesses by other threads are ordered before this one
 * by atomic operations, as with locks and flags.
 *
 * A thread's time is the number of its fences. What a thread did before a fence is published by
 * its next atomic writes, at their addresses, together with all that the thread itself knew at the
 * fence. A thread that later accesses such an address atomically then knows it too. Barriers do
 * not need this: they begin a new phase in check.c. */
#include <string.h>
#include <sys/mman.h>

#include "simulator/exec/check_order.h"
#include "simulator/exec/exec.h"

enum { N_SLOTS = 64, LAST = 0xffff };

typedef struct {
    uint32_t block;                 /* the block that wrote this; in others, all times are zero */
    uint16_t time[SIM_MAX_THREADS]; /* for each thread, the time before which everything is known */
} Knowledge;

struct Order {
    uint32_t block;
    unsigned threads;
    bool used; /* whether a fence ran in this block */
    unsigned n_slots;
    uint16_t time[SIM_MAX_THREADS];
    Knowledge known[SIM_MAX_THREADS], fenced[SIM_MAX_THREADS];
    struct {
        uintptr_t address;
        Knowledge published;
    } slots[N_SLOTS]; /* the last one is for all addresses that find the others taken */
};

Order *order_new(void) {
    void *room = mmap(NULL, sizeof(Order), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return room != MAP_FAILED ? room : NULL;
}

void order_block(Order *order, unsigned threads) {
    order->block++;
    order->threads = threads;
    order->n_slots = 0;
    if (order->used)
        memset(order->time, 0, sizeof order->time);
    order->used = false;
}

static void refresh(const Order *order, Knowledge *knowledge) {
    if (knowledge->block == order->block)
        return;
    knowledge->block = order->block;
    memset(knowledge->time, 0, order->threads * sizeof *knowledge->time);
}

static void merge_knowledge(const Order *order, Knowledge *to, const Knowledge *from) {
    if (from->block != order->block)
        return;
    refresh(order, to);
    for (unsigned i = 0; i < order->threads; i++)
        to->time[i] = to->time[i] > from->time[i] ? to->time[i] : from->time[i];
}

static Knowledge *find(Order *order, uintptr_t address, bool make) {
    for (unsigned i = 0; i < order->n_slots; i++) {
        if (order->slots[i].address == address)
            return &order->slots[i].published;
    }
    if (order->n_slots == N_SLOTS)
        return &order->slots[N_SLOTS - 1].published;
    if (!make)
        return NULL;
    order->slots[order->n_slots].address = address;
    order->slots[order->n_slots].published.block = 0;
    return &order->slots[order->n_slots++].published;
}

void order_fence(Order *order, unsigned thread) {
    Knowledge *fenced = &order->fenced[thread];
    order->used = true;
    merge_knowledge(order, fenced, &order->known[thread]);
    refresh(order, fenced);
    if (order->time[thread] < LAST)
        order->time[thread]++;
    fenced->time[thread] = order->time[thread];
}

void order_atomic(Order *order, unsigned thread, uintptr_t address, bool write) {
    if (!order->used)
        return;
    const Knowledge *published = find(order, address, false);
    if (published != NULL)
        merge_knowledge(order, &order->known[thread], published);
    if (write && order->fenced[thread].block == order->block)
        merge_knowledge(order, find(order, address, true), &order->fenced[thread]);
}

unsigned order_time(const Order *order, unsigned thread) {
    return order->time[thread];
}

bool order_before(const Order *order, unsigned past, unsigned time, unsigned thread) {
    if (!order->used)
        return false;
    return time == LAST ||
           (order->known[thread].block == order->block && order->known[thread].time[past] > time);
}
