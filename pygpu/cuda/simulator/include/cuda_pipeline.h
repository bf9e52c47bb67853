/* cuda_pipeline.h - copies to shared memory that a GPU makes in the background: done here when the call returns. */
#pragma once
#pragma GCC system_header
#include "sim_base.h"
#include "sim_hide.h"

PGS_F void __pipeline_memcpy_async(void *to, const void *from, size_t size, size_t zeros = 0) {
    __builtin_memcpy(to, from, size - zeros);
    __builtin_memset((char *)to + (size - zeros), 0, zeros);
}
PGS_F void __pipeline_commit() {}
PGS_F void __pipeline_wait_prior(size_t) {}
#include "sim_show.h"
