/* profile.c - the list of a profile's records, which threads without the GIL add to. */
#include "common/profile.h"

static PyThread_type_lock lock; /* made by the first profile */
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
    if (lock == NULL) {
        return 0;
    }
    PyThread_acquire_lock(lock, WAIT_LOCK);
    int kept = count < most && have_room();
    if (kept) {
        records[count++] = *record;
    } else {
        lost++;
    }
    PyThread_release_lock(lock);
    return kept;
}

int pg_profile_begin(size_t limit) {
    if (lock == NULL && (lock = PyThread_allocate_lock()) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    PyThread_acquire_lock(lock, WAIT_LOCK);
    most = limit;
    PyThread_release_lock(lock);
    return 0;
}

PgRecord *pg_profile_take(size_t *n, size_t *left_out) {
    PgRecord *taken = NULL;
    *n = *left_out = 0;
    if (lock != NULL) {
        PyThread_acquire_lock(lock, WAIT_LOCK);
        taken = records;
        *n = count;
        *left_out = lost;
        records = NULL;
        count = room = lost = most = 0; /* a call that is under way is left out */
        PyThread_release_lock(lock);
    }
    return taken;
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
