/* profile.c - the list of a profile's records, which threads without the GIL add to. */
#include "common/profile.h"

PyThread_type_lock pg_profile_lock;
static PgRecord *records;
static size_t count, room, most, lost;

void pg_profile_name(PgRecord *record, const char *name) {
    size_t n = name != NULL ? strlen(name) : 0;
    n = n < PG_PROFILE_NAME ? n : PG_PROFILE_NAME - 1;
    memcpy(record->name, name != NULL ? name : "", n);
    record->name[n] = '\0';
}

static int have_room(void) {
    if (count < room) {
        return 1;
    }
    size_t more = room > 0 ? 2 * room : 256;
    PgRecord *grown = PyMem_RawRealloc(records, more * sizeof *records);
    if (grown != NULL) {
        records = grown;
        room = more;
    }
    return grown != NULL;
}

int pg_profile_add(const PgRecord *record) {
    if (pg_profile_lock == NULL) {
        return 0;
    }
    PyThread_acquire_lock(pg_profile_lock, WAIT_LOCK);
    int kept = count < most && have_room();
    if (kept) {
        records[count++] = *record;
    } else {
        lost++;
    }
    PyThread_release_lock(pg_profile_lock);
    return kept;
}

PyObject *pg_profile_begin(PgProfiler *profiler, PyObject *limit) {
    size_t n;
    if (pg_as_size(limit, "_profile_begin", "limit", &n) < 0) {
        return NULL;
    }
    if (profiler->active || (pg_trap & PG_TRAP_FORKED)) {
        Py_RETURN_FALSE;
    }
    if (pg_profile_lock == NULL && (pg_profile_lock = PyThread_allocate_lock()) == NULL) {
        return PyErr_NoMemory();
    }
    PyThread_acquire_lock(pg_profile_lock, WAIT_LOCK);
    most = n;
    PyThread_release_lock(pg_profile_lock);
    profiler->active = 1;
    if (profiler->driver->ready) {
        profiler->replace();
    } else {
        *profiler->when_ready = profiler->replace;
    }
    Py_RETURN_TRUE;
}

/* Ends the list: what it has, how many, how many were left out. */
static PgRecord *take_records(size_t *n, size_t *dropped) {
    PgRecord *taken = NULL;
    *n = *dropped = 0;
    if (pg_profile_lock != NULL) {
        PyThread_acquire_lock(pg_profile_lock, WAIT_LOCK);
        taken = records;
        *n = count;
        *dropped = lost;
        records = NULL;
        count = room = lost = most = 0; /* a call that is under way is left out */
        PyThread_release_lock(pg_profile_lock);
    }
    return taken;
}

static PyObject *row_of(const PgProfiler *profiler, const PgRecord *record) {
    const unsigned *s = record->size;
    uint64_t context = 0;
    PyObject *times = profiler->times(record, &context);
    return Py_BuildValue(
        "(szKKddkN(III)(III)K)", record->kind, record->name[0] != '\0' ? record->name : NULL,
        (unsigned long long)(uintptr_t)record->queue, (unsigned long long)record->bytes,
        record->begin, record->end, record->thread, times, s[0], s[1], s[2], s[3], s[4], s[5],
        (unsigned long long)context);
}

PyObject *pg_profile_end(PgProfiler *profiler) {
    if (profiler->active) {
        profiler->restore();
        profiler->active = 0;
        *profiler->when_ready = NULL;
    }
    size_t n, dropped;
    PgRecord *taken = take_records(&n, &dropped);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < n; i++) {
        pg_append(&list, list != NULL ? row_of(profiler, &taken[i]) : NULL);
        profiler->drop(&taken[i]);
    }
    PyMem_RawFree(taken);
    return list != NULL ? Py_BuildValue("(Nn)", list, (Py_ssize_t)dropped) : NULL;
}

/* ---- ranges of NVTX -------------------------------------------------------------------------- */

static PgNvtxPush nvtx_push;
static PgNvtxPop nvtx_pop;

void pg_profile_push(const char *name) {
    if (nvtx_push != NULL) {
        (void)nvtx_push(name);
    }
}

void pg_profile_pop(void) {
    if (nvtx_pop != NULL) {
        (void)nvtx_pop();
    }
}

PG_DOC(profile_nvtx__doc__, "_profile_nvtx", "push, pop", "(push: int, pop: int) -> None",
       "The addresses of nvtxRangePushA and nvtxRangePop, which are called around each recorded "
       "command; 0 and 0: none are.");
PG_FUNCTION(profile_nvtx, 2)
static PyObject *profile_nvtx_impl(PyObject *Py_UNUSED(module), PyObject *const *a) {
    uint64_t push, pop;
    if (pg_as_u64(a[0], "_profile_nvtx", "push", &push) < 0 ||
        pg_as_u64(a[1], "_profile_nvtx", "pop", &pop) < 0) {
        return NULL;
    }
    uintptr_t addresses[2] = {(uintptr_t)push, (uintptr_t)pop};
    memcpy(&nvtx_push, &addresses[0], sizeof nvtx_push);
    memcpy(&nvtx_pop, &addresses[1], sizeof nvtx_pop);
    Py_RETURN_NONE;
}

PyMethodDef pg_profile_functions[] = {
    {"_profile_nvtx", FAST(profile_nvtx), profile_nvtx__doc__},
    {NULL, NULL, 0, NULL},
};
