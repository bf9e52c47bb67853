/* options.c - translates NVRTC's options to those of g++ and clang++. Options that only concern
 * GPU code are accepted and ignored. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/compiler/compiler.h"

/* The kind of value that an option takes, and whether the value must follow "=" or may be the next
 * word. */
typedef enum {
    NO_VALUE,
    BOOLEAN,
    INTEGER,
    NUMBERS,
    CHOICE,
    ANY_VALUE,
    ONLY_BEHIND_EQUALS,
    FREE
} Value;
typedef enum {
    IGNORED,
    DEFINE,
    UNDEFINE,
    INCLUDE_PATH,
    INCLUDE_FILE,
    STANDARD,
    ARCHITECTURE,
    FAST,
    FMAD,
    DEBUG,
    NO_WARNINGS,
    RELOCATABLE
} What;

typedef struct {
    const char *name, *brief; /* brief may be NULL */
    Value value;
    What what;
    const char *choices; /* for CHOICE, each followed by a space */
} Known;

static const Known table[] = {
    {"--define-macro", "-D", FREE, DEFINE, NULL},
    {"--undefine-macro", "-U", FREE, UNDEFINE, NULL},
    {"--include-path", "-I", FREE, INCLUDE_PATH, NULL},
    {"--pre-include", "-include", FREE, INCLUDE_FILE, NULL},
    {"--std", "-std", ONLY_BEHIND_EQUALS, STANDARD, NULL},
    {"--gpu-architecture", "-arch", FREE, ARCHITECTURE, NULL},
    {"--use_fast_math", "-use_fast_math", NO_VALUE, FAST, NULL},
    {"--fmad", "-fmad", BOOLEAN, FMAD, NULL},
    {"--device-debug", "-G", NO_VALUE, DEBUG, NULL},
    {"--disable-warnings", "-w", NO_VALUE, NO_WARNINGS, NULL},
    {"--relocatable-device-code", "-rdc", BOOLEAN, RELOCATABLE, NULL},
    {"--device-c", "-dc", NO_VALUE, RELOCATABLE, NULL},
    {"--device-w", "-dw", NO_VALUE, IGNORED, NULL},
    {"--extensible-whole-program", "-ewp", NO_VALUE, IGNORED, NULL},
    {"--device-as-default-execution-space", "-default-device", NO_VALUE, IGNORED, NULL},
    {"--generate-line-info", "-lineinfo", NO_VALUE, IGNORED, NULL},
    {"--no-lineinfo-inlined-at", "-no-lineinfo-ia", NO_VALUE, IGNORED, NULL},
    {"--ftz", "-ftz", BOOLEAN, IGNORED, NULL},
    {"--prec-sqrt", "-prec-sqrt", BOOLEAN, IGNORED, NULL},
    {"--prec-div", "-prec-div", BOOLEAN, IGNORED, NULL},
    {"--fassociative-math", "-fassociative-math", NO_VALUE, IGNORED, NULL},
    {"--maxrregcount", "-maxrregcount", INTEGER, IGNORED, NULL},
    {"--split-compile", "-split-compile", INTEGER, IGNORED, NULL},
    {"--jump-table-density", "-jtd", INTEGER, IGNORED, NULL},
    {"--dopt", "-dopt", CHOICE, IGNORED, "on "},
    {"--Ofast-compile", "-Ofc", CHOICE, IGNORED, "0 min mid max "},
    {"--optimization-info", "-opt-info", ONLY_BEHIND_EQUALS, IGNORED, "inline "},
    {"--ptxas-options", "-Xptxas", ANY_VALUE, IGNORED, NULL},
    {"--extra-device-vectorization", "-extra-device-vectorization", NO_VALUE, IGNORED, NULL},
    {"--modify-stack-limit", "-modify-stack-limit", BOOLEAN, IGNORED, NULL},
    {"--dlink-time-opt", "-dlto", NO_VALUE, IGNORED, NULL},
    {"--gen-opt-lto", "-gen-opt-lto", NO_VALUE, IGNORED, NULL},
    {"--builtin-move-forward", "-builtin-move-forward", BOOLEAN, IGNORED, NULL},
    {"--builtin-initializer-list", "-builtin-initializer-list", BOOLEAN, IGNORED, NULL},
    {"--restrict", "-restrict", NO_VALUE, IGNORED, NULL},
    {"--version-ident", "-dQ", BOOLEAN, IGNORED, NULL},
    {"--display-error-number", "-err-no", NO_VALUE, IGNORED, NULL},
    {"--no-display-error-number", "-no-err-no", NO_VALUE, IGNORED, NULL},
    {"--diag-error", "-diag-error", NUMBERS, IGNORED, NULL},
    {"--diag-suppress", "-diag-suppress", NUMBERS, IGNORED, NULL},
    {"--diag-warn", "-diag-warn", NUMBERS, IGNORED, NULL},
    {"--brief-diagnostics", "-brief-diag", BOOLEAN, IGNORED, NULL},
    {"--time", "-time", ONLY_BEHIND_EQUALS, IGNORED, NULL},
    {"--fdevice-time-trace", "-fdevice-time-trace", ONLY_BEHIND_EQUALS, IGNORED, NULL},
    {"--frandom-seed", "-frandom-seed", ONLY_BEHIND_EQUALS, IGNORED, NULL},
    {"--fdevice-syntax-only", "-fdevice-syntax-only", NO_VALUE, IGNORED, NULL},
    {"--minimal", "-minimal", NO_VALUE, IGNORED, NULL},
    {"--device-stack-protector", "-device-stack-protector", BOOLEAN, IGNORED, NULL},
    {"--discard-value-names", "-discard-value-names", BOOLEAN, IGNORED, NULL},
    {"--no-cache", "-no-cache", NO_VALUE, IGNORED, NULL},
    {"--device-int128", "-device-int128", NO_VALUE, IGNORED, NULL},
    {"--device-float128", "-device-float128", NO_VALUE, IGNORED, NULL},
    {"--no-source-include", "-no-source-include", NO_VALUE, IGNORED, NULL},
    {"--uumn", "-uumn", NO_VALUE, IGNORED, NULL},
    {"--pch", "-pch", NO_VALUE, IGNORED, NULL},
    {"--create-pch", NULL, ONLY_BEHIND_EQUALS, IGNORED, NULL},
    {"--use-pch", NULL, ONLY_BEHIND_EQUALS, IGNORED, NULL},
    {"--pch-dir", "-pch-dir", ONLY_BEHIND_EQUALS, IGNORED, NULL},
    {"--pch-verbose", "-pch-verbose", BOOLEAN, IGNORED, NULL},
    {"--pch-messages", "-pch-messages", BOOLEAN, IGNORED, NULL},
    {"--instantiate-templates-in-pch", "-instantiate-templates-in-pch", BOOLEAN, IGNORED, NULL},
};

void options_free(Options *options) {
    words_free(&options->preprocess);
    words_free(&options->compile);
}

static bool set_standard(Options *out, Text *log, const char *value) {
    static const char *const standards[] = {"c++03", "c++11", "c++14", "c++17", "c++20"};
    for (size_t i = 0; i < sizeof standards / sizeof standards[0]; i++) {
        if (strcmp(value, standards[i]) == 0) {
            out->standard = i <= 3 ? 17 : 20; /* the simulator's headers are C++17 */
            return true;
        }
    }
    text_printf(log, "nvrtc: error: invalid value for --std(-std)\n");
    return false;
}

static bool set_architecture(Options *out, Text *log, const char *value) {
    const char *digits = strchr(value, '_');
    char *end;
    const long number =
        digits != NULL && isdigit((unsigned char)digits[1]) ? strtol(digits + 1, &end, 10) : 0;
    if (number < 20 || number > 999 ||
        (strncmp(value, "compute_", 8) != 0 && strncmp(value, "sm_", 3) != 0) ||
        (*end != 0 && !((*end == 'a' || *end == 'f') && end[1] == 0))) {
        text_printf(log, "nvrtc: error: invalid value for --gpu-architecture (-arch)\n");
        return false;
    }
    out->architecture = (int)number;
    return true;
}

static bool is_integer(const char *value, long least) {
    char *end;
    const long number = strtol(value, &end, 10);
    return end != value && *end == 0 && number >= least;
}

/* Whether value is a comma-separated list of message numbers. */
static bool are_numbers(const char *value) {
    for (;; value++) {
        char *end;
        if (!isdigit((unsigned char)*value) || strtol(value, &end, 10) <= 0)
            return false;
        if (*end == 0)
            return true;
        if (*end != ',')
            return false;
        value = end;
    }
}

static bool is_choice(const char *choices, const char *value) {
    const size_t length = strlen(value);
    for (const char *at = choices; *at != 0; at = strchr(at, ' ') + 1) {
        if (length > 0 && strncmp(at, value, length) == 0 && at[length] == ' ')
            return true;
    }
    return false;
}

/* Whether the option's value is valid; if not, adds NVRTC's message to log. value: NULL for
 * none. */
static bool is_allowed(Text *log, const Known *option, const char *value) {
    const char *name = option->name, *brief = option->brief;
    if (option->value == NO_VALUE && value != NULL && strcmp(name, "--no-cache") != 0) {
        text_printf(log, "nvrtc: error: %s (%s) does not accept any argument\n", name, brief);
    } else if (option->value == BOOLEAN &&
               (value == NULL || (strcmp(value, "true") != 0 && strcmp(value, "false") != 0))) {
        text_printf(log, "nvrtc: error: %s (%s) expects true or false\n", name, brief);
    } else if (option->value == INTEGER && value != NULL && !is_integer(value, LONG_MIN)) {
        text_printf(log, "nvrtc: error: %s (%s) expects an integer value\n", name, brief);
    } else if (value != NULL && strcmp(name, "--split-compile") == 0 && !is_integer(value, 0)) {
        text_printf(log, "nvrtc: error: Argument for -split-compile must be non-negative\n");
    } else if (value != NULL && strcmp(name, "--jump-table-density") == 0 &&
               (!is_integer(value, 0) || is_integer(value, 102))) {
        text_printf(log,
                    "nvrtc: error: Argument for --jump-table-density must be between [0-101]\n");
    } else if (option->value == NUMBERS && (value == NULL || !are_numbers(value))) {
        text_printf(log, "nvrtc: error: %s expects a non-zero positive integer value\n", name);
    } else if (option->choices != NULL && value != NULL && !is_choice(option->choices, value)) {
        text_printf(log, "nvrtc: error: invalid %s for option %s (%s): %s\n",
                    option->value == CHOICE ? "argument" : "optimization tag", name, brief, value);
    } else {
        return true;
    }
    return false;
}

/* Finds the option with this name of length characters; NULL: there is none. */
static const Known *find(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const char *const names[] = {table[i].name, table[i].brief};
        for (int j = 0; j < 2; j++) {
            if (names[j] != NULL && strlen(names[j]) == length &&
                strncmp(names[j], name, length) == 0)
                return &table[i];
        }
    }
    return NULL;
}

static bool apply_option(Options *out, Text *log, What what, const char *value) {
    switch (what) {
    case DEFINE:
        return words_add(&out->preprocess, "-D%s", *value != 0 ? value : "=");
    case UNDEFINE:
        return words_add(&out->preprocess, "-U%s", *value != 0 ? value : "=");
    case INCLUDE_PATH:
        return *value == 0 || words_add(&out->preprocess, "-I%s", value);
    case INCLUDE_FILE:
        return words_add(&out->preprocess, "-include") && words_add(&out->preprocess, "%s", value);
    case STANDARD:
        return set_standard(out, log, value);
    case ARCHITECTURE:
        return set_architecture(out, log, value);
    case FAST:
        return words_add(&out->preprocess, "-DSIM_FAST_MATH") &&
               words_add(&out->preprocess, "-D__CUDA_FTZ=1") &&
               words_add(&out->preprocess, "-D__USE_FAST_MATH__=1");
    case FMAD:
        return strcmp(value, "true") == 0 || words_add(&out->compile, "-ffp-contract=off");
    case DEBUG:
        out->debug = true;
        break;
    case RELOCATABLE:
        out->relocatable = strcmp(value, "false") != 0;
        break;
    case NO_WARNINGS:
        out->no_warnings = true;
        break;
    case IGNORED:
        break;
    }
    return true;
}

/* Translates one option; next: the word after it. Returns 1 if next was used too, 0 if not, -1 on
 * errors. */
static int map_one(Options *out, Text *log, char *option, const char *next) {
    char *value = NULL;
    const Known *found;
    if (option[0] == '-' && option[1] != 0 && strchr("DUI", option[1]) != NULL && option[2] != 0) {
        value = option + 2; /* -DNAME=1, or "-D NAME=1" */
        while (*value == ' ')
            value++;
        found = find(option, 2);
    } else {
        value = strchr(option, '=');
        found = find(option, value != NULL ? (size_t)(value - option) : strlen(option));
        if (value != NULL)
            value++;
    }
    if (found == NULL || (found->value == ONLY_BEHIND_EQUALS && value == NULL)) {
        text_printf(log, "nvrtc: error: unrecognized option %s found\n", option);
        return -1;
    }
    const bool takes = value == NULL && next != NULL && found->value != NO_VALUE;
    const char *given = takes ? next : value;
    if (!is_allowed(log, found, given))
        return -1;
    if (given == NULL && (found->value == ANY_VALUE || found->value == CHOICE))
        text_printf(log, "nvrtc: error: %s expects a value\n", found->brief);
    return apply_option(out, log, found->what, given != NULL ? given : "") ? takes : -1;
}

bool options_map(Options *out, Text *log, int n, const char *const *options) {
    memset(out, 0, sizeof *out);
    out->standard = 17;
    out->architecture = sim_architecture();
    for (int i = 0; i < n; i++) {
        const char *option = options[i];
        while (isspace((unsigned char)*option))
            option++;
        char *copy = strdup(option);
        if (copy == NULL)
            return false;
        char *end = copy + strlen(copy);
        while (end > copy && isspace((unsigned char)end[-1]))
            *--end = 0;
        const int taken = map_one(out, log, copy, i + 1 < n ? options[i + 1] : NULL);
        free(copy);
        if (taken < 0)
            return false;
        i += taken;
    }
    return true;
}
