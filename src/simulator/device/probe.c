/* probe.c - finds out whether memory of the program can be read or written, without touching it:
 * the system tries, and reports the result. */
#include "simulator/device/memory.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>

enum { WAIT = 0, WAKE_OP = 5, PRIVATE = 128, ADD_NOTHING = 1 << 28 };

/* Uses system calls for locks, which read the word: one waits for a change and returns at once,
 * the other adds 0 to it. */
static bool word_answers(uintptr_t address, bool write) {
    static unsigned word;
    const struct timespec at_once = {0, 0};
    address &= ~(uintptr_t)3;
    long status = write ? syscall(SYS_futex, &word, WAKE_OP | PRIVATE, 0, 0, address, ADD_NOTHING)
                        : syscall(SYS_futex, address, WAIT | PRIVATE, 0, &at_once, NULL, 0);
    return status >= 0 || errno != EFAULT;
}
#else
static bool word_answers(uintptr_t address, bool write) {
    (void)address;
    (void)write;
    return true;
}
#endif

/* Distance between the words that are tried, besides the first and last one [bytes]. */
#define STEP ((uintptr_t)2 << 20)

bool sim_memory_reachable(const void *start, size_t size, bool write) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)start, end = first + size;
    if (start == NULL || end < first || size == 0) {
        return start != NULL && size == 0;
    }
    /* Fails if part of the range is not mapped; has no effect on memory without a file. */
    if (msync((void *)(first / page * page), end - first / page * page, MS_ASYNC) != 0) {
        return false;
    }
    for (uintptr_t address = first; address < end && end - address > STEP; address += STEP) {
        if (!word_answers(address, write)) {
            return false;
        }
    }
    return word_answers(first, write) && word_answers(end - 1, write);
}
