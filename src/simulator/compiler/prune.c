/* prune.c - drops from a preprocessed program what it does not use of the simulator's device
 * headers.
 *
 * The headers have some 2000 functions, and a C++ compiler spends about 0.07 ms on each inline
 * function that nobody calls: more than on the user's whole kernel. So they are written in units,
 * each between
 *     static_assert(true, "pygpu_if " "name ...");   and   static_assert(true, "pygpu_end");
 * which are no more than that to a compiler. Names can only be used after their
 * declaration, so one pass from the end to the beginning finds what is needed: a unit stays if one
 * of its names occurs, as a word, in text behind it that stays.
 *
 * Units of "pygpu_late" instead of "pygpu_if " have names that the rewriter may add. They are
 * dropped in a second pass, from the rewritten text. */
#include "simulator/compiler/prune.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char unit_begin[] = "\"pygpu_if \" \"", late_begin[] = "\"pygpu_late\" \"";
static const char unit_end[] = "\"pygpu_end\");";
static const char assertion[] = "static_assert(true, ";

/* A set of words, stored by hash. A collision only keeps a unit that is not needed. */
typedef struct {
    uint64_t *slots;
    size_t capacity, count;
} Words;

static bool word_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool word_part(char c) {
    return word_start(c) || (c >= '0' && c <= '9');
}

/* Finds the next word at or after p, its hash and its end; NULL at the end of the text. */
static const char *next_word(const char *p, const char *end, uint64_t *hash) {
    while (p < end && !word_start(*p)) {
        if (*p >= '0' && *p <= '9') { /* skip a number with its suffix */
            while (p < end && word_part(*p))
                p++;
        } else {
            p++;
        }
    }
    if (p >= end)
        return NULL;
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    while (p < end && word_part(*p)) {
        h = (h ^ (unsigned char)*p++) * 1099511628211u;
    }
    *hash = h == 0 ? 1 : h;
    return p;
}

static bool words_has(const Words *words, uint64_t hash) {
    for (size_t i = hash & (words->capacity - 1);; i = (i + 1) & (words->capacity - 1)) {
        if (words->slots[i] == hash)
            return true;
        if (words->slots[i] == 0)
            return false;
    }
}

static bool words_put(Words *words, uint64_t hash) {
    if (2 * words->count >= words->capacity) {
        Words larger = {calloc(2 * words->capacity, sizeof(uint64_t)), 2 * words->capacity, 0};
        if (larger.slots == NULL)
            return false;
        for (size_t i = 0; i < words->capacity; i++) {
            if (words->slots[i] != 0 && !words_put(&larger, words->slots[i]))
                return false;
        }
        free(words->slots);
        *words = larger;
    }
    size_t i = hash & (words->capacity - 1);
    while (words->slots[i] != 0 && words->slots[i] != hash)
        i = (i + 1) & (words->capacity - 1);
    if (words->slots[i] == 0) {
        words->slots[i] = hash;
        words->count++;
    }
    return true;
}

static bool words_put_all(Words *words, const char *p, const char *end) {
    uint64_t hash;
    while ((p = next_word(p, end, &hash)) != NULL) {
        if (!words_put(words, hash))
            return false;
    }
    return true;
}

typedef struct {
    size_t begin, names, names_end, end;
    bool dropped;
} Unit;

/* Finds the units; -1: out of memory. A unit without an end is ignored. */
static ptrdiff_t find_units(const char *text, size_t length, const char *marker, Unit **out) {
    size_t count = 0, capacity = 0;
    Unit *units = NULL;
    const char *end = text + length, *p = text;
    while ((p = strstr(p, marker)) != NULL) {
        const char *names = p + strlen(marker);
        const char *quote = memchr(names, '"', (size_t)(end - names));
        const char *stop = quote == NULL ? NULL : strstr(quote, unit_end);
        if (stop == NULL)
            break;
        if ((size_t)(p - text) >= sizeof assertion - 1 &&
            memcmp(p - (sizeof assertion - 1), assertion, sizeof assertion - 1) == 0) {
            if (count == capacity) {
                capacity = capacity == 0 ? 256 : 2 * capacity;
                Unit *larger = realloc(units, capacity * sizeof *units);
                if (larger == NULL) {
                    free(units);
                    return -1;
                }
                units = larger;
            }
            units[count++] = (Unit){(size_t)(p - text) - (sizeof assertion - 1),
                                    (size_t)(names - text), (size_t)(quote - text),
                                    (size_t)(stop - text) + sizeof unit_end - 1, false};
        }
        p = stop + sizeof unit_end - 1;
    }
    *out = units;
    return (ptrdiff_t)count;
}

static bool is_needed(const Words *words, const char *p, const char *end) {
    uint64_t hash;
    while ((p = next_word(p, end, &hash)) != NULL) {
        if (words_has(words, hash))
            return true;
    }
    return false;
}

size_t sim_prune(char *text, size_t length, bool rewritten) {
    Unit *units = NULL;
    ptrdiff_t count = find_units(text, length, rewritten ? late_begin : unit_begin, &units);
    Words words = {calloc(4096, sizeof(uint64_t)), 4096, 0};
    bool ok = count > 0 && words.slots != NULL;
    size_t after = length; /* where the text after the current unit begins */
    for (ptrdiff_t i = count - 1; ok && i >= 0; i--) {
        Unit *unit = &units[i];
        ok = words_put_all(&words, text + unit->end, text + after);
        unit->dropped = ok && !is_needed(&words, text + unit->names, text + unit->names_end);
        if (ok && !unit->dropped) {
            ok = words_put_all(&words, text + unit->names_end, text + unit->end);
        }
        after = unit->begin;
    }
    if (ok) {
        size_t from = 0, to = 0;
        for (ptrdiff_t i = 0; i < count; i++) {
            if (!units[i].dropped)
                continue;
            memmove(text + to, text + from, units[i].begin - from);
            to += units[i].begin - from;
            /* Keep line ends and line markers, so that messages about the rest name the right
             * lines. */
            for (const char *p = text + units[i].begin, *end = text + units[i].end; p < end;) {
                const char *line = memchr(p, '\n', (size_t)(end - p));
                if (line == NULL)
                    break;
                text[to++] = '\n';
                p = line + 1;
                if (p + 1 < end && p[0] == '#' && p[1] == ' ') { /* not a pragma */
                    const char *stop = memchr(p, '\n', (size_t)(end - p));
                    size_t n = stop == NULL ? 0 : (size_t)(stop - p);
                    memmove(text + to, p, n);
                    to += n;
                    p += n;
                }
            }
            from = units[i].end;
        }
        memmove(text + to, text + from, length - from);
        length = to + length - from;
        text[length] = '\0';
    }
    free(words.slots);
    free(units);
    return length;
}
