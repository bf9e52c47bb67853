/* work.c - pieces of work: kernels, copies, fills, callbacks; running them, copying them into
 * graphs, releasing them. */
#include "simulator/device/memory.h"
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/event.h"
#include "simulator/driver/function.h"
#include "simulator/driver/graph.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local bool sim_in_callback;

/* ---- running --------------------------------------------------------------------------------- */

static CUresult run_kernel(SimWork *work, SimOrigin origin, SimError *error) {
    SimFunction *function = work->kernel.function;
    void *on_stack[64], **params = on_stack;
    unsigned char *bytes = work->kernel.more != NULL ? work->kernel.more : work->kernel.params;
    if (function->n_params > (int)COUNT(on_stack)) {
        params = malloc(sizeof(*params) * (size_t)function->n_params);
        if (params == NULL) {
            (void)snprintf(error->text, sizeof(error->text), "the machine has no memory left");
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    for (int i = 0; i < function->n_params; i++) {
        params[i] = &bytes[function->params[i].offset];
    }
    SimLaunch launch = {.grid = work->kernel.grid,
                        .block = work->kernel.block,
                        .cluster = {1, 1, 1},
                        .shared = work->kernel.shared,
                        .cooperative = work->kernel.cooperative,
                        .params = params,
                        .origin = origin};
    CUresult status = sim_exec(function->kernel, &launch, error);
    if (params != on_stack) {
        free(params);
    }
    return status;
}

void sim_box_copy(const SimBox *box) {
    if (box->width == 0 || box->height == 0 || box->depth == 0) {
        return;
    }
    size_t width = box->width, height = box->height, depth = box->depth;
    if (height > 1 && box->to_pitch == width &&
        box->from_pitch == width) { /* rows without gaps form one row */
        if (depth > 1 && box->to_slice == width * height && box->from_slice == width * height) {
            height *= depth;
            depth = 1;
        }
        width *= height;
        height = 1;
    }
    for (size_t z = 0; z < depth; z++) {
        for (size_t y = 0; y < height; y++) {
            memmove((char *)box->to + z * box->to_slice + y * box->to_pitch,
                    (const char *)box->from + z * box->from_slice + y * box->from_pitch, width);
        }
    }
}

static void fill16(uint16_t *to, uint16_t value, size_t n) {
    for (size_t i = 0; i < n; i++) {
        to[i] = value;
    }
}

static void fill32(uint32_t *to, uint32_t value, size_t n) {
    for (size_t i = 0; i < n; i++) {
        to[i] = value;
    }
}

static void run_copy(const void *work) {
    sim_box_copy(&((const SimWork *)work)->copy.box);
}

static void run_set(const void *op) {
    const SimWork *work = op;
    for (size_t y = 0; y < work->set.height; y++) {
        char *row = (char *)work->set.to + y * work->set.pitch;
        if (work->set.element == 1) {
            memset(row, (int)(unsigned char)work->set.value, work->set.width);
        } else if (work->set.element == 2) {
            fill16((uint16_t *)(void *)row, (uint16_t)work->set.value, work->set.width);
        } else {
            fill32((uint32_t *)(void *)row, work->set.value, work->set.width);
        }
    }
}

/* Graphs store plain addresses, and a module's variables are freed with it: queued work may find
 * no memory there. */
static CUresult run_guarded(void (*act)(const void *work), const SimWork *work, const char *what,
                            SimError *error) {
    uintptr_t address = 0;
    SimBlock block;
    if (sim_guarded(act, work, &address)) {
        return CUDA_SUCCESS;
    }
    bool freed = sim_memory_near(address, &block) && block.freed &&
                 address - block.base < block.size;
    (void)snprintf(error->text, sizeof(error->text),
                   freed ? "a %s at %#zx, in memory of %zu bytes that was freed"
                         : "a %s at %#zx, where there is no memory",
                   what, (size_t)address, block.size);
    return CUDA_ERROR_ILLEGAL_ADDRESS;
}

/* Without memory for the flag, the callback runs nevertheless, because someone waits for what it
 * frees. */
static void set_in_callback(bool value) {
    if (sim_thread_ready()) {
        sim_in_callback = value;
    }
}

CUresult sim_work_run(SimWork *work, SimContext *context, SimOrigin origin, SimError *error) {
    switch (work->kind) {
    case WORK_KERNEL:
        return run_kernel(work, origin, error);
    case WORK_COPY:
        return run_guarded(run_copy, work, "copy", error);
    case WORK_SET:
        return run_guarded(run_set, work, "fill", error);
    case WORK_HOST:
        set_in_callback(true);
        work->host.call(work->host.data);
        set_in_callback(false);
        return CUDA_SUCCESS;
    case WORK_CALLBACK:
        set_in_callback(true);
        work->callback.call(work->callback.stream,
                            atomic_load(&context->failed) ? context->error.code : CUDA_SUCCESS,
                            work->callback.data);
        set_in_callback(false);
        return CUDA_SUCCESS;
    case WORK_RECORD:
        atomic_store(&work->mark->time, sim_now());
        return CUDA_SUCCESS;
    case WORK_FREE:
        sim_memory_free_retired(work->free.base, work->free.id);
        return CUDA_SUCCESS;
    case WORK_PROGRAM:
        return sim_program_run(work->program, context, origin, error);
    case WORK_EMPTY:
        break;
    }
    return CUDA_SUCCESS;
}

/* ---- releasing, copying ---------------------------------------------------------------------- */

void sim_work_clear(SimWork *work) {
    switch (work->kind) {
    case WORK_KERNEL:
        sim_object_drop(work->kernel.function);
        free(work->kernel.more);
        break;
    case WORK_COPY:
        sim_object_drop(work->copy.objects[0]);
        sim_object_drop(work->copy.objects[1]);
        free(work->copy.staging);
        break;
    case WORK_RECORD:
        sim_mark_drop(work->mark);
        break;
    case WORK_PROGRAM:
        sim_program_drop(work->program);
        break;
    case WORK_SET:
    case WORK_HOST:
    case WORK_CALLBACK:
    case WORK_FREE:
    case WORK_EMPTY:
        break;
    }
    work->kind = WORK_EMPTY;
}

CUresult sim_work_copy(SimWork *to, const SimWork *from) {
    *to = *from;
    switch (from->kind) {
    case WORK_KERNEL:
        if (from->kernel.more != NULL) {
            to->kernel.more = malloc(from->kernel.n_bytes);
            if (to->kernel.more == NULL) {
                to->kind = WORK_EMPTY;
                return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
            }
            memcpy(to->kernel.more, from->kernel.more, from->kernel.n_bytes);
        }
        sim_object_keep(from->kernel.function);
        break;
    case WORK_COPY:
        for (int i = 0; i < 2; i++) {
            if (from->copy.objects[i] != NULL) {
                sim_object_keep(from->copy.objects[i]);
            }
        }
        to->copy.staging = NULL; /* graphs copy from the program's own address */
        break;
    case WORK_PROGRAM:
        sim_program_keep(from->program);
        break;
    default: /* the others hold nothing, or cannot be in graphs */
        break;
    }
    return CUDA_SUCCESS;
}
