/* count_steps.c - how many basic blocks the simulator's scanners run for a text: a measure of time that is the same on every machine.
 * The scanners are compiled with -fsanitize-coverage=trace-pc, and this file without. */
#include <stdlib.h>
#include <string.h>

#include "simulator/compiler/compiler.h"
#include "simulator/compiler/prune.h"

void __sanitizer_cov_trace_pc(void);
unsigned long long count_steps(const char *text, size_t size);

static unsigned long long steps;

void __sanitizer_cov_trace_pc(void) {
    steps++;
}

bool sim_checked(void) {
    return false;
}

const char *compiler_headers(void) {
    return "/no/such/folder";
}

unsigned long long count_steps(const char *text, size_t size) {
    Text out = {0}, log = {0};
    char *copy = malloc(size + 1);
    if (copy == NULL) return 0;
    memcpy(copy, text, size + 1);
    steps = 0;
    size = sim_prune(copy, size, false);
    rewrite(&out, &log, copy, size, NULL, 0, REWRITE_REGIONS, NULL);
    if (out.data != NULL) sim_prune(out.data, out.size, true);
    free(copy);
    text_free(&out);
    text_free(&log);
    return steps;
}
