/* no_memory.c - a malloc that can be told to fail, to be loaded before the C library. The system's loader uses it too. */
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);
void fail_in_threads(size_t least);
void fail_everywhere(size_t least);

static volatile size_t in_threads, everywhere; /* allocations of so many bytes at least; 0: none */

void fail_in_threads(size_t least) {
    in_threads = least;
}

void fail_everywhere(size_t least) {
    everywhere = least;
}

static int fails(size_t size) {
    const int fail = (everywhere != 0 && size >= everywhere) ||
                     (in_threads != 0 && size >= in_threads && syscall(SYS_gettid) != getpid());
    if (fail) errno = ENOMEM;
    return fail;
}

void *malloc(size_t size) {
    return fails(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    return size != 0 && fails(n * size) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *block, size_t size) {
    return fails(size) ? NULL : __libc_realloc(block, size);
}
