/* runtime.c - functions for device code that do not wait: printf, assert, the clock. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simulator/exec/exec.h"

/* ---- output ---------------------------------------------------------------------------------- */

#define MOST_OUTPUT ((size_t)64 << 20) /* the most that is kept while nobody reads it */
#define MOST_HELD   ((size_t)1 << 20)  /* per block */

static pthread_mutex_t output_lock = PTHREAD_MUTEX_INITIALIZER;
static char *output;
static size_t output_used, output_room;
static bool output_read;

static void output_write(const char *text, size_t size) {
    if (output_used + size > output_room && output_used + size <= MOST_OUTPUT) {
        const size_t room = 2 * (output_used + size) + 4096;
        char *more = realloc(output, room);
        if (more == NULL)
            return;
        output = more;
        output_room = room;
    }
    if (output_used + size > output_room) { /* full: drop the oldest, as a GPU does */
        if (size >= output_used)
            return;
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

/* Holds back the output of a block that would run a second time if it failed (block.c), until
 * another block prints or all are done. Returns false if there is too much; what was held is then
 * printed. */
static bool hold_back(Worker *worker, const char *text, size_t size) {
    const SimTriple now = worker->c.block, then = worker->held.block;
    if (now.x != then.x || now.y != then.y || now.z != then.z ||
        worker->held.used + size > MOST_HELD)
        runtime_held(worker, true);
    if (worker->held.used + size > worker->held.room && worker->held.used + size <= MOST_HELD) {
        const size_t room = 2 * (worker->held.used + size) + 1024;
        char *more = realloc(worker->held.text, room);
        if (more != NULL) {
            worker->held.text = more;
            worker->held.room = room;
        }
    }
    if (worker->held.used + size > worker->held.room) {
        runtime_held(worker, true);
        return false;
    }
    memcpy(worker->held.text + worker->held.used, text, size);
    worker->held.used += size;
    worker->held.block = now;
    return true;
}

void runtime_held(Worker *worker, bool print) {
    if (print && worker->held.used > 0) {
        pthread_mutex_lock(&output_lock);
        output_write(worker->held.text, worker->held.used);
        pthread_mutex_unlock(&output_lock);
    }
    worker->held.used = 0;
}

/* Counts the values in a format as a device does: it knows only the sizes h, l and ll, and does
 * not count values with others. (For these, a device prints something else, while the C library
 * prints what was meant.) */
static int count_values(const char *format) {
    int n = 0;
    for (const char *at = strchr(format, '%'); at != NULL; at = strchr(at, '%')) {
        bool known = true;
        at++;
        for (; *at != 0 && strchr("-+ #0123456789.*hlLqjzt", *at) != NULL; at++) {
            n += *at == '*';
            known = known && strchr("Lqjzt", *at) == NULL && !(*at == 'h' && at[1] == 'h');
        }
        if (*at == 0)
            break;
        n += *at != '%' && known;
        at++;
    }
    return n;
}

/* Formats on the fiber's stack; longer texts in memory from malloc. Returns what printf in device
 * code does: the number of values, not of characters. */
int runtime_vprint(SimContext *c, const char *format, __builtin_va_list *values) {
    Worker *worker = (Worker *)(void *)c;
    char small[512], *text = small;
    va_list again;
    va_copy(again, *values);
    int n = vsnprintf(small, sizeof small, format,
                      *values); /* may fault on a bad %s: no lock is held yet */
    if (n >= (int)sizeof small) {
        text = malloc((size_t)n + 1);
        if (text != NULL)
            vsnprintf(text, (size_t)n + 1, format, again);
    }
    va_end(again);
    if (n < 0 || text == NULL)
        return -1;
    const int where = worker->where;
    worker->where = WHERE_RUNTIME;
    if (where != WHERE_BLOCKS || !hold_back(worker, text, (size_t)n)) {
        pthread_mutex_lock(&output_lock);
        output_write(text, (size_t)n);
        pthread_mutex_unlock(&output_lock);
    }
    if (text != small)
        free(text);
    worker->where = where;
    return count_values(format);
}

/* ---- other functions ------------------------------------------------------------------------- */

void runtime_assertion(SimContext *c, const char *text, const char *file, unsigned line,
                       const char *function) {
    (void)function;
    block_fail((Worker *)(void *)c, CUDA_ERROR_ASSERT, "assertion `%s' failed at %s:%u", text, file,
               line);
}

int runtime_space(SimContext *c, const void *pointer) {
    Worker *worker = (Worker *)(void *)c;
    const uintptr_t address = (uintptr_t)pointer;
    if (address - (uintptr_t)worker < SIM_REGION) {
        return address - (uintptr_t)c->dynamic < c->dynamic_size ? SIM_SPACE_SHARED
                                                                 : SIM_SPACE_LOCAL;
    }
    size_t size = 0;
    const uintptr_t shared = sim_module_shared(worker->job->kernel->module, &size);
    return shared != 0 && address - shared < size ? SIM_SPACE_SHARED : SIM_SPACE_GLOBAL;
}

unsigned long long runtime_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec;
}
