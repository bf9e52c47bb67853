/* settings.c - what the environment says about the simulator, read once. */
#include "sim.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

static struct {
    int threads, driver_version, architecture, device_count;
    double timeout, compile_timeout;
    bool checked, deferred, fibers;
    size_t device_memory;
} settings;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool truth(const char *text, double *value) {
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on"};
    for (int i = 0; i < 6; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *value = i % 2;
            return true;
        }
    }
    return false;
}

/* A variable that is no number, or outside its range, counts as not set: a library has nobody to tell. */
static double number(const char *name, double low, double high, double fallback) {
    const char *text = getenv(name);
    if (text == NULL || text[0] == '\0') {
        return fallback;
    }
    char *end;
    double value;
    if (low == 0 && high == 1 && truth(text, &value)) return value;
    value = strtod(text, &end);
    switch (*end) { /* sizes may have a unit */
    case 'k': case 'K': value *= 1024.0; end++; break;
    case 'm': case 'M': value *= 1024.0 * 1024.0; end++; break;
    case 'g': case 'G': value *= 1024.0 * 1024.0 * 1024.0; end++; break;
    default: break;
    }
    return *end == '\0' && isfinite(value) && value >= low && value <= high ? value : fallback;
}

static void read_settings(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    double memory = 4.0 * 1024 * 1024 * 1024, half = pages > 0 && page > 0 ? (double)pages * (double)page / 2 : memory;
    settings.threads = (int)number("PYGPU_SIM_THREADS", 1, 1024, cores > 0 ? (double)cores : 1);
    settings.timeout = number("PYGPU_SIM_TIMEOUT", 0, 1e9, 120);
    settings.compile_timeout = number("PYGPU_SIM_COMPILE_TIMEOUT", 0, 1e9, 600);
    settings.checked = number("PYGPU_SIM_CHECK", 0, 1, 0) != 0;
    settings.deferred = number("PYGPU_SIM_DEFERRED", 0, 1, 0) != 0;
    settings.fibers = number("PYGPU_SIM_FIBERS", 0, 1, 0) != 0;
    settings.driver_version = (int)number("PYGPU_SIM_VERSION", 11000, 99990, 13000);
    settings.architecture = (int)number("PYGPU_SIM_ARCH", 50, 129, 90);
    settings.device_count = (int)number("PYGPU_SIM_DEVICES", 0, 64, 1);
    settings.device_memory = (size_t)number("PYGPU_SIM_MEMORY", 1024 * 1024, 1e15, half < memory ? half : memory);
}

#define SETTING(type, name)                                                                                              \
    type sim_##name(void) {                                                                                              \
        pthread_once(&once, read_settings);                                                                              \
        return settings.name;                                                                                            \
    }
SETTING(int, threads)
SETTING(double, timeout)
SETTING(double, compile_timeout)
SETTING(bool, checked)
SETTING(bool, deferred)
SETTING(bool, fibers)
SETTING(int, driver_version)
SETTING(int, architecture)
SETTING(int, device_count)
SETTING(size_t, device_memory)
