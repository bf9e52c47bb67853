/* quirks.h - driver bugs and peculiarities that pygpu works around, one row each.
 *
 * A platform's bits are determined once, when its object is made (platform.c); code tests
 * `device->platform->quirks & OCL_QUIRK_...`. The version is one with which it was observed, but
 * all versions of a driver are treated alike. Checks that are made for every driver have no row;
 * docs/design/drivers.md lists those as well.
 *
 * QUIRK(bit, driver, version seen, reason): the reason names the file that explains more, if there
 * is one. */
#ifndef OCL_QUIRKS_H
#define OCL_QUIRKS_H

#define OCL_QUIRKS(QUIRK)                                                                    \
    QUIRK(FAILURES_RACE, POCL, "3.1",                                                        \
          "Ends the process if a command that is about to fail becomes ready, is waited "    \
          "for by a new command, or fails twice at once. So the GIL is held while "          \
          "commands are enqueued, and its threads are stopped while commands fail "          \
          "(pocl_quiesce.c)")                                                                \
    QUIRK(FAILURE_LOSES_ORDER, POCL, "3.1",                                                  \
          "Runs commands after a failed one concurrently with those before it "              \
          "(pocl_order.c)")                                                                  \
    QUIRK(TAKES_MEMORY_LATE, POCL, "3.1",                                                    \
          "Allocates a buffer or image on first use, and ends the process if there is no "   \
          "memory (buffer.c)")                                                               \
    QUIRK(DOES_NOT_COUNT_SUB_DEVICES, POCL, "3.1",                                           \
          "Frees a sub-device whose context and queues live on, and whose commands its "     \
          "threads have not yet put away, so none is freed (device.c)")                      \
    QUIRK(COUNTS_GROUPS_IN_32_BITS, POCL, "3.1",                                             \
          "Runs too few work-groups of a launch of 2**32 or more, or ends the process "      \
          "(kernel_range.c)")                                                                \
    QUIRK(FAILED_IS_COMPLETE, INTEL_CPU, "2026.2",                                           \
          "Reports commands that it skipped because a user event failed as complete, and "   \
          "runs those that wait for them, or crashes (gates.c)")                             \
    QUIRK(QUEUE_RELEASE_HANGS, INTEL_CPU, "2026.2",                                          \
          "Hangs if an out-of-order queue is released while its last command is being "      \
          "destroyed (queue_release.c)")                                                     \
    QUIRK(EVENTS_LOSE_CONTEXT, INTEL_CPU, "2026.2",                                          \
          "Frees a context that still has events (event.c)")                                 \
    QUIRK(EXIT_CRASHES_DAEMONS, INTEL_CPU, "2026.2",                                         \
          "Crashes at exit if a daemon thread is in one of its functions (gil_release.h)")   \
    QUIRK(CONSTANTS_NEED_KERNEL, INTEL_CPU, "2026.2",                                        \
          "Crashes if a specialization constant is set for a program without kernels "       \
          "(program_build.c)")                                                               \
    QUIRK(CALLS_BACK_LATE, NVIDIA, "580.159",                                                \
          "Is slow to register and to run callbacks, so events are polled (completion.c)")   \
    QUIRK(SLOW_UNLESS_BLOCKING, NVIDIA, "580.159",                                           \
          "Makes non-blocking copies to ordinary host memory in a thread that takes 40 us"   \
          " to start (blocking.c)")                                                          \
    QUIRK(READS_LISTS_LATE, NVIDIA, "580.159",                                               \
          "Crashed some time after a migration that had to wait, so its list is kept "       \
          "until the migration is complete")                                                 \
    QUIRK(COUNTS_PATTERNS_IN_32_BITS, NVIDIA, "580.159",                                     \
          "Fills the wrong place, or never ends, beyond 2**32 patterns from a buffer's "     \
          "start (pieces.c)")                                                                \
    QUIRK(REGIONS_NEED_ORDER, NVIDIA, "580.159",                                             \
          "Crashes if a sub-buffer is released before a later one that overlaps it "         \
          "(region.c)")                                                                      \
    QUIRK(WAITS_FOR_FLUSH, OTHER, "22.3",                                                    \
          "Mesa's: as the specification allows, never runs a command that waits for one of " \
          "another queue that was not flushed (wait.c); the drivers above do not need it")

enum {
    OCL_DRIVER_POCL = 1,
    OCL_DRIVER_INTEL_CPU = 2,
    OCL_DRIVER_NVIDIA = 4,
    OCL_DRIVER_OTHER = 8, /* none of these */
};

enum { /* the number of rows */
#define NUMBER(bit, driver, seen, reason) OCL_NUMBER_##bit,
       OCL_QUIRKS(NUMBER)
#undef NUMBER
};

enum {
#define BIT(bit, driver, seen, reason) OCL_QUIRK_##bit = 1 << OCL_NUMBER_##bit,
    OCL_QUIRKS(BIT)
#undef BIT
};

/* The bits of one or more drivers (OCL_DRIVER_..., combined with |). */
static inline unsigned ocl_quirks_of(unsigned drivers) {
    unsigned quirks = 0;
#define ADD(bit, driver, seen, reason) \
    quirks |= drivers & OCL_DRIVER_##driver ? (unsigned)OCL_QUIRK_##bit : 0;
    OCL_QUIRKS(ADD)
#undef ADD
    return quirks;
}

extern unsigned ocl_quirks_in_use; /* of all platforms on which contexts were made */

#endif
