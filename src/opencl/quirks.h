/* quirks.h - what drivers do that pygpu works around, a row a quirk.
 *
 * A platform's bits are found once, when its object is made (platform.c); code asks
 * `device->platform->quirks & OCL_QUIRK_...`. The version is one that was seen to do it: all
 * versions of a driver are treated alike. Checks that are made whatever the driver need no row;
 * docs/guide/reliability.md has those as well.
 *
 * QUIRK(bit, driver, version seen, reason): where a file has more to say, the reason names it. */
#ifndef OCL_QUIRKS_H
#define OCL_QUIRKS_H

#define OCL_QUIRKS(QUIRK)                                                                          \
    QUIRK(FAILURES_RACE, POCL, "3.1",                                                              \
          "Ends the process if a command that is about to fail becomes ready, is joined by "       \
          "another, or fails twice at a time, so the GIL is kept while commands are enqueued and " \
          "its threads stand still while they fail (pocl_quiesce.c)")                              \
    QUIRK(FAILURE_LOSES_ORDER, POCL, "3.1",                                                        \
          "Runs what comes behind a failed command beside what comes before it (pocl_order.c)")    \
    QUIRK(TAKES_MEMORY_LATE, POCL, "3.1",                                                          \
          "Takes the memory of a buffer or image when it is first used, and ends the process if "  \
          "there is none (buffer.c)")                                                              \
    QUIRK(COUNTS_GROUPS_IN_32_BITS, POCL, "3.1",                                                   \
          "Runs too few of 2**32 work-groups and more, or ends the process (kernel_launch.c)")     \
    QUIRK(FAILED_IS_COMPLETE, INTEL_CPU, "2026.2",                                                 \
          "Reports commands as complete that it left out because a user event failed, and runs "   \
          "what waits for them, or crashes (gates.c)")                                             \
    QUIRK(QUEUE_RELEASE_HANGS, INTEL_CPU, "2026.2",                                                \
          "Hangs if an out-of-order queue is released while its last command is taken apart "      \
          "(queue_release.c)")                                                                     \
    QUIRK(EVENTS_LOSE_CONTEXT, INTEL_CPU, "2026.2",                                                \
          "Frees a context while there are events of it (event.c)")                                \
    QUIRK(EXIT_CRASHES_DAEMONS, INTEL_CPU, "2026.2",                                               \
          "Crashes at exit if a daemon thread is in one of its functions (gil_release.h)")         \
    QUIRK(CONSTANTS_NEED_KERNEL, INTEL_CPU, "2026.2",                                              \
          "Crashes if a specialization constant of a program without kernels is set "              \
          "(program_build.c)")                                                                     \
    QUIRK(CALLS_BACK_LATE, NVIDIA, "580.159",                                                      \
          "Is slow to call back, and to be asked to: events are looked at (completion.c)")         \
    QUIRK(SLOW_UNLESS_BLOCKING, NVIDIA, "580.159",                                                 \
          "Copies to ordinary host memory in a thread of its own, which takes 40 us to come, "     \
          "unless it may block (blocking.c)")                                                      \
    QUIRK(READS_LISTS_LATE, NVIDIA, "580.159",                                                     \
          "Crashed some time after a migration that had to wait, so its list is kept until then")  \
    QUIRK(COUNTS_PATTERNS_IN_32_BITS, NVIDIA, "580.159",                                           \
          "Fills elsewhere, or for ever, beyond 2**32 patterns from a buffer's start (pieces.c)")  \
    QUIRK(REGIONS_NEED_ORDER, NVIDIA, "580.159",                                                   \
          "Crashes if a region is released before a later one that overlaps it (region.c)")

enum { OCL_DRIVER_POCL = 1, OCL_DRIVER_INTEL_CPU = 2, OCL_DRIVER_NVIDIA = 4 };

enum { /* the rows, counted */
#define NUMBER(bit, driver, seen, reason) OCL_NUMBER_##bit,
       OCL_QUIRKS(NUMBER)
#undef NUMBER
};

enum {
#define BIT(bit, driver, seen, reason) OCL_QUIRK_##bit = 1 << OCL_NUMBER_##bit,
    OCL_QUIRKS(BIT)
#undef BIT
};

/* The bits of one or more drivers (OCL_DRIVER_..., added with |). */
static inline unsigned ocl_quirks_of(unsigned drivers) {
    unsigned quirks = 0;
#define ADD(bit, driver, seen, reason) \
    quirks |= drivers & OCL_DRIVER_##driver ? (unsigned)OCL_QUIRK_##bit : 0;
    OCL_QUIRKS(ADD)
#undef ADD
    return quirks;
}

extern unsigned ocl_quirks_in_use; /* of all platforms that contexts were made of */

#endif
