/* runtime.c - what device code calls that is not about waiting: printf, assert, memory from the heap, the clock. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exec.h"

/* ---- output -------------------------------------------------------------------------------------------------------- */

#define MOST_OUTPUT ((size_t)64 << 20) /* kept for a reader who does not come */

static pthread_mutex_t output_lock = PTHREAD_MUTEX_INITIALIZER;
static char *output;
static size_t output_used, output_room;
static bool output_read;

static void output_write(const char *text, size_t size) {
    if (output_used + size > output_room && output_used + size <= MOST_OUTPUT) {
        const size_t room = 2 * (output_used + size) + 4096;
        char *more = realloc(output, room);
        if (more == NULL) return;
        output = more;
        output_room = room;
    }
    if (output_used + size > output_room) { /* full: the oldest goes, as on a GPU */
        if (size >= output_used) return;
        memmove(output, output + size, output_used - size);
        output_used -= size;
    }
    memcpy(output + output_used, text, size);
    output_used += size;
}

void sim_output_flush(void) {
    pthread_mutex_lock(&output_lock);
    if (!output_read && output_used > 0) {
        fwrite(output, 1, output_used, stdout);
        fflush(stdout);
        output_used = 0;
    }
    pthread_mutex_unlock(&output_lock);
}

size_t pygpuSimReadOutput(char *buffer, size_t size) {
    pthread_mutex_lock(&output_lock);
    output_read = true;
    const size_t n = size < output_used ? size : output_used;
    if (n > 0) {
        memcpy(buffer, output, n);
        memmove(output, output + n, output_used - n);
        output_used -= n;
    }
    pthread_mutex_unlock(&output_lock);
    return n;
}

/* Formats on the fiber's stack; longer texts in memory of the C library. Returns what printf in device code does: the number of
 * values, which nobody can count here, so the number of characters. */
int runtime_vprint(SimContext *c, const char *format, __builtin_va_list *values) {
    Worker *worker = (Worker *)(void *)c;
    char small[512], *text = small;
    va_list again;
    va_copy(again, *values);
    int n = vsnprintf(small, sizeof small, format, *values); /* may fault on a bad %s: nothing is locked yet */
    if (n >= (int)sizeof small) {
        text = malloc((size_t)n + 1);
        if (text != NULL) vsnprintf(text, (size_t)n + 1, format, again);
    }
    va_end(again);
    if (n < 0 || text == NULL) return -1;
    const int where = worker->where;
    worker->where = WHERE_RUNTIME;
    pthread_mutex_lock(&output_lock);
    output_write(text, (size_t)n);
    pthread_mutex_unlock(&output_lock);
    if (text != small) free(text);
    worker->where = where;
    return n;
}

/* ---- memory from the heap -------------------------------------------------------------------------------------------- */

static size_t heap_most = (size_t)8 << 20; /* as CUDA's default */
static size_t heap_used;

size_t sim_heap_size(void) {
    return __atomic_load_n(&heap_most, __ATOMIC_RELAXED);
}

void sim_set_heap_size(size_t size) {
    __atomic_store_n(&heap_most, size, __ATOMIC_RELAXED);
}

void *runtime_allocate(SimContext *c, unsigned long long size, unsigned long long alignment) {
    Worker *worker = (Worker *)(void *)c;
    (void)alignment; /* malloc's 16 is what CUDA promises */
    if (size > sim_heap_size()) return NULL;
    const size_t whole = (size_t)size + 16;
    if (__atomic_add_fetch(&heap_used, whole, __ATOMIC_RELAXED) > sim_heap_size()) {
        __atomic_sub_fetch(&heap_used, whole, __ATOMIC_RELAXED);
        return NULL;
    }
    const int where = worker->where;
    worker->where = WHERE_RUNTIME;
    size_t *head = malloc(whole);
    if (head != NULL && worker->check != NULL) sim_memory_adopt(NULL, (uintptr_t)head + 16, size, SIM_VARIABLE, 0);
    worker->where = where;
    if (head == NULL) {
        __atomic_sub_fetch(&heap_used, whole, __ATOMIC_RELAXED);
        return NULL;
    }
    head[0] = whole;
    head[1] = (size_t)0x5e1f7a11c0de ^ (size_t)(uintptr_t)head;
    return (char *)head + 16;
}

void runtime_release(SimContext *c, void *address) {
    Worker *worker = (Worker *)(void *)c;
    if (address == NULL) return;
    size_t *head = (size_t *)(void *)((char *)address - 16);
    if (((uintptr_t)address & 15) != 0 || head[1] != ((size_t)0x5e1f7a11c0de ^ (size_t)(uintptr_t)head)) {
        block_fail(worker, CUDA_ERROR_ILLEGAL_ADDRESS, "free() of %p, which malloc() in a kernel did not return, or twice", address);
    }
    head[1] = 0;
    __atomic_sub_fetch(&heap_used, head[0], __ATOMIC_RELAXED);
    const int where = worker->where;
    worker->where = WHERE_RUNTIME;
    if (worker->check != NULL) sim_memory_free((uintptr_t)address, SIM_VARIABLE);
    free(head);
    worker->where = where;
}

/* ---- the rest -------------------------------------------------------------------------------------------------------- */

void runtime_assertion(SimContext *c, const char *text, const char *file, unsigned line, const char *function) {
    (void)function;
    block_fail((Worker *)(void *)c, CUDA_ERROR_ASSERT, "assertion `%s' failed at %s:%u", text, file, line);
}

unsigned long long runtime_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec;
}
