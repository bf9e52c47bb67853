/* diag.c - faults in kernels: turns signals into errors of the launch.
 *
 * The handler acts only if the thread was on a stack in a worker's region. It records the fault
 * and makes the kernel continue on the worker's own stack instead. It does so by changing the
 * registers to which the signal returns, so that the system restores the signal mask and stack.
 * All other signals go to the handler that was there before: faulthandler's, pytest's or the
 * debugger's. Others may install handlers later, so ours is put in front again at each launch. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "simulator/exec/exec.h"

static const int handled[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
enum { N_HANDLED = sizeof handled / sizeof handled[0] };
static struct sigaction before[N_HANDLED];
static pthread_mutex_t hook_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool has_stack;

/* Regions of workers, by which the handler finds its worker from the thread's stack. Thread-local
 * storage cannot be used, because its first use may allocate it. */
enum { MOST_REGIONS = 4096 };
static Worker *regions[MOST_REGIONS];
static unsigned n_regions;

bool diag_region(Worker *worker) {
    const unsigned i = __atomic_fetch_add(&n_regions, 1, __ATOMIC_RELAXED);
    if (i >= MOST_REGIONS)
        return false;
    __atomic_store_n(&regions[i], worker, __ATOMIC_RELEASE);
    return true;
}

static Worker *worker_of_stack(uintptr_t stack) {
    const uintptr_t region = stack & ~((uintptr_t)SIM_REGION - 1);
    const unsigned n = __atomic_load_n(&n_regions, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < n && i < MOST_REGIONS; i++) {
        Worker *worker = __atomic_load_n(&regions[i], __ATOMIC_ACQUIRE);
        if ((uintptr_t)worker == region)
            return worker;
    }
    return NULL;
}

/* Where copies continue that access unmapped memory, for each thread that makes one; not
 * thread-local, for the same reason. */
enum { MOST_GUARDS = 64 }; /* at a time; further copies have no guard */
typedef enum { GUARD_FREE, GUARD_TAKEN, GUARD_READY } GuardState;
static struct {
    _Atomic int state;
    pthread_t thread;
    sigjmp_buf back;
    uintptr_t address;
} guards[MOST_GUARDS];

static unsigned guard_of_thread(void) {
    unsigned i = 0;
    while (i < MOST_GUARDS && (atomic_load(&guards[i].state) != GUARD_READY ||
                               !pthread_equal(guards[i].thread, pthread_self())))
        i++;
    return i;
}

/* ---- the handler ----------------------------------------------------------------------------- */

static uintptr_t stack_pointer(const ucontext_t *u) {
#if defined(__x86_64__)
    return (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
#else
    return (uintptr_t)u->uc_mcontext.sp;
#endif
}

static uintptr_t program_counter(const ucontext_t *u) {
#if defined(__x86_64__)
    return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#else
    return (uintptr_t)u->uc_mcontext.pc;
#endif
}

/* Does what switch_stacks of fiber.c would do to return to the worker's stack. */
static void return_home(ucontext_t *u, const Worker *worker) {
    uintptr_t *home = worker->home;
#if defined(__x86_64__)
    u->uc_mcontext.gregs[REG_RIP] = (greg_t)home[0];
    u->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)(home + 1);
    u->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)0x40400; /* direction and alignment check flags */
#else
    u->uc_mcontext.sp = (uintptr_t)home;
    u->uc_mcontext.pc = home[2];
#endif
}

static void call_previous_handler(int number, siginfo_t *info, void *context) {
    for (int i = 0; i < N_HANDLED; i++) {
        if (handled[i] != number)
            continue;
        const struct sigaction old = before[i];
        if (old.sa_flags & SA_SIGINFO) {
            old.sa_sigaction(number, info, context);
        } else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
            old.sa_handler(number);
        } else { /* as if this handler did not exist: the instruction runs again, or the signal is
                  * sent again */
            signal(number, SIG_DFL);
            if (info->si_code <= 0)
                raise(number);
        }
    }
}

static void handler(int number, siginfo_t *info, void *context) {
    ucontext_t *u = context;
    const int saved = errno;
    const uintptr_t stack = stack_pointer(u);
    Worker *worker = worker_of_stack(stack);
    if (worker == NULL || worker->where == WHERE_OUTSIDE ||
        (number != SIM_WATCH_SIGNAL && info->si_code <= 0 && number != SIGTRAP)) {
        const unsigned guard = (number == SIGSEGV || number == SIGBUS) && info->si_code > 0
                                   ? guard_of_thread()
                                   : MOST_GUARDS;
        if (guard < MOST_GUARDS) {
            sigset_t again;
            sigemptyset(&again);
            sigaddset(&again, number);
            pthread_sigmask(SIG_UNBLOCK, &again, NULL);
            guards[guard].address = (uintptr_t)info->si_addr;
            siglongjmp(guards[guard].back, 1);
        }
        if (number != SIM_WATCH_SIGNAL)
            call_previous_handler(number, info, context);
        errno = saved;
        return;
    }
    const uintptr_t pc = program_counter(u);
    if (number == SIM_WATCH_SIGNAL) { /* only in the kernel's own code: other code may hold locks */
        if (!worker->stop || worker->where == WHERE_RUNTIME ||
            !sim_module_contains(worker->job->kernel->module, pc))
            return;
        worker->fault.signal = SIM_FAULT_STOPPED;
    } else {
        worker->fault.signal = number;
    }
    worker->fault.address = (uintptr_t)info->si_addr;
    worker->fault.pc = pc;
    worker->fault.stack = stack;
    worker->fault.known = number != SIGSEGV ||
                          info->si_code != SI_KERNEL; /* the address is unknown if it is not
                                                       * canonical */
#if defined(__x86_64__)
    worker->fault.write = (u->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#endif
    worker->failed = 1;
    return_home(u, worker);
    errno = saved;
}

static void install_handler(int index) {
    struct sigaction ours, old;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = handler;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    if (sigaction(handled[index], &ours, &old) == 0 && old.sa_sigaction != handler)
        before[index] = old;
}

#define SIGNAL_STACK 65536u

static pthread_key_t stack_key;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static bool stack_freed; /* free it when its thread ends */

static void free_stack(void *stack) {
    const stack_t none = {.ss_flags = SS_DISABLE};
    if (sigaltstack(&none, NULL) == 0)
        munmap(stack, SIGNAL_STACK);
}

static void make_stack_key(void) {
    stack_freed = pthread_key_create(&stack_key, free_stack) == 0;
}

/* Sets up a stack for this thread's signals, unless it has a suitable one. */
static CUresult signal_stack(void) {
    stack_t old;
    if (!sim_thread_ready())
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (has_stack)
        return CUDA_SUCCESS;
    if (sigaltstack(NULL, &old) != 0 || (old.ss_flags & SS_DISABLE) || old.ss_size < 32768) {
        stack_t mine = {.ss_size = SIGNAL_STACK};
        mine.ss_sp =
            mmap(NULL, mine.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mine.ss_sp == MAP_FAILED || sigaltstack(&mine, NULL) != 0) {
            return sim_fail(CUDA_ERROR_OPERATING_SYSTEM, "no stack for the signals of a thread");
        }
        pthread_once(&stack_once, make_stack_key);
        if (stack_freed)
            pthread_setspecific(stack_key, mine.ss_sp);
    }
    has_stack = true;
    return CUDA_SUCCESS;
}

/* The signals come to a thread only if it does not block them, as threads of servers do, and those
 * that they start. Returns the thread's mask. */
static sigset_t unblock(void) {
    sigset_t ours, mask;
    sigemptyset(&ours);
    sigaddset(&ours, SIM_WATCH_SIGNAL);
    for (int i = 0; i < N_HANDLED; i++)
        sigaddset(&ours, handled[i]);
    if (pthread_sigmask(SIG_UNBLOCK, &ours, &mask) != 0)
        sigemptyset(&mask);
    return mask;
}

/* Gives a thread of the program the mask that it had before diag_enter(). */
void diag_leave(const sigset_t *mask) {
    bool blocked = sigismember(mask, SIM_WATCH_SIGNAL) == 1;
    for (int i = 0; i < N_HANDLED; i++)
        blocked |= sigismember(mask, handled[i]) == 1;
    if (blocked)
        pthread_sigmask(SIG_SETMASK, mask, NULL);
}

/* Called before a launch: one query tells whether others have installed handlers before ours. */
CUresult diag_enter(sigset_t *mask) {
    struct sigaction now;
    const CUresult status = signal_stack();
    sigemptyset(mask);
    if (status != CUDA_SUCCESS)
        return status;
    *mask = unblock();
    sigaction(SIGSEGV, NULL, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handler)
        return CUDA_SUCCESS;
    pthread_mutex_lock(&hook_lock);
    for (int i = 0; i < N_HANDLED; i++)
        install_handler(i);
    struct sigaction watch;
    memset(&watch, 0, sizeof watch);
    watch.sa_sigaction = handler;
    watch.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigaction(SIM_WATCH_SIGNAL, &watch, NULL);
    pthread_mutex_unlock(&hook_lock);
    return CUDA_SUCCESS;
}

bool sim_guarded(void (*act)(const void *what), const void *what, uintptr_t *address) {
    sigset_t mask;
    unsigned slot = diag_enter(&mask) == CUDA_SUCCESS ? 0 : MOST_GUARDS;
    for (int none = GUARD_FREE; slot < MOST_GUARDS && !atomic_compare_exchange_strong(
                                                          &guards[slot].state, &none, GUARD_TAKEN);
         none = GUARD_FREE)
        slot++;
    if (slot == MOST_GUARDS) {
        act(what);
        diag_leave(&mask);
        return true;
    }
    guards[slot].thread = pthread_self();
    const bool good = sigsetjmp(guards[slot].back, 0) == 0;
    if (good) {
        atomic_store(&guards[slot].state, GUARD_READY);
        act(what);
    } else {
        *address = guards[slot].address;
    }
    atomic_store(&guards[slot].state, GUARD_FREE);
    diag_leave(&mask);
    return good;
}

/* ---- messages -------------------------------------------------------------------------------- */

void diag_thread(const Worker *worker, char *text, size_t size) {
    const SimContext *c = &worker->c;
    int n = snprintf(text, size, "kernel %s, block (%u,%u,%u)",
                     sim_kernel_name(worker->job->kernel), c->block.x, c->block.y, c->block.z);
    if (n > 0 && (size_t)n < size && c->linear < SIM_MAX_THREADS) {
        snprintf(text + n, size - (size_t)n, ", thread (%u,%u,%u)", c->thread.x, c->thread.y,
                 c->thread.z);
    }
}

void diag_address(const Worker *worker, uintptr_t address, char *text, size_t size) {
    SimBlock block;
    static const char *const kinds[] = {"allocation",      "managed allocation",
                                        "host allocation", "registered host memory",
                                        "array",           "variable"};
    const uintptr_t dynamic = (uintptr_t)worker->c.dynamic;
    if (address < 4096) {
        snprintf(text, size, "a null pointer%s", address != 0 ? ", with an offset" : "");
    } else if (address - dynamic < 65536 + worker->c.dynamic_size && worker->c.dynamic_size > 0) {
        snprintf(text, size, "offset %zu of dynamic shared memory; the launch asked for %llu bytes",
                 (size_t)(address - dynamic), worker->c.dynamic_size);
    } else if (sim_memory_near(address, &block)) {
        const char *kind = kinds[block.kind];
        if (address < block.base) {
            snprintf(text, size, "%zu bytes before the %zu-byte %s at 0x%zx",
                     (size_t)(block.base - address), block.size, kind, (size_t)block.base);
        } else if (address - block.base >= block.used) {
            snprintf(text, size, "%zu bytes past the end of the %zu-byte %s%s at 0x%zx",
                     (size_t)(address - block.base - block.used), block.used,
                     block.freed ? "freed " : "", kind, (size_t)block.base);
        } else {
            snprintf(text, size, "%zu bytes into the %s%zu-byte %s at 0x%zx",
                     (size_t)(address - block.base), block.freed ? "freed " : "", block.size, kind,
                     (size_t)block.base);
        }
    } else {
        snprintf(text, size, "no device memory is near (a host pointer?)");
    }
}

/* Describes what was wrong with the access; called: it was a call through an invalid function
 * pointer. */
static CUresult describe_access(const Worker *worker, bool called, char *what, size_t size) {
    const uintptr_t address = worker->fault.address;
    unsigned number;
    bool guard;
    if (worker->fault.known && address - (uintptr_t)worker < SIM_REGION &&
        fiber_of(worker, address, &number, &guard) && guard) {
        snprintf(what, size,
                 "stack overflow: more than the limit of %zu bytes a thread (deep recursion, "
                 "or large local arrays; cuCtxSetLimit raises it)",
                 worker->stack_size);
        return CUDA_ERROR_LAUNCH_FAILED;
    }
    if (!worker->fault.known) {
        snprintf(what, size,
                 "access through a pointer that is not an address at all (an uninitialized one?)");
    } else {
        char near[400];
        diag_address(worker, address, near, sizeof near);
        snprintf(what, size, "invalid %s address 0x%zx: %s",
                 called                ? "call of"
                 : worker->fault.write ? "write to"
                                       : "read of",
                 (size_t)address, near);
    }
    return CUDA_ERROR_ILLEGAL_ADDRESS;
}

/* Writes the message for a fault that the handler recorded. Runs on the worker's own stack. */
void diag_explain(Worker *worker) {
    char who[200], what[500], where[250];
    SimError *error = worker->error;
    if (worker->fault.signal == 0)
        return; /* the message exists already */
    diag_thread(worker, who, sizeof who);
    uintptr_t pc = worker->fault.pc;
    const bool called = worker->fault.known && pc == worker->fault.address &&
                        worker->fault.signal == SIGSEGV; /* an invalid function pointer */
#if defined(__x86_64__)
    if (called)
        pc = *(const uintptr_t *)worker->fault.stack - 1; /* blame its caller */
#endif
    if (!source_line_describe(worker->job->kernel->module, pc, where, sizeof where) &&
        sim_checked() && worker->fault.signal == SIM_FAULT_STOPPED &&
        check_caller(worker) != 0) { /* stopped inside a check of an access, not in the loop
                                      * itself */
        source_line_describe(worker->job->kernel->module, check_caller(worker), where,
                             sizeof where);
    }
    error->code = CUDA_ERROR_LAUNCH_FAILED;
    switch (worker->fault.signal) {
    case SIGFPE:
        snprintf(what, sizeof what, "integer division by zero, or of the least integer by -1");
        break;
    case SIM_FAULT_STOPPED:
        error->code = watch_reason(worker, what, sizeof what);
        break;
    case SIGILL:
    case SIGTRAP:
        snprintf(what, sizeof what,
                 sim_checked() ? "an index outside of an array whose size is known, or a trap"
                               : "trap: code was reached that cannot be");
        break;
    default:
        error->code = describe_access(worker, called, what, sizeof what);
    }
    snprintf(error->text, sizeof error->text, "%s: %s%s", who, what, where);
    worker->fault.signal = 0;
}
