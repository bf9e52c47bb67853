/* host_available.c - how much memory the machine has left. Page-locked memory is allocated at once,
 * and Linux kills a process that takes more than there is, before the driver could report an error.
 */
#include "cuda/cuda.h"
#include "cuda/host_memory.h"

#include <stdio.h>
#include <string.h>

#define UNKNOWN          UINT64_MAX
#define SMALLEST_CHECKED ((size_t)64 << 20)

/* Reads the number that follows *key* at the start of a line; UNKNOWN if there is no such file,
 * line or number. */
static uint64_t read_number(const char *path, const char *key) {
    char line[256];
    uint64_t number = UNKNOWN;
    FILE *file = fopen(path, "r");
    while (file != NULL && number == UNKNOWN && fgets(line, sizeof line, file) != NULL) {
        unsigned long long found;
        if (strncmp(line, key, strlen(key)) == 0 &&
            sscanf(line + strlen(key), "%llu", &found) == 1) {
            number = found;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return number;
}

/* The rest of a container's memory limit. The page cache counts as free. */
static uint64_t cgroup_available(const char *limit_path, const char *used_path,
                                 const char *stat_path, const char *cached) {
    const uint64_t limit = read_number(limit_path, ""), used = read_number(used_path, ""),
                   files = read_number(stat_path, cached);
    if (limit == UNKNOWN || used == UNKNOWN) {
        return UNKNOWN;
    }
    const uint64_t taken = files != UNKNOWN && files < used ? used - files : used;
    return limit > taken ? limit - taken : 0;
}

size_t cud_host_available(size_t size) {
    if (size < SMALLEST_CHECKED) {
        return SIZE_MAX;
    }
    uint64_t room = read_number("/proc/meminfo", "MemAvailable:");
    room = room != UNKNOWN ? room * 1024 : room;
#define V2 "/sys/fs/cgroup/memory."
#define V1 "/sys/fs/cgroup/memory/memory."
    const uint64_t v2 = cgroup_available(V2 "max", V2 "current", V2 "stat", "file "),
                   v1 = cgroup_available(V1 "limit_in_bytes", V1 "usage_in_bytes", V1 "stat",
                                         "total_cache ");
    room = v2 < room ? v2 : room;
    room = v1 < room ? v1 : room;
    return room < SIZE_MAX ? (size_t)room : SIZE_MAX;
}
