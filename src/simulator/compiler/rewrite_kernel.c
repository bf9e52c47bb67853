/* rewrite_kernel.c - kernels: `__global__ void k(P p) {body}` becomes
 *
 *   void k(P p) {}
 *       the name and address that users look up
 *   void sim_v_k(threadIdx, blockIdx, blockDim, gridDim, P p) {body}
 *       the function that runs
 *   an entry in section sim_kernels that names both
 *       for each kernel that is not a template
 *
 * Templates get their entries where they are instantiated: explicitly, or by a name expression. As
 * parameters, the four builtins are ordinary values, so that a loop over threads can be optimized
 * like any other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/compiler/rewrite.h"

typedef struct {
    unsigned start, name, name_end; /* the declaration; its name, with template arguments if any */
    unsigned qualifier; /* where NAMESPACE:: before the name begins; the name if there is none */
    unsigned params, params_end; /* tokens between the brackets */
    unsigned body;               /* the { or ; */
    unsigned bounds, bounds_end; /* tokens of the first launch bound */
    bool is_template, is_instantiation;
} Kernel;

static unsigned word(const Rewriter *r, unsigned i) {
    return r->t.tokens[i].kind == TOKEN_NAME ? r->t.tokens[i].name : 0;
}

static bool parse(Rewriter *r, Kernel *k, unsigned start, unsigned global) {
    unsigned angle = 0;
    memset(k, 0, sizeof *k);
    k->start = start;
    if (word(r, start) == R_template) {
        k->is_instantiation = !is_bracket(&r->t, start + 1, '<');
        k->is_template = !k->is_instantiation && !is_bracket(&r->t, start + 2, '>');
    }
    for (unsigned i = start; i < r->t.n_tokens; i++) {
        const unsigned name = word(r, i);
        if (name == R___launch_bounds__ && is_bracket(&r->t, i + 1, '(')) {
            k->bounds = i + 2;
            k->bounds_end = k->bounds;
            while (k->bounds_end < r->match[i + 1] && !is_bracket(&r->t, k->bounds_end, ',')) {
                if (is_bracket(&r->t, k->bounds_end, '(') && r->match[k->bounds_end] != 0)
                    k->bounds_end = r->match[k->bounds_end];
                k->bounds_end++;
            }
        }
        if ((name == R___launch_bounds__ || name == R___attribute__ || name == R_alignas ||
             name == R_decltype || name == R___align__ || name == R___cluster_dims__ ||
             name == R___maxnreg__ || name == R___block_size__ || name == R_noexcept) &&
            is_bracket(&r->t, i + 1, '(') && r->match[i + 1] != 0) {
            i = r->match[i + 1];
        } else if (is_bracket(&r->t, i, '<')) {
            angle = i;
            i = skip_angles(&r->t, r->match, i);
        } else if (is_bracket(&r->t, i, '(')) {
            if (i < global || r->match[i] == 0)
                return false;
            k->params = i + 1;
            k->params_end = r->match[i];
            k->name_end = i;
            k->name = is_bracket(&r->t, i - 1, '>') && angle > 0 ? angle - 1 : i - 1;
            break;
        } else if (is_bracket(&r->t, i, ';') || is_bracket(&r->t, i, '{')) {
            return false;
        }
    }
    if (k->name == 0 || word(r, k->name) == 0)
        return false;
    k->qualifier = k->name;
    while (k->is_instantiation && token_is(&r->t, k->qualifier - 1, "::")) {
        const bool whole = word(r, k->qualifier - 2) == 0 ||
                           token_is(&r->t, k->qualifier - 2, "void"); /* void ::a::k */
        k->qualifier -= whole ? 1 : 2;
        if (whole)
            break;
    }
    if (k->params + 1 == k->params_end && token_is(&r->t, k->params, "void"))
        k->params_end = k->params;
    k->body = k->params_end;
    while (k->body < r->t.n_tokens && !is_bracket(&r->t, k->body, '{') &&
           !is_bracket(&r->t, k->body, ';'))
        k->body++;
    return k->body < r->t.n_tokens;
}

static SeenKernel *find(const Rewriter *r, unsigned name) {
    for (unsigned i = 0; i < r->n_kernels; i++) {
        if (r->kernels[i].name == name)
            return &r->kernels[i];
    }
    return NULL;
}

/* Records the form of a kernel. All kernels with the same name get one form, which each of them
 * can have. */
static bool set_form(Rewriter *r, unsigned name, Form form) {
    SeenKernel *seen = find(r, name);
    if (seen != NULL) {
        seen->form = seen->form < form ? seen->form : form;
        return true;
    }
    if (r->n_kernels == r->room_kernels) {
        const unsigned room = 2 * r->room_kernels + 16;
        SeenKernel *more = realloc(r->kernels, room * sizeof *more);
        if (more == NULL)
            return false;
        r->kernels = more;
        r->room_kernels = room;
    }
    r->kernels[r->n_kernels++] = (SeenKernel){name, form};
    return true;
}

static bool independent(const Rewriter *r, unsigned first, unsigned end) {
    if (r->forms == REWRITE_FIBERS || r->dependent[R_operator])
        return false;
    for (unsigned i = first; i < end; i++) {
        const unsigned name = word(r, i);
        if (r->steps[i] != 0 || (name != 0 && name != R_threadIdx && r->dependent[name]))
            return false;
        if (name == R___shared__ || name == R_asm || name == R___asm__ || name == R___asm)
            return false;
        unsigned foreign, foreign_end;
        if (!rewrite_foreign(r, i, &foreign, &foreign_end))
            continue;
        for (unsigned k = foreign; k < foreign_end; k++) {
            if (word(r, k) == R_threadIdx)
                return false; /* it would ask the context, which does not know the loop's thread */
        }
    }
    return true;
}

/* The template in sim_launch.h that runs a kernel, and the parameters that its function takes
 * before the kernel's own. */
static const char *template_of(Form form) {
    return form == FORM_REGIONS ? "SimRegions" : form == FORM_LOOPS ? "SimLoops" : "SimKernel";
}

static const char *builtins_of(Form form) {
    return form == FORM_REGIONS ? "const SimBlock, const uint3, const dim3, const dim3"
                                : "const uint3, const uint3, const dim3, const dim3";
}

/* blocks: whether blocks may run in the kernel's form; if not, on fibers. */
static void entry(Rewriter *r, const Kernel *k, Form form, bool blocks) {
    Text types = {0};
    const unsigned n = r->n_entries++;
    Text name = {0}, own_name = {0}, space = {0}, bare = {0};
    rewrite_flat(r, &name, k->qualifier, k->name_end, true);
    rewrite_flat(r, &bare, k->name, k->name_end, true);
    if (k->qualifier < k->name)
        rewrite_flat(r, &space, k->qualifier, k->name, true);
    const char *const prefix = space.data != NULL ? space.data : "";
    text_printf(&own_name, "%s sim_v_%s", prefix, bare.data + 1); /* preceded by a space */
    rewrite_flat(r, &types, k->params, k->params_end, false);
    if (!blocks && form != FORM_REGIONS)
        form = FORM_FIBERS;
    const char *p = types.data != NULL ? types.data : "",
               *comma = k->params < k->params_end ? "," : "";
    text_printf(r->out,
                " typedef %s<void (*)(%s), &%s, void (*)(%s%s%s), &%s> __simL_%u;"
                " static const SimEntry __simE_%u = {(void *)static_cast<void (*)(%s)>(&%s), ",
                template_of(form), p, name.data, builtins_of(form), comma, p, own_name.data, n, n,
                p, name.data);
    if (form == FORM_LOOPS) {
        text_printf(r->out, "0, &__simL_%u::block", n);
    } else if (!blocks || form == FORM_FIBERS) {
        text_printf(r->out, "&__simL_%u::threads, 0", n);
    } else if (form == FORM_STRIDES) {
        text_printf(r->out, "&__simL_%u::threads, ", n);
        text_printf(r->out,
                    "&SimStride<void (*)(%s), &%s, bool (*)(const uint3, const uint3, const dim3, "
                    "const dim3, const unsigned long long, const bool%s%s), &%s sim_w_%s>::block",
                    p, name.data, comma, p, prefix, bare.data + 1);
    } else {
        text_printf(r->out, "&__simL_%u::threads, &__simL_%u::block", n, n);
    }
    text_printf(r->out, ", __simL_%u::sizes, __simL_%u::count, (unsigned)(", n, n);
    if (k->bounds != 0)
        rewrite_flat(r, r->out, k->bounds, k->bounds_end, true);
    else
        text_puts(r->out, "0");
    text_printf(r->out,
                "), %d}; static const SimEntry *const __simP_%u __attribute__((used, "
                "section(\"sim_kernels\"))) = &__simE_%u;",
                form == FORM_REGIONS, n, n);
    text_free(&types);
    text_free(&name);
    text_free(&own_name);
    text_free(&space);
    text_free(&bare);
}

/* Whether the kernel returns a value by mistake: other names may be typedefs of void. */
static bool returns(const Rewriter *r, const Kernel *k) {
    static const char *const types[] = {"int",  "float", "double",   "bool",   "char",
                                        "long", "short", "unsigned", "signed", "size_t"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (token_is(&r->t, k->name - 1, types[i]))
            return true;
    }
    return is_bracket(&r->t, k->name - 1, '*');
}

/* Writes the function that runs, with the user's body. */
static void put_function(Rewriter *r, const Kernel *k, unsigned start, unsigned end) {
    r->copied = start;
    rewrite_tokens(r, start, k->name);
    text_printf(r->out, "%ssim_v_", rewrite_inline(r, k->name));
    r->copied = k->name;
    rewrite_tokens(r, k->name, k->params);
    text_puts(r->out, REWRITE_BUILTINS);
    if (k->params < k->params_end)
        text_puts(r->out, ",");
    rewrite_tokens(r, k->params, k->params_end);
    text_puts(r->out, ")");
    rewrite_tokens(r, r->match[k->params - 1] + 1,
                   k->body + (is_bracket(&r->t, k->body, ';') ? 1u : 0u));
    if (is_bracket(&r->t, k->body, ';'))
        return;
    r->body_end = end;
    r->foreign_end = 0;
    rewrite_tokens(r, k->body, end + 1);
    r->body_end = r->foreign_end = 0;
}

/* Rewrites the kernel that begins at start, except its body, which the caller copies up to
 * body_end. Returns the next token. */
unsigned rewrite_kernel(Rewriter *r, unsigned start, unsigned global) {
    Kernel k;
    r->at[start] = 0;
    if (!parse(r, &k, start, global)) {
        r->copied = start;
        return start; /* something else: leave it */
    }
    if (k.name > 0 && returns(r, &k))
        rewrite_error(r, k.name, "a __global__ function must have a void return type");
    const unsigned end = is_bracket(&r->t, k.body, '{') ? r->match[k.body] : k.body;
    const bool loops = independent(r, k.params, end);
    if (end == 0) {
        rewrite_error(r, k.body, "missing '}' of a kernel");
        return k.body + 1;
    }
    if (k.is_instantiation) {
        rewrite_flat(r, r->out, start, k.body + 1, true);
        const SeenKernel *seen = find(r, r->t.tokens[k.name].name);
        entry(r, &k, seen != NULL ? seen->form : FORM_FIBERS, independent(r, k.name, k.body));
        return k.body + 1;
    }
    const unsigned name = r->t.tokens[k.name].name;
    /* the function with the kernel's name */
    rewrite_flat(r, r->out, start, k.name, true);
    text_puts(r->out, " __attribute__((used)) ");
    rewrite_flat(r, r->out, k.name, k.body, true);
    text_puts(r->out, is_bracket(&r->t, k.body, '{') ? " {} " : "; ");
    /* the function that runs */
    if (is_bracket(&r->t, k.body, ';')) {
        if (find(r, name) == NULL && !set_form(r, name, FORM_STRIDES))
            r->failed = true; /* a declaration does not restrict the form */
        put_function(r, &k, start, end);
        return k.body + 1;
    }
    Form form = loops ? FORM_LOOPS : FORM_FIBERS;
    if (!loops && rewrite_regions(r, start, k.name, k.params, k.params_end, k.body, end))
        form = FORM_REGIONS;
    else
        put_function(r, &k, start, end);
    if (loops && rewrite_stride(r, start, k.name, k.name_end, k.params, k.params_end, k.body, end))
        form = FORM_STRIDES;
    if (!set_form(r, name, form))
        r->failed = true;
    if (!k.is_template)
        entry(r, &k, form, true);
    return end + 1;
}

/* ---- expressions of nvrtcAddNameExpression --------------------------------------------------- */

/* Finds the expression's last name, before its template arguments. */
static bool last_name(const char *text, size_t *at, size_t *size) {
    bool found = false;
    int depth = 0;
    for (size_t i = 0; text[i] != 0; i++) {
        const char c = text[i];
        if (c == '<' || c == '(') {
            depth++;
        } else if (c == '>' || c == ')') {
            depth--;
        } else if (depth == 0 && ((c | 32) >= 'a' ? (c | 32) <= 'z' : c == '_')) {
            *at = i;
            while (text[i + 1] != 0 &&
                   (((text[i + 1] | 32) >= 'a' && (text[i + 1] | 32) <= 'z') ||
                    text[i + 1] == '_' || (text[i + 1] >= '0' && text[i + 1] <= '9')))
                i++;
            *size = i + 1 - *at;
            found = true;
        }
    }
    return found;
}

/* Whether the template arguments cannot name functors whose code waits for other threads. */
static bool names_are_independent(Rewriter *r, const char *text) {
    Tokens t;
    bool good = lex(&t, text, strlen(text));
    for (unsigned i = 0; good && i < t.n_tokens; i++) {
        if (t.tokens[i].kind != TOKEN_NAME)
            continue;
        const unsigned before = r->t.n_names,
                       name = lex_name(&r->t, text + t.tokens[i].start, t.tokens[i].size);
        good = name < before && name != 0 && name < r->n_dependent && !r->dependent[name];
    }
    lex_free(&t);
    return good;
}

/* Writes the entry for an instance of a kernel template: text, with the name at `at`. */
static void put_instance(Rewriter *r, const SeenKernel *kernel, size_t i, const char *text,
                         size_t at) {
    Text own = {0};
    Text loops = {0};
    text_printf(&own, "%.*ssim_v_%s", (int)at, text, text + at);
    const bool blocks = kernel->form != FORM_FIBERS && names_are_independent(r, text);
    const Form form = blocks || kernel->form == FORM_REGIONS ? kernel->form : FORM_FIBERS;
    if (form == FORM_LOOPS)
        text_printf(&loops, "0, &__simM_%zu::block", i);
    else
        text_printf(&loops, "&__simM_%zu::threads, ", i);
    if (form != FORM_LOOPS && !blocks)
        text_puts(&loops, "0");
    else if (form == FORM_REGIONS)
        text_printf(&loops, "&__simM_%zu::block", i);
    else if (form == FORM_STRIDES)
        text_printf(&loops,
                    "&SimStride<decltype(&%s), &%s, decltype(&%.*ssim_w_%s), "
                    "&%.*ssim_w_%s>::block",
                    text, text, (int)at, text, text + at, (int)at, text, text + at);
    text_printf(r->out,
                " typedef %s<decltype(&%s), &%s, decltype(&%s), &%s> __simM_%zu; static const "
                "SimEntry __simF_%zu = {(void *)static_cast<decltype(&%s)>(&%s), "
                "%s, __simM_%zu::sizes, __simM_%zu::count, 0, %d}; static const SimEntry "
                "*const __simG_%zu "
                "__attribute__((used, section(\"sim_kernels\"))) = &__simF_%zu;",
                template_of(form), text, text, own.data, own.data, i, i, text, text, loops.data, i,
                i, kernel->form == FORM_REGIONS, i, i);
    text_free(&loops);
    text_free(&own);
}

void rewrite_expressions(Rewriter *r, char *const *names, size_t n_names) {
    for (size_t i = 0; i < n_names; i++) {
        const char *text = names[i];
        size_t at = 0, size = 0;
        while (*text == ' ' || *text == '&' || *text == '\t' || *text == '\n')
            text++;
        const SeenKernel *kernel = NULL;
        bool is_template = false;
        if (last_name(text, &at, &size)) {
            kernel = find(r, lex_name(&r->t, text + at, size));
            is_template = strchr(text + at, '<') != NULL;
        }
        text_printf(r->out, "# 1 \"name expression %s\"\n",
                    strchr(names[i], '"') == NULL && strchr(names[i], '\\') == NULL ? names[i]
                                                                                    : "");
        if (kernel) {
            text_printf(r->out,
                        "static const SimName __simN_%zu = {%zu, (const void "
                        "*)static_cast<decltype(&%s)>(&%s)};",
                        i, i, text, text);
            if (is_template)
                put_instance(r, kernel, i, text, at);
        } else {
            text_printf(r->out, "static const SimName __simN_%zu = {%zu, (const void *)&(%s)};", i,
                        i, text);
        }
        text_printf(r->out,
                    " static const SimName *const __simO_%zu __attribute__((used, "
                    "section(\"sim_names\"))) = &__simN_%zu;",
                    i, i);
        text_puts(r->out, "\n");
    }
}
