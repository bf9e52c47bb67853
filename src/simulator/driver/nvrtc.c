/* nvrtc.c - the functions of NVRTC. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/compiler/compiler.h"

enum {
    NVRTC_SUCCESS,
    NVRTC_ERROR_OUT_OF_MEMORY,
    NVRTC_ERROR_PROGRAM_CREATION_FAILURE,
    NVRTC_ERROR_INVALID_INPUT,
    NVRTC_ERROR_INVALID_PROGRAM,
    NVRTC_ERROR_INVALID_OPTION,
    NVRTC_ERROR_COMPILATION,
    NVRTC_ERROR_BUILTIN_OPERATION_FAILURE,
    NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION,
    NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION,
    NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID,
    NVRTC_ERROR_INTERNAL_ERROR
};

struct _nvrtcProgram {
    char *source, *name;
    int n_headers;
    char **headers, **include_names;
    char **expressions, **lowered;
    size_t n_expressions;
    bool compiled; /* whether compilation was tried */
    nvrtcResult result;
    Text image, ptx, log;
};

#define NVRTC_FN(required, name, params) SIM_EXPORT nvrtcResult name params;
#include "cuda/api/nvrtc.fn"
SIM_EXPORT const char *nvrtcGetErrorString(nvrtcResult result);

const char *nvrtcGetErrorString(nvrtcResult result) {
    static const char *const names[] = {"NVRTC_SUCCESS",
                                        "NVRTC_ERROR_OUT_OF_MEMORY",
                                        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                        "NVRTC_ERROR_INVALID_INPUT",
                                        "NVRTC_ERROR_INVALID_PROGRAM",
                                        "NVRTC_ERROR_INVALID_OPTION",
                                        "NVRTC_ERROR_COMPILATION",
                                        "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
                                        "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
                                        "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
                                        "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
                                        "NVRTC_ERROR_INTERNAL_ERROR"};
    return result >= 0 && result < (int)(sizeof names / sizeof names[0]) ? names[result]
                                                                         : "NVRTC_ERROR unknown";
}

nvrtcResult nvrtcVersion(int *major, int *minor) {
    if (major == NULL || minor == NULL)
        return NVRTC_ERROR_INVALID_INPUT;
    *major = sim_driver_version() / 1000;
    *minor = sim_driver_version() % 1000 / 10;
    return NVRTC_SUCCESS;
}

static const int architectures[] = {50, 52, 53, 60, 61,  62,  70,  72,  75, 80,
                                    86, 87, 89, 90, 100, 103, 110, 120, 121};

nvrtcResult nvrtcGetNumSupportedArchs(int *numArchs) {
    if (numArchs == NULL)
        return NVRTC_ERROR_INVALID_INPUT;
    *numArchs = (int)(sizeof architectures / sizeof architectures[0]);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *supportedArchs) {
    if (supportedArchs == NULL)
        return NVRTC_ERROR_INVALID_INPUT;
    memcpy(supportedArchs, architectures, sizeof architectures);
    return NVRTC_SUCCESS;
}

/* ---- programs -------------------------------------------------------------------------------- */

static void free_strings(char **strings, size_t n) {
    for (size_t i = 0; strings != NULL && i < n; i++)
        free(strings[i]);
    free(strings);
}

static char **copy_strings(const char *const *strings, size_t n) {
    char **copies = calloc(n + 1, sizeof *copies);
    for (size_t i = 0; copies != NULL && i < n; i++) {
        copies[i] = strdup(strings[i]);
        if (copies[i] == NULL) {
            free_strings(copies, n);
            return NULL;
        }
    }
    return copies;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *prog) {
    if (prog == NULL || *prog == NULL)
        return NVRTC_ERROR_INVALID_PROGRAM;
    nvrtcProgram p = *prog;
    free(p->source);
    free(p->name);
    free_strings(p->headers, (size_t)p->n_headers);
    free_strings(p->include_names, (size_t)p->n_headers);
    free_strings(p->expressions, p->n_expressions);
    free_strings(p->lowered, p->n_expressions);
    text_free(&p->image);
    text_free(&p->ptx);
    text_free(&p->log);
    free(p);
    *prog = NULL;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *prog, const char *src, const char *name,
                               int numHeaders, const char *const *headers,
                               const char *const *includeNames) {
    if (prog == NULL || src == NULL || numHeaders < 0)
        return NVRTC_ERROR_INVALID_INPUT;
    for (int i = 0; i < numHeaders; i++) {
        if (headers == NULL || includeNames == NULL || headers[i] == NULL ||
            includeNames[i] == NULL)
            return NVRTC_ERROR_INVALID_INPUT;
    }
    nvrtcProgram p = calloc(1, sizeof *p);
    if (p == NULL)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    p->n_headers = numHeaders;
    p->source = strdup(src);
    p->name = strdup(name != NULL && *name != 0 ? name : "default_program");
    p->headers = copy_strings(headers, (size_t)numHeaders);
    p->include_names = copy_strings(includeNames, (size_t)numHeaders);
    if (p->source == NULL || p->name == NULL || p->headers == NULL || p->include_names == NULL) {
        nvrtcDestroyProgram(&p);
        return NVRTC_ERROR_OUT_OF_MEMORY;
    }
    for (char *c = p->name; *c != 0; c++) { /* it goes into a quoted string on a line of its own */
        if (*c == '"' || *c == '\\' || *c == '\n')
            *c = '_';
    }
    *prog = p;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram prog, const char *const name_expression) {
    if (prog == NULL)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (name_expression == NULL)
        return NVRTC_ERROR_INVALID_INPUT;
    if (prog->compiled)
        return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    for (size_t i = 0; i < prog->n_expressions; i++) {
        if (strcmp(prog->expressions[i], name_expression) == 0)
            return NVRTC_SUCCESS;
    }
    char **more = realloc(prog->expressions, (prog->n_expressions + 1) * sizeof *more),
         *copy = strdup(name_expression);
    if (more != NULL)
        prog->expressions = more;
    if (more == NULL || copy == NULL) {
        free(copy);
        return NVRTC_ERROR_OUT_OF_MEMORY;
    }
    prog->expressions[prog->n_expressions++] = copy;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions, const char *const *options) {
    if (prog == NULL)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (numOptions < 0 || (numOptions > 0 && options == NULL))
        return NVRTC_ERROR_INVALID_INPUT;
    for (int i = 0; i < numOptions; i++) {
        if (options[i] == NULL)
            return NVRTC_ERROR_INVALID_INPUT;
    }
    CompileInput input = {prog->source,        prog->name,          prog->n_headers,
                          prog->headers,       prog->include_names, prog->expressions,
                          prog->n_expressions, numOptions,          options};
    text_free(&prog->image);
    text_free(&prog->ptx);
    text_free(&prog->log);
    free_strings(prog->lowered, prog->n_expressions);
    prog->lowered = NULL;
    prog->compiled = true;
    prog->result = compiler_run(&input, &prog->image, &prog->log);
    if (prog->result != NVRTC_SUCCESS) {
        text_free(&prog->image);
        return prog->result;
    }
    prog->lowered = calloc(prog->n_expressions + 1, sizeof *prog->lowered);
    for (size_t i = 0; prog->lowered != NULL && i < prog->n_expressions; i++) {
        prog->lowered[i] = compiler_lowered(&prog->image, i);
    }
    return prog->lowered != NULL ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram prog, size_t *logSizeRet) {
    if (prog == NULL)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (logSizeRet == NULL)
        return NVRTC_ERROR_INVALID_INPUT;
    *logSizeRet = prog->log.size + 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram prog, char *log) {
    if (prog == NULL)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (log == NULL)
        return NVRTC_ERROR_INVALID_INPUT;
    if (prog->log.size > 0)
        memcpy(log, prog->log.data, prog->log.size);
    log[prog->log.size] = 0;
    return NVRTC_SUCCESS;
}

static nvrtcResult image_ready(nvrtcProgram prog, const void *out) {
    if (prog == NULL || prog->image.size == 0)
        return NVRTC_ERROR_INVALID_PROGRAM;
    return out != NULL ? NVRTC_SUCCESS : NVRTC_ERROR_INVALID_INPUT;
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram prog, size_t *ptxSizeRet) {
    nvrtcResult result = image_ready(prog, ptxSizeRet);
    if (result != NVRTC_SUCCESS)
        return result;
    if (prog->ptx.size == 0 && !compiler_encode_text(&prog->ptx, &prog->image))
        return NVRTC_ERROR_OUT_OF_MEMORY;
    *ptxSizeRet = prog->ptx.size + 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetPTX(nvrtcProgram prog, char *ptx) {
    size_t size;
    nvrtcResult result = image_ready(prog, ptx);
    if (result == NVRTC_SUCCESS)
        result = nvrtcGetPTXSize(prog, &size);
    if (result == NVRTC_SUCCESS)
        memcpy(ptx, prog->ptx.data, size);
    return result;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *cubinSizeRet) {
    nvrtcResult result = image_ready(prog, cubinSizeRet);
    if (result == NVRTC_SUCCESS)
        *cubinSizeRet = prog->image.size;
    return result;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin) {
    nvrtcResult result = image_ready(prog, cubin);
    if (result == NVRTC_SUCCESS)
        memcpy(cubin, prog->image.data, prog->image.size);
    return result;
}

/* There is no intermediate code for a link-time optimizer. */
nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram prog, size_t *LTOIRSizeRet) {
    nvrtcResult result = image_ready(prog, LTOIRSizeRet);
    if (result == NVRTC_SUCCESS)
        *LTOIRSizeRet = 0;
    return result;
}

nvrtcResult nvrtcGetLTOIR(nvrtcProgram prog, char *LTOIR) {
    return image_ready(prog, LTOIR);
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram prog, const char *const name_expression,
                                const char **lowered_name) {
    if (prog == NULL)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (name_expression == NULL || lowered_name == NULL)
        return NVRTC_ERROR_INVALID_INPUT;
    if (prog->lowered == NULL)
        return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    for (size_t i = 0; i < prog->n_expressions; i++) {
        if (strcmp(prog->expressions[i], name_expression) == 0 && prog->lowered[i] != NULL) {
            *lowered_name = prog->lowered[i];
            return NVRTC_SUCCESS;
        }
    }
    return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}
