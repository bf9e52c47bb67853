/* order.c - settings of how kernels run: the order of blocks, the size of stacks. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static SimOrder order;
static unsigned long long order_seed;
static size_t stack_size = 68u << 10; /* an odd number of pages: see fiber_prepare */

static void read_order(void) {
    const char *text = getenv("PYGPU_SIM_ORDER");
    if (text != NULL && strcmp(text, "reverse") == 0) order = SIM_REVERSE;
    if (text != NULL && strncmp(text, "shuffle", 7) == 0) {
        order = SIM_SHUFFLE;
        order_seed = text[7] == ':' ? strtoull(text + 8, NULL, 10) : 0;
    }
}

SimOrder sim_order(unsigned long long *seed) {
    pthread_once(&once, read_order);
    *seed = order_seed;
    return order;
}

size_t sim_stack_size(void) {
    return __atomic_load_n(&stack_size, __ATOMIC_RELAXED);
}

/* CU_LIMIT_STACK_SIZE. GPUs ask for little; ours also hold what the compiler spills and calls of the C library, hence the least value. */
CUresult sim_set_stack_size(size_t size) {
    const size_t least = 68u << 10, most = (SIM_STACKS_TOTAL / 1025) & ~(size_t)4095;
    if (size > most) return sim_fail(CUDA_ERROR_INVALID_VALUE, "the simulator's stacks hold at most %zu bytes a thread", most);
    __atomic_store_n(&stack_size, size < least ? least : ((size + 4095) & ~(size_t)4095) | 4096, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}
