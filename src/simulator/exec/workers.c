/* workers.c - system threads that run blocks. The thread that requests a launch runs it; if there
 * is enough work, idle workers of the pool help. They are started when first needed, and live as
 * long as the process. */
#include <stdlib.h>
#include <string.h>

#include "simulator/exec/exec.h"

#define ALONE 8192u /* threads of a launch up to which waking others costs more than it gains */

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_work = PTHREAD_COND_INITIALIZER; /* tells workers that there is a job */
static pthread_cond_t pool_done =
    PTHREAD_COND_INITIALIZER; /* tells owners that a helper has left a job */
static Job *pool_jobs;        /* jobs that want helpers */
static int pool_threads;
static pthread_once_t pool_fork = PTHREAD_ONCE_INIT;

/* ---- running a job's blocks on this thread --------------------------------------------------- */

/* Checked code reads its parameters through checks, so they must be in accessible memory. */
static void copy_params(Worker *worker, const SimKernel *kernel, const SimLaunch *launch) {
    const SimEntry *entry = kernel->entry;
    size_t used = 0;
    for (unsigned i = 0; i < entry->n_params && i < SIM_MOST_PARAMS; i++) {
        const size_t size = entry->sizes[i];
        used = (used + 63) & ~(size_t)63;
        if (used + size > sizeof worker->param_values)
            return;
        memcpy(worker->param_values + used, launch->params[i], size);
        worker->param_addresses[i] = worker->param_values + used;
        used += size;
    }
    if (entry->n_params <= SIM_MOST_PARAMS)
        worker->c.params = worker->param_addresses;
}

static void worker_enter(Worker *worker, Job *job) {
    SimContext *c = &worker->c;
    const SimLaunch *launch = job->launch;
    worker->job = job;
    worker->thread = pthread_self();
    c->block_size = (SimTriple){launch->block.x, launch->block.y, launch->block.z};
    c->grid_size = (SimTriple){launch->grid.x, launch->grid.y, launch->grid.z};
    c->threads = launch->block.x * launch->block.y * launch->block.z;
    c->params = launch->params;
    c->cooperative = launch->cooperative;
    c->dynamic = worker->dynamic;
    c->dynamic_size = launch->shared;
    worker->failed = worker->stop = 0;
    worker->fault.signal = 0;
    worker->error = &worker->own_error;
    worker->own_error.code = CUDA_SUCCESS;
    sim_module_enter(job->kernel->module, worker->dynamic);
    if (sim_checked()) {
        check_begin(worker);
        copy_params(worker, job->kernel, launch);
    }
    watch_begin(worker);
}

static void worker_leave(Worker *worker) {
    watch_end(worker);
    worker->job = NULL;
}

static void job_failed(Job *job, const SimError *error) {
    pthread_mutex_lock(&job->lock);
    if (job->error.code == CUDA_SUCCESS)
        job->error = *error;
    atomic_store(&job->stop, 1);
    pthread_cond_broadcast(&job->grid);
    pthread_mutex_unlock(&job->lock);
}

/* A pseudorandom permutation of 0 .. n - 1: a shift, then multiplication by a number coprime to
 * n. */
static unsigned long long shuffled(unsigned long long i, unsigned long long n,
                                   unsigned long long seed) {
    unsigned long long step = (0x9e3779b97f4a7c15ull ^ seed * 0xbf58476d1ce4e5b9ull) % n | 1;
    for (;; step += 2) {
        unsigned long long a = n, b = step % n;
        while (b != 0) {
            unsigned long long rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            break;
    }
    return (unsigned long long)(((unsigned __int128)i * step + seed) % n);
}

static void run_blocks(Worker *worker, Job *job) {
    const SimEntry *entry = job->kernel->entry;
    unsigned long long seed;
    const SimOrder order = sim_order(&seed);
    const bool loops = entry->block != NULL,
               in_strides = loops && entry->threads != NULL && !entry->regions;
    const unsigned long long width = job->launch->grid.x,
                             most = (0x7fffffffull - 1024) / job->launch->block.x;
    /* Except for strides, loops need indices along x that fit into an int; blocks beyond that run
     * thread by thread. */
    const bool wide = !in_strides && width - 1 > most;
    while (!atomic_load_explicit(&job->stop, memory_order_relaxed)) {
        const unsigned long long first =
            atomic_fetch_add_explicit(&job->next, job->chunk, memory_order_relaxed);
        if (first >= job->blocks)
            return;
        const unsigned long long count = first + job->chunk > job->blocks ? job->blocks - first
                                                                          : job->chunk;
        bool good = true;
        if (loops && order == SIM_FORWARD && !wide) {
            good = blocks_run(worker, first, count);
        } else {
            for (unsigned long long i = first; good && i < first + count; i++) {
                const unsigned long long number = order == SIM_FORWARD ? i
                                                  : order == SIM_REVERSE
                                                      ? job->blocks - 1 - i
                                                      : shuffled(i, job->blocks, seed);
                good = loops && (!wide || number % width <= most) ? blocks_run(worker, number, 1)
                                                                  : block_run(worker, number);
            }
        }
        if (!good) {
            job_failed(job, worker->error);
            return;
        }
    }
}

/* Prepares this thread for the job, besides the worker. */
static bool job_ready(Worker *worker, const Job *job) {
    const SimModule *module = job->kernel->module;
    const uint64_t number = sim_module_number(module);
    if (worker_ready(worker, job->launch->shared) != CUDA_SUCCESS)
        return false;
    if (worker->ready_for != number || !pthread_equal(worker->ready_thread, pthread_self())) {
        if (!sim_module_ready(module))
            return false;
        worker->ready_for = number; /* asking the loader takes a tenth of a launch */
        worker->ready_thread = pthread_self();
    }
    return true;
}

/* If out of memory, a helper leaves the job to others. */
static bool run_job(Worker *worker, Job *job, bool helper) {
    if (!job_ready(worker, job)) {
        if (helper)
            return false;
        SimError error = {CUDA_ERROR_OUT_OF_MEMORY, "no memory for stacks and shared memory"};
        job_failed(job, &error);
        return false;
    }
    worker_enter(worker, job);
    run_blocks(worker, job);
    worker_leave(worker);
    return true;
}

/* ---- the pool -------------------------------------------------------------------------------- */

static void *pool_main(void *unused) {
    (void)unused;
    Worker *worker = worker_acquire();
    sigset_t mask;
    const bool ready = worker != NULL && diag_enter(&mask) == CUDA_SUCCESS;
    if (!ready && worker != NULL)
        worker_release(worker);
    pthread_mutex_lock(&pool_lock);
    if (!ready) { /* a later launch may start another worker */
        pool_threads--;
        pthread_mutex_unlock(&pool_lock);
        return NULL;
    }
    for (;;) {
        while (pool_jobs == NULL)
            pthread_cond_wait(&pool_work, &pool_lock);
        Job *job = pool_jobs;
        job->helpers++;
        pthread_mutex_unlock(&pool_lock);
        run_job(worker, job, true);
        pthread_mutex_lock(&pool_lock);
        for (Job **link = &pool_jobs; *link != NULL;
             link = &(*link)->later) { /* it has no more blocks */
            if (*link == job) {
                *link = job->later;
                break;
            }
        }
        if (--job->helpers == 0)
            pthread_cond_broadcast(&pool_done);
    }
    return NULL;
}

static void pool_forked(
    void) { /* a forked child has no other threads, and locks may be held forever */
    pthread_mutex_init(&pool_lock, NULL);
    pthread_cond_init(&pool_work, NULL);
    pthread_cond_init(&pool_done, NULL);
    pool_jobs = NULL;
    pool_threads = 0;
}

static void pool_watch_forks(void) {
    pthread_atfork(NULL, NULL, pool_forked);
}

static bool start_thread(void *(*main)(void *), void *argument, pthread_t *out) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256u << 10);
    if (out == NULL)
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    const bool good = pthread_create(out != NULL ? out : &thread, &attributes, main, argument) == 0;
    pthread_attr_destroy(&attributes);
    return good;
}

/* ---- cooperative launches: a system thread per block, so that all of them can wait for each other
 * -------- */

static void run_cooperative_block(Job *job) {
    Worker *worker = worker_acquire();
    SimError error = {CUDA_ERROR_OUT_OF_MEMORY, "no memory for the blocks of a cooperative launch"};
    sigset_t mask;
    if (worker != NULL && diag_enter(&mask) == CUDA_SUCCESS && job_ready(worker, job)) {
        worker_enter(worker, job);
        if (!block_run(worker, atomic_fetch_add(&job->next, 1)))
            job_failed(job, worker->error);
        worker_leave(worker);
        pthread_mutex_lock(&job->lock); /* other blocks must not wait for this one */
        if (--job->grid_alive > 0 && job->grid_arrived == job->grid_alive) {
            job->grid_arrived = 0;
            job->grid_phase++;
            pthread_cond_broadcast(&job->grid);
        }
        pthread_mutex_unlock(&job->lock);
    } else {
        job_failed(job, &error);
    }
    if (worker != NULL)
        worker_release(worker);
}

static void *cooperative_main(void *job) {
    run_cooperative_block(job);
    return NULL;
}

static void pool_run_cooperative(Job *job) {
    pthread_t *threads = malloc(sizeof *threads * job->blocks);
    unsigned started = 0;
    job->grid_alive = (unsigned)job->blocks;
    while (threads != NULL && started + 1 < job->blocks &&
           start_thread(cooperative_main, job, &threads[started]))
        started++;
    if (threads == NULL || started + 1 < job->blocks) {
        SimError error = {CUDA_ERROR_OPERATING_SYSTEM,
                          "no system thread for every block of a cooperative launch"};
        job_failed(job, &error);
    } else {
        run_cooperative_block(job);
    }
    while (started > 0)
        pthread_join(threads[--started], NULL);
    free(threads);
}

void pool_run(Job *job) {
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->grid, NULL);
    pthread_once(&pool_fork, pool_watch_forks);
    if (job->launch->cooperative) {
        pool_run_cooperative(job);
    } else {
        const unsigned threads = job->launch->block.x * job->launch->block.y * job->launch->block.z;
        const int wanted = sim_threads() - 1;
        const bool help = wanted > 0 && job->blocks > 1 &&
                          (job->blocks >= ALONE || job->blocks * threads >= ALONE);
        const unsigned long long parts =
            job->blocks / (8ull * (unsigned)(wanted + 1)); /* small enough to balance the load,
                                                            * large enough to be cheap */
        job->chunk = parts < 1 ? 1 : parts > 64 ? 64 : (unsigned)parts;
        if (help) {
            pthread_mutex_lock(&pool_lock);
            while (pool_threads < wanted && start_thread(pool_main, NULL, NULL))
                pool_threads++;
            job->later = pool_jobs;
            pool_jobs = job;
            pthread_cond_broadcast(&pool_work);
            pthread_mutex_unlock(&pool_lock);
        }
        Worker *worker = worker_acquire();
        if (worker != NULL) {
            run_job(worker, job, false);
            worker_release(worker);
        } else {
            SimError error = {CUDA_ERROR_OUT_OF_MEMORY, "no memory for stacks"};
            job_failed(job, &error);
        }
        if (help) {
            pthread_mutex_lock(&pool_lock);
            for (Job **link = &pool_jobs; *link != NULL; link = &(*link)->later) {
                if (*link == job) {
                    *link = job->later;
                    break;
                }
            }
            while (job->helpers > 0)
                pthread_cond_wait(&pool_done, &pool_lock);
            pthread_mutex_unlock(&pool_lock);
        }
    }
    pthread_cond_destroy(&job->grid);
    pthread_mutex_destroy(&job->lock);
}
