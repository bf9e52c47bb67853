/* settings.c - the simulator's settings from environment variables, read once. */
#include "simulator/sim.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static struct {
    int threads, driver_version, architecture, device_count;
    double timeout, compile_timeout;
    bool checked, deferred, fibers;
    size_t device_memory;
    SimOrder order;
    unsigned long long order_seed;
    char wrong[600]; /* the message of cuInit: invalid values, and what is valid */
} settings;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void refuse(const char *name, const char *text, const char *wanted) {
    const size_t used = strlen(settings.wrong);
    snprintf(settings.wrong + used, sizeof settings.wrong - used, "%s%s=%.60s: %s",
             used > 0 ? "; " : "", name, text, wanted);
}

/* Parses a boolean into *value. Returns false if text is not one. */
static bool truth(const char *text, double *value) {
    static const char *const words[] = {"0", "1", "no", "yes", "false", "true", "off", "on"};
    for (int i = 0; i < 8; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *value = i % 2;
            return true;
        }
    }
    return false;
}

static bool flag(const char *name) {
    const char *text = getenv(name);
    double value = 0;
    if (text != NULL && text[0] != '\0' && !truth(text, &value))
        refuse(name, text, "0 or 1 is allowed");
    return value != 0;
}

typedef enum { WHOLE, ANY, BYTES } Kind; /* BYTES may have a unit */

static double number(const char *name, Kind kind, double low, double high, double fallback) {
    const char *text = getenv(name), *const units = "kmg";
    if (text == NULL || text[0] == '\0')
        return fallback;
    char *end, allowed[100];
    double value = strtod(text, &end);
    const char *unit = kind == BYTES && *end != '\0' ? strchr(units, *end | 0x20) : NULL;
    if (unit != NULL) {
        for (const char *at = units; at <= unit; at++)
            value *= 1024.0;
        end++;
    }
    if (end != text && *end == '\0' && isfinite(value) && value >= low && value <= high &&
        (kind != WHOLE || value == floor(value)))
        return value;
    snprintf(allowed, sizeof allowed, "a %s from %.0f to %.0f%s is allowed",
             kind == WHOLE ? "whole number" : "number", low, high,
             kind == BYTES ? ", also with K, M or G," : "");
    refuse(name, text, allowed);
    return fallback;
}

static void read_order(void) {
    const char *const name = "PYGPU_SIM_ORDER", *text = getenv(name);
    if (text == NULL || text[0] == '\0' || strcmp(text, "forward") == 0)
        return;
    char *end = NULL;
    if (strcmp(text, "reverse") == 0) {
        settings.order = SIM_REVERSE;
    } else if (strcmp(text, "shuffle") == 0) {
        settings.order = SIM_SHUFFLE;
    } else if (strncmp(text, "shuffle:", 8) == 0 && isdigit((unsigned char)text[8]) &&
               (settings.order_seed = strtoull(text + 8, &end, 10), *end == '\0')) {
        settings.order = SIM_SHUFFLE;
    } else {
        refuse(name, text, "forward, reverse, shuffle or shuffle:NUMBER is allowed");
    }
}

static void read_settings(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES),
         page = sysconf(_SC_PAGESIZE);
    double memory = 4.0 * 1024 * 1024 * 1024,
           half = pages > 0 && page > 0 ? (double)pages * (double)page / 2 : memory;
    settings.threads =
        (int)number("PYGPU_SIM_THREADS", WHOLE, 1, 1024, cores > 0 ? (double)cores : 1);
    settings.timeout = number("PYGPU_SIM_TIMEOUT", ANY, 0, 1e9, 120);
    settings.compile_timeout = number("PYGPU_SIM_COMPILE_TIMEOUT", ANY, 0, 1e9, 600);
    settings.checked = flag("PYGPU_SIM_CHECK");
    settings.deferred = flag("PYGPU_SIM_DEFERRED");
    settings.fibers = flag("PYGPU_SIM_FIBERS");
    (void)flag("PYGPU_SIM_DEBUG"); /* check only: sim_debug() reads it at each use */
    settings.driver_version = (int)number("PYGPU_SIM_VERSION", WHOLE, 11000, 99990, 13000);
    settings.architecture = (int)number("PYGPU_SIM_ARCH", WHOLE, 50, 129, 90);
    settings.device_count = (int)number("PYGPU_SIM_DEVICES", WHOLE, 0, 64, 1);
    settings.device_memory =
        (size_t)number("PYGPU_SIM_MEMORY", BYTES, 1024 * 1024, 1e15, half < memory ? half : memory);
    read_order();
}

const char *sim_settings_wrong(void) {
    pthread_once(&once, read_settings);
    return settings.wrong[0] != '\0' ? settings.wrong : NULL;
}

bool sim_debug(void) {
    const char *text = getenv("PYGPU_SIM_DEBUG");
    double value = 0;
    return text != NULL && truth(text, &value) && value != 0;
}

SimOrder sim_order(unsigned long long *seed) {
    pthread_once(&once, read_settings);
    *seed = settings.order_seed;
    return settings.order;
}

#define SETTING(type, name)                 \
    type sim_##name(void) {                 \
        pthread_once(&once, read_settings); \
        return settings.name;               \
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
