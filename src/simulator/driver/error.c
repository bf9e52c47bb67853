/* error.c - details of failed calls: a text per thread besides the code, and the names of the
 * codes. */
#include "simulator/driver/driver.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char detail[sizeof(((SimError *)0)->text)];

CUresult sim_fail(CUresult code, const char *format, ...) {
    va_list args;
    if (!sim_thread_ready()) {
        return code;
    }
    va_start(args, format);
    (void)vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    return code;
}

void sim_fail_nothing(void) {
    if (sim_thread_ready()) {
        detail[0] = '\0';
    }
}

CUresult sim_fail_with(const SimError *error) {
    if (sim_thread_ready()) {
        memcpy(detail, error->text, sizeof(detail));
        detail[sizeof(detail) - 1] = '\0';
    }
    return error->code;
}

const char *pygpuSimLastErrorDetail(void) {
    return sim_thread_ready() ? detail : "";
}

typedef struct {
    CUresult code;
    const char *name, *text;
} Row;

static const Row rows[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
#define STATUS(NAME, number, kind, hint) {number, "CUDA_ERROR_" #NAME, NULL},
#include "cuda/api/status.def"
};

/* Descriptions where the name in lower case would be unclear. */
static const Row texts[] = {
    {CUDA_ERROR_INVALID_VALUE, "", "invalid argument"},
    {CUDA_ERROR_NOT_INITIALIZED, "", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "", "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "", "no kernel image is available for execution on the device"},
    {CUDA_ERROR_INVALID_HANDLE, "", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "", "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "", "too many resources requested for launch"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "", "the launch timed out and was terminated"},
    {CUDA_ERROR_ASSERT, "", "device-side assert triggered"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "", "an illegal instruction was encountered"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "", "misaligned address"},
    {CUDA_ERROR_LAUNCH_FAILED, "", "unspecified launch failure"},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "", "too many blocks in cooperative launch"},
    {CUDA_ERROR_NOT_PERMITTED, "", "operation not permitted"},
    {CUDA_ERROR_NOT_SUPPORTED, "", "operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "", "operation not permitted when stream is capturing"},
};

static char spelled[COUNT(rows)][64]; /* "out of memory", made from the names at first use */
static pthread_once_t spell_once = PTHREAD_ONCE_INIT;

static void spell_names(void) {
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *name = &rows[i].name[i == 0 ? 0 : strlen("CUDA_ERROR_")];
        for (size_t c = 0; name[c] != '\0' && c < sizeof(spelled[i]) - 1; c++) {
            spelled[i][c] = (char)(name[c] == '_'                     ? ' '
                                   : name[c] >= 'A' && name[c] <= 'Z' ? name[c] + 32
                                                                      : name[c]);
        }
    }
}

static const Row *find(CUresult code) {
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].code == code) {
            return &rows[i];
        }
    }
    return NULL;
}

/* These two work before cuInit, in a forked child and in a broken context. */
CUresult cuGetErrorName(CUresult error, const char **pStr) {
    const Row *row = find(error);
    if (pStr == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pStr = row != NULL ? row->name : NULL;
    return row != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **pStr) {
    const Row *row = find(error);
    if (pStr == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pStr = NULL;
    if (row == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (row->text != NULL) {
        *pStr = row->text;
        return CUDA_SUCCESS;
    }
    for (size_t i = 0; i < COUNT(texts); i++) {
        if (texts[i].code == error) {
            *pStr = texts[i].text;
            return CUDA_SUCCESS;
        }
    }
    pthread_once(&spell_once, spell_names);
    *pStr = spelled[row - rows];
    return CUDA_SUCCESS;
}
