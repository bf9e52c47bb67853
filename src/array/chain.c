/* chain.c - which operations are deferred, and when they are launched. */
#include "array/chain.h"

#include "array/backend_ops.h"
#include "array/fastpath.h"
#include "common/deferral.h"
#include "common/pthread_compat.h"

int arr_chain_mode = 0;
int arr_chain_own_launch = 0;
static unsigned long owner; /* the thread that launches it */
volatile int arr_chain_report_pending = 0;
volatile unsigned long arr_chain_serial = 0;

/* Of the backends whose launches may be deferred: OpenCL, CUDA. NULL: not loaded. */
static PgDeferral *deferrals[2];
static PyObject *on_frequent; /* callable: reports a frequent chain */
static PyObject *on_copy;     /* callable: the number of the operation that copies */

static Chain buffers[2], frequent;
static uint32_t frequent_live;
static Chain *chain = &buffers[0]; /* the other one is being launched, or empty */
static int other_command = 1;      /* another command ran since the last step */
static _Thread_local int compiles; /* this thread compiles kernels */
static int reporting;              /* chain_report() runs Python */
static volatile int flushing;
static unsigned long flusher; /* the thread that flushes */
static int failed[2];         /* the status that a backend's next command must report */
static PyObject *next_event;  /* OpenCL: an empty list for the next chain, made before it is needed:
                               * making one may collect garbage, which may run any code */

/* ---- traps ----------------------------------------------------------------------------------- */

/* From now on, commands of the backend call flush_from_trap() first. */
static void set_trap(int cuda) {
    *deferrals[cuda]->trap |= PG_TRAP_DEFERRED;
}

/* Does nothing while a status is pending. */
static void clear_trap(int cuda) {
    if (deferrals[cuda] != NULL && failed[cuda] == 0) {
        *deferrals[cuda]->trap &= ~PG_TRAP_DEFERRED;
    }
}

static int is_waiting(void) {
    return chain->n_steps != 0 || arr_chain_carried.n_steps != 0 || arr_pending;
}

static void clear_traps(void) {
    if (!is_waiting()) {
        clear_trap(0);
        clear_trap(1);
    }
}

/* ---- launching ------------------------------------------------------------------------------- */

/* The event, or None; NULL with an exception. */
static PyObject *launch_step(const Chain *of, const ChainStep *step) {
    if (step->launch.kernel == NULL) {
        PyArray_Descr *dtype = PyArray_DescrFromType(step->out.type);
        Py_ssize_t size = dtype != NULL ? (Py_ssize_t)PyDataType_ELSIZE(dtype) : 0;
        Py_XDECREF((PyObject *)dtype);
        for (int i = 0; i < step->out.ndim; i++) {
            size *= step->out.dims[i];
        }
        return arr_copy_memory(of->table, of->queue, step->objects[0], step->objects[1], size);
    }
    Args args;
    args.n = args.n_owned = 0;
    for (int i = 0; i <= step->n; i++) {
        if (step->offsets[i] < 0) {
            args_put(&args, step->objects[i]);
        } else if (args_array(&args, step->objects[i], step->offsets[i]) < 0) {
            args_clear(&args);
            return NULL;
        }
    }
    PyObject *numbers = step->launch.numbers;
    if (!PyTuple_Check(numbers)) {
        args_put(&args, numbers);
    } else {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(numbers); i++) {
            args_put(&args, PyTuple_GET_ITEM(numbers, i));
        }
    }
    PyObject *event = table_launch(of->table, step->launch.kernel, of->queue, step->launch.sizes,
                                   step->launch.local, &args);
    args_clear(&args);
    return event;
}

/* Clears the current exception and returns its driver status, or 0. */
static int status_of_exception(void) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *code = value != NULL ? PyObject_GetAttrString(value, "code") : NULL;
    long status = code != NULL && PyLong_Check(code) ? PyLong_AsLong(code) : 0;
    PyErr_Clear();
    Py_XDECREF(code);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return (int)status;
}

static int status_of_launch(const Chain *of) {
    int status = status_of_exception();
    return status != 0 ? status : deferrals[of->table->cuda]->unknown;
}

/* Adds the event to the list that the chain's results share. */
static void publish_event(const Chain *of, PyObject *event) {
    if (event == NULL || event == Py_None || of->event == NULL) {
        return;
    }
    if (PyList_Append(of->event, event) < 0) {
        PyErr_Clear(); /* only other queues would have waited for it */
    }
}

/* Returns 0, or the driver's status. carry: results that need not be written; set to 0 if they were
 * written all the same. */
static int launch_all(const Chain *of, uint32_t live, uint32_t *carry, int *fused) {
    PyObject *event = NULL;
    int status = 0;
    if (live == 0 && of->end.plan == NULL) { /* the program has dropped all of it */
        *fused = 0;
        return 0;
    }
    if (chain_length(of) > 1) {
        event = chain_launch(of, live & ~*carry);
        if (event == NULL && *carry != 0) {
            PyErr_Clear();
            *carry = 0; /* there is no kernel yet */
            event = chain_launch(of, live);
        }
        if (event == NULL) {
            PyErr_Clear();
        }
    }
    *carry = event != NULL ? *carry : 0;
    *fused = event != NULL;
    if (event != NULL) {
        arr_chain_counts.fused++;
        chain_reset_backoff();
    }
    for (int i = 0; i < of->n_steps && !*fused; i++) {
        arr_chain_counts.unfused++;
        Py_XSETREF(event, launch_step(of, &of->steps[i]));
        if (event == NULL) {
            status = status == 0 ? status_of_launch(of) : (PyErr_Clear(), status);
        }
    }
    if (of->end.plan != NULL && !*fused) {
        arr_chain_counts.unfused++;
        Py_XSETREF(event, chain_launch_end(of));
        if (event == NULL) {
            status = status == 0 ? status_of_launch(of) : (PyErr_Clear(), status);
        }
    }
    publish_event(of, event);
    Py_XDECREF(event);
    return status;
}

/* ---- backing off: programs without frequent chains are not watched all the time -------------- */

#define BACKOFF_AFTER 48 /* chains in a row that did not help */
#define BACKOFF_MIN   256
#define BACKOFF_MAX   (1L << 16)
#define BACKOFF_SIZE                                                             \
    (1L << 20) /* items: of larger arrays a look costs nothing beside the launch \
                */

static long to_skip; /* the next operations, which are not watched */
static long backoff = BACKOFF_MIN;
static int misses;

void chain_reset_backoff(void) {
    to_skip = misses = 0;
    backoff = BACKOFF_MIN;
}

static void update_backoff(int something) {
    if (something) {
        misses = 0;
        backoff = BACKOFF_MIN;
    } else if (++misses >= BACKOFF_AFTER && arr_chain_mode == 1) {
        to_skip = backoff;
        backoff = 2 * backoff < BACKOFF_MAX ? 2 * backoff : BACKOFF_MAX;
        misses = BACKOFF_AFTER - 4; /* from then on, four are enough */
    }
}

/* Counts a complete chain, and has it reported once it is frequent. */
static void count_chain(Chain *of, uint32_t live) {
    if (frequent.backend != NULL) {
        return;
    }
    if (chain_length(of) < 2) {
        update_backoff(0);
        return;
    }
    int found = live != 0 || of->end.plan != NULL ? chain_count(of, live) : CHAIN_NEW;
    update_backoff(found == CHAIN_SEEN || found == CHAIN_FREQUENT);
    if (found != CHAIN_FREQUENT) {
        return;
    }
    frequent = *of; /* owns no references: only plain data is read */
    frequent.backend = Py_NewRef(of->backend);
    frequent_live = live;
    arr_chain_report_pending = 1;
}

/* Whether this process was forked from one that used a driver. */
static int forked(void) {
    for (int cuda = 0; cuda < 2; cuda++) {
        if (deferrals[cuda] != NULL && *deferrals[cuda]->trap & PG_TRAP_FORKED) {
            return 1;
        }
    }
    return 0;
}

static void wait_for_flusher(void) {
    while (flushing && flusher != PyThread_get_thread_ident()) {
        Py_BEGIN_ALLOW_THREADS;
        pg_sleep_us(20);
        Py_END_ALLOW_THREADS;
    }
}

static void keep_status(int cuda, int status) {
    if (status != 0) {
        failed[cuda] = status;
        set_trap(cuda);
    }
}

/* Launches the carried steps if that is necessary before this chain (NULL: before any command). */
static void flush_carried(const Chain *before) {
    if (chain_must_flush_carried(before)) {
        uint32_t live = chain_live(&arr_chain_carried), none = 0;
        int fused;
        keep_status(arr_chain_carried.table->cuda,
                    launch_all(&arr_chain_carried, live, &none, &fused));
        count_chain(&arr_chain_carried, live);
        chain_clear(&arr_chain_carried);
    }
}

/* Called after anything that the timer counts as progress. */
static void restart_timer(void) {
    if (arr_chain_carried.n_steps != 0) {
        chain_timer_start(arr_chain_serial);
    }
}

/* A compiler's message would be lost in a status. */
static int status_of_pending(PyObject *launch) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    int says = value == NULL || !PyObject_HasAttrString(value, "code");
    PyErr_Restore(type, value, traceback);
    if (says) {
        PyErr_WriteUnraisable(launch);
        return deferrals[1]->unknown;
    }
    int status = status_of_exception();
    return status != 0 ? status : deferrals[1]->unknown;
}

/* Launches a chain. Some of its results may be carried over, unless *all* is set: the next command
 * may write what carried steps read. Returns whether a fused kernel was launched. */
static int launch(Chain *of, int all) {
    int fused = 0;
    uint32_t live = chain_live(of);
    if (of->end.plan != NULL && !chain_end_live(of)) {
        chain_remove_end(of);
    }
    uint32_t candidates = all ? 0 : chain_carry_candidates(of, live), carry = candidates;
    if (of->deferred) {
        keep_status(of->table->cuda, launch_all(of, live, &carry, &fused));
    }
    if (fused && carry != 0) {
        chain_carry(of, carry);
    }
    of->live = live & ~candidates;
    return fused;
}

/* Launches the chain. go_on: if it has no kernel, its steps stay as those of a watched chain. all:
 * launch carried steps, too. The next command of the backend reports a failure. */
static void flush(int go_on, int all) {
    if (PG_UNLIKELY(forked())) { /* the next command reports it; other threads no longer exist */
        chain_clear(chain);
        chain_clear(&arr_chain_carried);
        pending_clear();
        return;
    }
    wait_for_flusher();
    if (flushing || (chain->n_steps == 0 && !(all && is_waiting()))) {
        return;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Chain *of = chain;
    chain = of == &buffers[0] ? &buffers[1] : &buffers[0];
    flushing = 1;
    flusher = PyThread_get_thread_ident();
    arr_chain_serial++;
    if (PG_UNLIKELY(arr_pending)) {
        keep_status(1, pending_run(status_of_pending));
    }
    flush_carried(all ? NULL : of);
    if (of->n_steps != 0) {
        int fused = launch(of, all);
        if (go_on && (!fused || of->resumed) && chain->n_steps == 0) {
            of->deferred = 0;
            Py_CLEAR(of->event);
            chain = of;
        } else {
            count_chain(of, of->live);
            chain_clear(of);
        }
    }
    flushing = 0;
    clear_traps();
    restart_timer();
    PyErr_Restore(type, value, traceback);
}

void chain_flush(void) {
    other_command = 1;
    flush(0, 1);
}

void chain_flush_by_timer(void) {
    if (!arr_pending) { /* it does not wait for compilers */
        flush(0, 1);
    }
}

/* Called by a backend's command that finds the trap set. */
static int flush_from_trap(int cuda) {
    if ((arr_chain_own_launch && owner == PyThread_get_thread_ident()) ||
        (flushing && flusher == PyThread_get_thread_ident())) {
        return 0;
    }
    if (pg_is_ending()) {
        return 0; /* nobody will use the results */
    }
    if (compiles) {
        return 0; /* it loads kernels, and no deferred work depends on that */
    }
    PyGILState_STATE state = PyGILState_Ensure();
    other_command |= !reporting && !arr_allocating;
    flush(0, 1);
    int status = failed[cuda];
    failed[cuda] = 0;
    clear_traps();
    PyGILState_Release(state);
    return status;
}

static int flush_for_opencl(void) {
    return flush_from_trap(0);
}
static int flush_for_cuda(void) {
    return flush_from_trap(1);
}

/* ---- where chains begin --------------------------------------------------------------------- */

#define CHAIN_TYPES 24 /* of NumPy, by their numbers */

#define HISTORY    128 /* operations, a power of two */
#define PERIOD_MAX (HISTORY / 2)

/* Nothing marks the iterations of a loop that has only elementwise operations, and chains of the
 * greatest length would begin at a different operation each time. So operations are compared with
 * earlier ones: once they repeat, chains end with an iteration, or with equal parts of one. */
static struct {
    uint32_t seen[HISTORY]; /* ring buffer of the operations' numbers */
    unsigned n;             /* operations so far */
    unsigned period;        /* 0: they do not repeat */
    unsigned part;          /* operations of a chain, while they repeat */
    unsigned phase;         /* operations since another command, where iterations begin */
    unsigned next_search;   /* the value of n from which on to search for a period again */
} loop;

static int repeats_after(unsigned period) {
    unsigned length = period < 12 ? 12 : period;
    for (unsigned i = 1; i <= length; i++) {
        if (loop.seen[(loop.n - i) % HISTORY] != loop.seen[(loop.n - i - period) % HISTORY]) {
            return 0;
        }
    }
    return 1;
}

static void set_period(unsigned period) {
    loop.period = period;
    if (period > CHAIN_STEPS) {
        unsigned parts = (period + CHAIN_STEPS - 1) / CHAIN_STEPS;
        loop.part = (period + parts - 1) / parts;
    } else if (period != 0) { /* several iterations */
        loop.part = loop.period = CHAIN_STEPS / period * period;
    }
}

static void find_period(void) {
    loop.next_search = loop.n + CHAIN_STEPS;
    for (unsigned period = 1; period <= PERIOD_MAX && 2 * period + 12 <= loop.n; period++) {
        if (repeats_after(period)) {
            set_period(period);
            return;
        }
    }
}

/* Whether a new chain begins with this operation. */
static int starts_new_chain(const ChainLaunch *launch, const GPUArray *out) {
    uint32_t token = (uint32_t)launch->op * 0x9E3779B9u ^ (uint32_t)out->size;
    if (other_command) { /* a loop, or one of its iterations, begins here */
        loop.phase = 0;
        other_command = 0;
    }
    if (loop.period != 0 && loop.seen[(loop.n - loop.period) % HISTORY] != token) {
        loop.period = 0;
    }
    if (loop.period == 0 && (int)(loop.n - loop.next_search) >= 0) {
        find_period();
    }
    loop.seen[loop.n++ % HISTORY] = token;
    unsigned at = loop.phase++;
    return loop.period != 0 && chain->n_steps > 0 && at % loop.period % loop.part == 0;
}

/* ---- adding ---------------------------------------------------------------------------------- */

static int all_private(const PgDeferral *deferral, const GPUArray *out, PyObject *const *operands,
                       int n) {
    if (!deferral->is_private(out->base_data)) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        if (arr_is_array(operands[i]) &&
            !deferral->is_private(((GPUArray *)operands[i])->base_data)) {
            return 0;
        }
    }
    return 1;
}

/* Whether the step that was just appended is deferred. */
static int should_defer(void) {
    int known = arr_chain_mode == 2 || chain_prefix_known(chain->now.hash);
    if (chain_length(chain) == 1) {
        chain->deferred = known;
        arr_chain_serial++;
    }
    return chain->deferred && known;
}

/* Called before attach_event(). Returns 0 if out of memory. */
static int make_event(int cuda) {
    if (!cuda && next_event == NULL && (next_event = PyList_New(0)) == NULL) {
        PyErr_Clear();
        return 0;
    }
    return 1;
}

/* On OpenCL, makes the chain's future event that of a deferred result. Returns 0 on failure. */
static int attach_event(GPUArray *out) {
    if (chain->table->cuda) {
        return 1;
    }
    if (chain->event == NULL) {
        chain->event = next_event;
        next_event = NULL;
    }
    return chain->event != NULL && arr_set_event(out, chain->event) == 0;
}

/* Called before the chain's last step is launched by itself, which may write what carried steps
 * read. */
static void flush_conflicting_carried(void) {
    const Chain *with = flushing ? NULL : chain; /* another thread may flush it meanwhile */
    wait_for_flusher();
    flushing = 1;
    flusher = PyThread_get_thread_ident();
    flush_carried(with);
    flushing = 0;
    restart_timer();
}

/* This thread's next launch does not flush deferred work; commands of other threads do. */
static void begin_own_launch(int cuda) {
    arr_chain_own_launch = 1;
    owner = PyThread_get_thread_ident();
    if (!chain->deferred && arr_chain_carried.n_steps == 0) {
        clear_trap(cuda);
    }
}

/* The common end of chain_add() and chain_add_end(). Returns whether the operation is deferred; if
 * not, no trap is set until it was launched. */
static int finish_append(int cuda, int is_deferred) {
    if (is_deferred) {
        set_trap(cuda);
        arr_chain_counts.deferred++;
    } else {
        if (arr_chain_carried.n_steps != 0) {
            flush_conflicting_carried();
        }
        arr_chain_counts.watched++;
        begin_own_launch(cuda);
    }
    return is_deferred;
}

/* Begins the chain with the carried steps if an operand is one of their results. Returns whether it
 * did. */
static int resume_if_carried(PyObject *const *operands, int n) {
    if (arr_chain_carried.n_steps == 0 || !chain_is_carried(operands, n)) {
        return 0;
    }
    flush(0, 0);
    if (chain->n_steps != 0 || !chain_is_carried(operands, n)) {
        return 0;
    }
    chain_resume(chain);
    return 1;
}

static int append(const ChainLaunch *launch, GPUArray *first, GPUArray *out,
                  PyObject *const *operands, int n) {
    int resumed = resume_if_carried(operands, n);
    if (chain_append(chain, launch, first, out, operands, n)) {
        return 1;
    }
    if (resumed) { /* in vain: they are launched by themselves */
        chain_carry_failed();
    }
    return 0;
}

int chain_add(const ChainLaunch *launch, GPUArray *first, GPUArray *out, PyObject *const *operands,
              int n) {
    arr_chain_own_launch = 0;
    if (arr_pending) {
        return 0;
    }
    if (to_skip > 0 && chain->n_steps == 0 && out->size < BACKOFF_SIZE) {
        other_command = 1;
        to_skip--;
        return 0;
    }
    int cuda = first->table->cuda;
    const PgDeferral *deferral = deferrals[cuda];
    if (deferral == NULL || !deferral->may_wait(first->queue) ||
        !all_private(deferral, out, operands, n) || !arr_owns_events(out) || !make_event(cuda)) {
        return 0;
    }
    wait_for_flusher();
    if (!chain->deferred) {
        chain_sweep(chain);
    }
    if (starts_new_chain(launch, out) || chain->end.plan != NULL ||
        !append(launch, first, out, operands, n)) {
        flush(0, 0);
        if (!append(launch, first, out, operands, n)) {
            return 0;
        }
    }
    int is_deferred = should_defer() && attach_event(out);
    if (!is_deferred && chain->deferred) { /* no known chain continues like this */
        chain_count_extension(chain->now.hash);
        chain_remove_last(chain);
        flush(1, 0);
        if (!append(launch, first, out, operands, n)) {
            return 0;
        }
        is_deferred = should_defer() && attach_event(out);
    }
    finish_append(cuda, is_deferred);
    if (is_deferred && chain->n_steps == 1) {
        chain_timer_start(arr_chain_serial);
    }
    return is_deferred;
}

int chain_copy_operation(int type) {
    static int numbers[CHAIN_TYPES]; /* -1: none */
    if (type < 0 || type >= CHAIN_TYPES || on_copy == NULL) {
        return 0;
    }
    if (numbers[type] == 0) {
        PyObject *number = PyObject_CallFunction(on_copy, "i", type);
        long value = number != NULL ? PyLong_AsLong(number) : -1;
        PyErr_Clear();
        Py_XDECREF(number);
        numbers[type] = value > 0 && value < CHAIN_REDUCTIONS ? (int)value : -1;
    }
    return numbers[type] > 0 ? numbers[type] : 0;
}

/* Allocates a plan's scratch memory if its launch may be deferred: now, so that a shortage of
 * memory is reported by the same call as without deferral. This may flush the chain. */
static PyObject *new_scratch(const Plan *plan, const GPUArray *first) {
    if (plan->n_scratch != 1 || !chain->deferred) {
        return NULL;
    }
    Py_ssize_t size = (Py_ssize_t)PyDataType_ELSIZE(plan->scratch_dtypes[0]);
    PyObject *scratch =
        table_allocate(first->table, first->backend, first->allocator, plan->scratch[0] * size);
    PyErr_Clear(); /* the launch will report it */
    return scratch;
}

/* Lets a reduction run before deferred steps that it is independent of: it neither reads their
 * results nor writes memory that they use. */
static void launch_out_of_order(int cuda, const GPUArray *operand, const GPUArray *out) {
    const Chain *carried = &arr_chain_carried;
    if (is_waiting() && !chain_is_result(chain, operand) && !chain_is_result(carried, operand) &&
        !chain_touches(chain, out->base_data) && !chain_touches(carried, out->base_data)) {
        begin_own_launch(cuda);
    }
}

int chain_add_end(Plan *plan, GPUArray *first, GPUArray *out, const GPUArray *operand) {
    arr_chain_own_launch = 0;
    int cuda = first->table->cuda;
    const PgDeferral *deferral = deferrals[cuda];
    if (deferral == NULL || arr_pending || !is_waiting() || !deferral->may_wait(first->queue) ||
        !deferral->is_private(out->base_data) || !deferral->is_private(operand->base_data) ||
        !arr_owns_events(out) || !make_event(cuda)) {
        return 0;
    }
    PyObject *object = (PyObject *)operand;
    resume_if_carried(&object, 1);
    PyObject *scratch = new_scratch(plan, first);
    wait_for_flusher();
    int added = chain_append_end(chain, plan, first, out, operand, &scratch);
    int is_deferred = added && should_defer() && attach_event(out);
    if (added && !is_deferred && chain->deferred) { /* as in chain_add() */
        chain_count_extension(chain->now.hash);
        chain_remove_end(chain);
        flush(1, 0);
        added = chain_append_end(chain, plan, first, out, operand, &scratch);
    }
    Py_XDECREF(scratch);
    if (!added) {
        if (cuda) {
            launch_out_of_order(cuda, operand, out);
        }
        return 0;
    }
    return finish_append(cuda, is_deferred);
}

/* From now on, any other launch ends the watched chain. */
void chain_end_own_launch(void) {
    arr_chain_own_launch = 0;
    if (chain->n_steps > 0) {
        set_trap(chain->table->cuda);
    }
    if (arr_chain_carried.n_steps > 0) {
        set_trap(arr_chain_carried.table->cuda);
    }
}

int chain_report(void) {
    if (frequent.backend == NULL || on_frequent == NULL) {
        arr_chain_report_pending = 0;
        return 0;
    }
    PyObject *description = chain_describe(&frequent, frequent_live);
    Py_CLEAR(frequent.backend);
    arr_chain_report_pending = 0;
    reporting = 1;
    PyObject *result = description != NULL ? PyObject_CallOneArg(on_frequent, description) : NULL;
    reporting = 0;
    Py_XDECREF(description);
    Py_XDECREF(result);
    if (result == NULL && PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_WriteUnraisable(on_frequent);
    } else if (result == NULL) { /* Ctrl-C */
        return -1;
    }
    return 0;
}

/* ---- for Python ------------------------------------------------------------------------------ */

PG_DOC(chain_set__doc__, "_chain_set", "mode, on_frequent=None, often=3, wait_us=300, on_copy=None",
       "(mode: int, on_frequent: Callable[[tuple[Any, ...]], None] | None = None, often: int = 3, "
       "wait_us: int = 300, on_copy: Callable[[int], int] | None = None) -> None",
       "Set whether consecutive operations become one launch: 0 no, 1 yes; 2: every operation is "
       "deferred as long as possible. on_frequent is called with a chain that occurred *often* "
       "times; wait_us: microseconds after which a chain is launched if nothing else happens; "
       "on_copy: returns the number of the operation that copies items of a dtype, by its number.");
PG_FUNCTION(chain_set, 5)
static PyObject *chain_set_impl(PyObject *Py_UNUSED(module), PyObject *const *a) {
    uint32_t mode, often = 3, wait_us = 300;
    if (pg_as_u32(a[0], "_chain_set", "mode", &mode) < 0 ||
        (a[2] != NULL && pg_as_u32(a[2], "_chain_set", "often", &often) < 0) ||
        (a[3] != NULL && pg_as_u32(a[3], "_chain_set", "wait_us", &wait_us) < 0)) {
        return NULL;
    }
    if (a[1] != NULL && a[1] != Py_None) {
        Py_XSETREF(on_frequent, Py_NewRef(a[1]));
    }
    if (a[4] != NULL && a[4] != Py_None) {
        Py_XSETREF(on_copy, Py_NewRef(a[4]));
    }
    chain_flush();
    chain_reset_backoff();
    chain_forget_counts();
    arr_chain_mode = mode > 2 ? 2 : (int)mode;
    arr_chain_threshold = often;
    arr_chain_wait_us = wait_us;
    Py_RETURN_NONE;
}

PG_DOC(chain_connect__doc__, "_chain_connect", "cuda, deferral",
       "(cuda: bool, deferral: Any) -> None",
       "Let the operations of a backend's arrays be deferred, by its _deferral().");
PG_FUNCTION(chain_connect, 2)
static PyObject *chain_connect_impl(PyObject *Py_UNUSED(module), PyObject *const *a) {
    int cuda;
    if ((cuda = pg_as_bool(a[0], 0)) < 0) {
        return NULL;
    }
    PgDeferral *given = PyCapsule_GetPointer(a[1], PG_DEFERRAL_CAPSULE);
    if (given == NULL) {
        return NULL;
    }
    deferrals[cuda] = given;
    *given->flush = cuda ? flush_for_cuda : flush_for_opencl;
    Py_RETURN_NONE;
}

static PyObject *chain_compiler(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    compiles = 1;
    Py_RETURN_NONE;
}

static const char launch_when_compiled_doc[] =
    "_launch_when_compiled(launch, queue, /, *arrays)\n--\n\n"
    "(launch: Callable[[], tuple[Any, tuple[Any, ...], dict[str, Any]] | None], queue: Any, /, "
    "*memory: Any) -> bool\n\n"
    "Make a launch on a CUDA queue that uses this memory later, but before any other command. "
    "launch: waits for the kernel and returns (kernel, arguments, keywords) or None. False: it "
    "cannot wait.";

static PyObject *launch_when_compiled(PyObject *Py_UNUSED(module), PyObject *const *args,
                                      Py_ssize_t n) {
    if (n < 2) {
        PyErr_SetString(PyExc_TypeError, "_launch_when_compiled takes at least two arguments");
        return NULL;
    }
    if (arr_chain_mode == 0 || deferrals[1] == NULL) {
        Py_RETURN_FALSE;
    }
    if (!arr_pending) { /* earlier operations are launched first */
        chain_flush();
    }
    int may = deferrals[1]->may_wait(args[1]);
    for (Py_ssize_t i = 2; i < n && may; i++) {
        may = deferrals[1]->is_private(args[i]);
    }
    if (!may) {
        Py_RETURN_FALSE;
    }
    if (pending_append(args[0]) < 0) {
        return NULL;
    }
    set_trap(1);
    Py_RETURN_TRUE;
}

static PyObject *launch_pending(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    if (arr_pending && !flushing) {
        flush(0, 1);
    }
    Py_RETURN_NONE;
}

static PyObject *flush_now(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    chain_flush();
    Py_RETURN_NONE;
}

void arr_clear_chains(void) {
    chain_clear(chain);
    chain_clear(&arr_chain_carried);
    arr_chain_mode = 0;
    for (int cuda = 0; cuda < 2; cuda++) {
        if (deferrals[cuda] != NULL) {
            *deferrals[cuda]->flush = NULL;
            *deferrals[cuda]->trap &= ~PG_TRAP_DEFERRED;
        }
    }
    Py_CLEAR(on_frequent);
    Py_CLEAR(on_copy);
    Py_CLEAR(next_event);
    pending_clear();
}

PyMethodDef arr_chain_functions[] = {
    {"_chain_set", FAST(chain_set), chain_set__doc__},
    {"_chain_connect", FAST(chain_connect), chain_connect__doc__},
    {"_chain_compiler", chain_compiler, METH_NOARGS,
     "_chain_compiler()\n--\n\n() -> None\n\nRegister this thread as the background compiler: its "
     "driver calls do not launch deferred work."},
    {"_launch_when_compiled", (PyCFunction)(void (*)(void))launch_when_compiled, METH_FASTCALL,
     launch_when_compiled_doc},
    {"_launch_pending", launch_pending, METH_NOARGS,
     "_launch_pending()\n--\n\n() -> None\n\nMake the launches that waited for kernels, all of "
     "which are "
     "compiled now, unless another thread does."},
    {"_chain_flush", flush_now, METH_NOARGS,
     "_chain_flush()\n--\n\n() -> None\n\nLaunch deferred work. The next command reports a "
     "failure."},
    {NULL, NULL, 0, NULL},
};
