/* options.c - NVRTC's options as those of g++ and clang++. What only concerns the code of a GPU is accepted and has no effect. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"

typedef enum { IGNORED, IGNORED_VALUE, DEFINE, UNDEFINE, INCLUDE_PATH, INCLUDE_FILE, STANDARD, ARCHITECTURE, FAST, FMAD, DEBUG, NO_WARNINGS, RELOCATABLE } What;

static const struct { const char *name; What what; } known[] = {
    {"-D", DEFINE}, {"--define-macro", DEFINE}, {"-U", UNDEFINE}, {"--undefine-macro", UNDEFINE}, {"-I", INCLUDE_PATH},
    {"--include-path", INCLUDE_PATH}, {"-include", INCLUDE_FILE}, {"--pre-include", INCLUDE_FILE}, {"-std", STANDARD}, {"--std", STANDARD},
    {"-arch", ARCHITECTURE}, {"--gpu-architecture", ARCHITECTURE}, {"-gpu-architecture", ARCHITECTURE}, {"-use_fast_math", FAST}, {"--use_fast_math", FAST}, {"-fmad", FMAD},
    {"--fmad", FMAD}, {"-G", DEBUG}, {"--device-debug", DEBUG}, {"-w", NO_WARNINGS}, {"--disable-warnings", NO_WARNINGS},
    {"-default-device", IGNORED}, {"--device-as-default-execution-space", IGNORED}, {"-lineinfo", IGNORED}, {"--generate-line-info", IGNORED},
    {"-ftz", IGNORED_VALUE}, {"--ftz", IGNORED_VALUE}, {"-prec-sqrt", IGNORED_VALUE}, {"--prec-sqrt", IGNORED_VALUE}, {"-prec-div", IGNORED_VALUE},
    {"--prec-div", IGNORED_VALUE}, {"-maxrregcount", IGNORED_VALUE}, {"--maxrregcount", IGNORED_VALUE}, {"-rdc", RELOCATABLE},
    {"--relocatable-device-code", RELOCATABLE}, {"-dc", RELOCATABLE}, {"-dw", IGNORED}, {"--device-c", RELOCATABLE}, {"--device-w", IGNORED},
    {"-ewp", IGNORED}, {"--extensible-whole-program", IGNORED}, {"-O", IGNORED_VALUE}, {"--dopt", IGNORED_VALUE}, {"-dopt", IGNORED_VALUE},
    {"-Ofast-compile", IGNORED_VALUE}, {"--Ofast-compile", IGNORED_VALUE}, {"--ptxas-options", IGNORED_VALUE}, {"-Xptxas", IGNORED_VALUE},
    {"--extra-device-vectorization", IGNORED}, {"-extra-device-vectorization", IGNORED}, {"-modify-stack-limit", IGNORED_VALUE},
    {"--modify-stack-limit", IGNORED_VALUE}, {"-dlto", IGNORED}, {"--dlink-time-opt", IGNORED}, {"-opt-info", IGNORED_VALUE}, {"--optimization-info", IGNORED_VALUE},
    {"-builtin-move-forward", IGNORED_VALUE}, {"--builtin-move-forward", IGNORED_VALUE}, {"-builtin-initializer-list", IGNORED_VALUE},
    {"--builtin-initializer-list", IGNORED_VALUE}, {"-restrict", IGNORED}, {"--restrict", IGNORED}, {"-version-ident", IGNORED_VALUE},
    {"--version-ident", IGNORED_VALUE}, {"--display-error-number", IGNORED}, {"-err-no", IGNORED}, {"--no-display-error-number", IGNORED}, {"-no-err-no", IGNORED},
    {"--diag-error", IGNORED_VALUE}, {"-diag-error", IGNORED_VALUE}, {"--diag-suppress", IGNORED_VALUE}, {"-diag-suppress", IGNORED_VALUE}, {"--diag-warn", IGNORED_VALUE},
    {"-diag-warn", IGNORED_VALUE}, {"--brief-diagnostics", IGNORED_VALUE}, {"-brief-diag", IGNORED_VALUE}, {"-time", IGNORED_VALUE}, {"--time", IGNORED_VALUE},
    {"--split-compile", IGNORED_VALUE}, {"-split-compile", IGNORED_VALUE}, {"--fdevice-syntax-only", IGNORED}, {"-fdevice-syntax-only", IGNORED}, {"--minimal", IGNORED},
    {"-minimal", IGNORED}, {"--device-stack-protector", IGNORED_VALUE}, {"-device-stack-protector", IGNORED_VALUE}, {"-no-cache", IGNORED}, {"--no-cache", IGNORED},
    {"--pch", IGNORED}, {"-pch", IGNORED}, {"--device-int128", IGNORED}, {"-device-int128", IGNORED}, {"--device-float128", IGNORED}, {"-device-float128", IGNORED},
    {"--no-source-include", IGNORED}, {"-no-source-include", IGNORED}, {"-jump-table-density", IGNORED_VALUE}, {"--jump-table-density", IGNORED_VALUE},
    {"-Wno-deprecated-gpu-targets", IGNORED}, {"--std-include", IGNORED}, {"-lto", IGNORED}, {"-Werror", IGNORED_VALUE}, {"-arch-list", IGNORED_VALUE},
};

void options_free(Options *options) {
    words_free(&options->preprocess);
    words_free(&options->compile);
}

static bool is_true(const char *value) {
    return strcmp(value, "false") != 0 && strcmp(value, "0") != 0;
}

static bool set_standard(Options *out, Text *log, const char *value) {
    static const char *const standards[] = {"c++03", "c++11", "c++14", "c++17", "c++20", "c++23"};
    for (size_t i = 0; i < sizeof standards / sizeof standards[0]; i++) {
        if (strcmp(value, standards[i]) == 0) {
            out->standard = i <= 3 ? 17 : i == 4 ? 20 : 23; /* the simulator's headers are C++17 */
            return true;
        }
    }
    text_printf(log, "nvrtc: error: invalid value for --std (-std): %s\n", value);
    return false;
}

static bool set_architecture(Options *out, Text *log, const char *value) {
    const char *digits = strchr(value, '_');
    char *end;
    const long number = digits != NULL ? strtol(digits + 1, &end, 10) : 0;
    if (digits == NULL || (strncmp(value, "compute_", 8) != 0 && strncmp(value, "sm_", 3) != 0 && strncmp(value, "lto_", 4) != 0) || number < 20 || number > 999 ||
        (*end != 0 && !((*end == 'a' || *end == 'f') && end[1] == 0))) {
        text_printf(log, "nvrtc: error: invalid value for --gpu-architecture (-arch)\n");
        return false;
    }
    out->architecture = (int)number;
    return true;
}

/* One option; next: the word after it. 1: it was taken too, 0: it was not, -1: an error. */
static int map_one(Options *out, Text *log, const char *option, const char *next) {
    const size_t n = sizeof known / sizeof known[0];
    const char *value = strchr(option, '=');
    size_t length = value != NULL ? (size_t)(value - option) : strlen(option), i;
    if (value != NULL) value++;
    if (option[0] == '-' && option[1] != 0 && strchr("DUIO", option[1]) != NULL && option[1] != 0 && (option[2] != 0 || option[1] == 'O') && strncmp(option, "-Ofast", 6) != 0) {
        value = option + 2; /* -DNAME=1 */
        length = 2;
    }
    for (i = 0; i < n; i++) {
        if (strlen(known[i].name) == length && strncmp(known[i].name, option, length) == 0) break;
    }
    if (i == n) {
        if (strncmp(option, "-Xptxas", 7) == 0) return next != NULL && strcmp(option, "-Xptxas") == 0;
        text_printf(log, "nvrtc: error: unrecognized option %s found\n", option);
        return -1;
    }
    int taken = 0;
    const What what = known[i].what;
    const bool needs = what == DEFINE || what == UNDEFINE || what == INCLUDE_PATH || what == INCLUDE_FILE || what == STANDARD || what == ARCHITECTURE;
    if (value == NULL && (needs || what == IGNORED_VALUE)) {
        if (next != NULL && (needs || next[0] != '-')) {
            value = next;
            taken = 1;
        } else if (needs) {
            text_printf(log, "nvrtc: error: option %s needs a value\n", option);
            return -1;
        }
    }
    bool good = true;
    switch (what) {
    case DEFINE: good = words_add(&out->preprocess, "-D%s", value); break;
    case UNDEFINE: good = words_add(&out->preprocess, "-U%s", value); break;
    case INCLUDE_PATH: good = words_add(&out->preprocess, "-I%s", value); break;
    case INCLUDE_FILE: good = words_add(&out->preprocess, "-include") && words_add(&out->preprocess, "%s", value); break;
    case STANDARD: good = set_standard(out, log, value); break;
    case ARCHITECTURE: good = set_architecture(out, log, value); break;
    case FAST: good = words_add(&out->preprocess, "-DSIM_FAST_MATH") && words_add(&out->preprocess, "-D__CUDA_FTZ=1") && words_add(&out->preprocess, "-D__USE_FAST_MATH__=1"); break;
    case FMAD:
        if (value != NULL && !is_true(value)) good = words_add(&out->compile, "-ffp-contract=off");
        break;
    case DEBUG: out->debug = true; break;
    case RELOCATABLE: out->relocatable = value == NULL || is_true(value); break;
    case NO_WARNINGS: out->no_warnings = true; break;
    default: break;
    }
    return good ? taken : -1;
}

bool options_map(Options *out, Text *log, int n, const char *const *options) {
    memset(out, 0, sizeof *out);
    out->standard = 17;
    out->architecture = sim_architecture();
    for (int i = 0; i < n; i++) {
        const char *option = options[i];
        while (isspace((unsigned char)*option)) option++;
        char *copy = strdup(option);
        if (copy == NULL) return false;
        char *end = copy + strlen(copy);
        while (end > copy && isspace((unsigned char)end[-1])) *--end = 0;
        char *space = strchr(copy, ' '); /* "-I path" in one string */
        int taken = 0;
        if (*copy != 0 && space != NULL && copy[0] == '-' && (strncmp(copy, "-I ", 3) == 0 || strncmp(copy, "-D ", 3) == 0 || strncmp(copy, "-U ", 3) == 0)) {
            *space++ = 0;
            while (*space == ' ') space++;
            taken = map_one(out, log, copy, space);
            if (taken > 0) taken = 0;
        } else if (*copy != 0) {
            taken = map_one(out, log, copy, i + 1 < n ? options[i + 1] : NULL);
        }
        free(copy);
        if (taken < 0) return false;
        i += taken;
    }
    return true;
}
