/* rewrite_region.c - kernels split at their barriers, so that a block does not need a stack for
 * each of its threads:
 *
 *   __shared__ float s[64];
 *   int i = threadIdx.x;
 *   float x = s[i];
 *   for (int k = 1; k < n; k *= 2) {
 *       __syncthreads();
 *       s[i] += x * k;
 *   }
 *
 * becomes
 *
 *   __shared__ float s[64];
 *   sim_region(sim_b, [&](threadIdx, sim_i) { const int i = threadIdx.x; float x = s[i];
 *           sim_f->sim_v1[sim_i] = x; });
 *   for (int k = 1; k < n; k *= 2) {
 *       !sim_b.single ? (void)0 : __syncthreads();
 *       sim_region(sim_b, [&, k](threadIdx, sim_i) { const int i = threadIdx.x;
 *           float x = sim_f->sim_v1[sim_i]; s[i] += x * k; }); }
 *
 * sim_region (sim_launch.h) runs a region for all threads of the block, one after the other. It
 * runs it for a single thread where threads are fibers after all: in cooperative launches, and to
 * find the thread that failed. Text is only inserted, so line numbers do not change.
 *
 * A kernel is split only if that cannot change what it does: barriers are at the top level, or in
 * for, while, do and if whose control is provably the same for all threads; nothing else waits,
 * prints or fails in other ways; the variables that several regions use are numbers and pointers,
 * and their addresses are not taken. All other kernels stay unchanged and run on fibers.
 * Conditions that need types are asserted; if the C++ compiler rejects one, the program is
 * compiled without regions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/compiler/rewrite_region.h"

static Text *insert(Regions *g, unsigned before) {
    while (before > 0 && g->r->t.tokens[before - 1].kind == TOKEN_MARKER)
        before--; /* before the markers, which need a line of their own */
    if (g->n_inserts > 0 && g->inserts[g->n_inserts - 1].before >= before)
        return &g->inserts[g->n_inserts - 1].text;
    if (g->n_inserts == REGION_INSERTS) {
        g->r->failed = true;
        return &g->inserts[g->n_inserts - 1].text;
    }
    g->inserts[g->n_inserts++] = (Insert){before, {0}};
    return &g->inserts[g->n_inserts - 1].text;
}

static const char *name_of(const Regions *g, const Local *local) {
    return g->r->t.names[local->name];
}

static unsigned number_of(const Regions *g, const Local *local) {
    return (unsigned)(local - g->locals);
}

static bool is_array(const Local *local) {
    return local->dims < local->dims_end;
}

/* ---- the frame that all regions use ---------------------------------------------------------- */

static void put_type(Regions *g, Text *out, const Local *local) {
    if (local->part == NOWHERE) {
        text_printf(out, "decltype(%s) sim_T%u;", name_of(g, local), number_of(g, local));
        return;
    }
    rewrite_flat(g->r, out, local->type, local->type_end, true);
    rewrite_flat(g->r, out, local->stars, local->at, true);
    text_printf(out, " sim_T%u", number_of(g, local));
    rewrite_flat(g->r, out, local->dims, local->dims_end, true);
    text_puts(out, ";");
}

static void put_frame(Regions *g, Text *out) {
    bool any = g->returns;
    for (unsigned i = 0; i < g->n_constants; i++)
        text_printf(out, " static_assert((%s) == (%s), \"a constant\");",
                    g->r->t.names[g->constants[i]], g->r->t.names[g->constants[i]]);
    for (unsigned i = 0; i < g->n_locals; i++) {
        const Local *local = &g->locals[i];
        if (!local->crosses && (local->is_known || local->is_auto || local->is_pointer ||
                                local->part == NOWHERE || local->kind == LOCAL_VARIABLE))
            continue;
        text_puts(out, " typedef ");
        put_type(g, out, local);
        if (!local->is_known && !local->is_pointer)
            text_printf(out, " static_assert(SimNumber<sim_T%u>::value, \"a number\");", i);
        any = any || local->crosses;
    }
    if (!any)
        return;
    text_puts(out, " struct sim_F {");
    for (unsigned i = 0; i < g->n_locals; i++) {
        if (g->locals[i].crosses)
            text_printf(out, " alignas(64) typename SimBare<sim_T%u>::T sim_v%u[1072];", i, i);
    }
    if (g->returns)
        text_puts(out, " unsigned char sim_gone[1072];");
    text_puts(out, " }; sim_F *const sim_f = (sim_F *)sim_frame(sim_b, sizeof(sim_F));");
    if (g->returns)
        text_puts(out, " unsigned sim_left = sim_frame_clear(sim_b, sim_f->sim_gone);");
    for (unsigned i = 0; i < g->n_locals; i++) {
        if (g->locals[i].crosses && g->locals[i].part == NOWHERE) {
            text_printf(out,
                        " sim_region(sim_b, [&](const uint3, const int sim_i) "
                        "__attribute__((always_inline)) { sim_f->sim_v%u[sim_i] = %s; });",
                        i, name_of(g, &g->locals[i]));
        }
    }
}

/* ---- one region ------------------------------------------------------------------------------ */

static void put_invariant(Regions *g, Text *out, const Local *local) {
    if (!local->is_pointer)
        text_puts(out, local->is_const ? "" : " const");
    rewrite_flat(g->r, out, local->type, local->type_end, true);
    rewrite_flat(g->r, out, local->stars, local->at, true);
    text_printf(out, "%s %s = (", local->is_pointer && !local->is_const ? " const" : "",
                name_of(g, local));
    rewrite_flat(g->r, out, local->init, local->init_end, true);
    text_puts(out, ");");
}

/* Whether a region uses a local, and whether it may change it. */
static bool uses(Regions *g, unsigned first, unsigned end, const Local *local, bool *changes) {
    bool found = false;
    *changes = local->is_vector;
    for (unsigned i = first; i < end; i++) {
        if (region_word(g, i) != local->name || region_find(g, i) != local)
            continue;
        found = true;
        *changes = *changes || region_changes(g, i) ||
                   (is_bracket(&g->r->t, i - 1, '&') && !region_after_value(g, i - 1));
    }
    *changes = *changes && !local->is_const;
    return found;
}

/* Finds the locals that a region needs, and those that it may change. */
static void find_needed(Regions *g, unsigned first, unsigned end, bool *needed, bool *changed) {
    bool ignored;
    for (unsigned i = 0; i < g->n_locals; i++)
        needed[i] = uses(g, first, end, &g->locals[i], &changed[i]);
    for (unsigned i = g->n_locals; i-- > 0;) { /* an invariant local depends on earlier ones only */
        const Local *local = &g->locals[i];
        for (unsigned k = 0; k < i && needed[i] && local->kind == LOCAL_INVARIANT; k++) {
            needed[k] = needed[k] || uses(g, local->init, local->init_end, &g->locals[k], &ignored);
        }
    }
}

/* Writes the lambda's head, and the locals from earlier regions that it needs. */
static void put_head(Regions *g, Text *out, unsigned number, const bool *needed,
                     const bool *changed) {
    text_puts(out, " sim_region(sim_b, [&");
    for (unsigned i = 0; i < g->n_locals; i++) { /* captured copies are const */
        if (needed[i] && g->locals[i].kind == LOCAL_UNIFORM)
            text_printf(out, ", %s", name_of(g, &g->locals[i]));
    }
    text_puts(out, "](const uint3 threadIdx, const int sim_i) __attribute__((always_inline)) {");
    if (g->returns)
        text_puts(out, " if (sim_f->sim_gone[sim_i]) return;");
    for (unsigned i = 0; i < g->n_locals; i++) {
        const Local *local = &g->locals[i];
        if (!needed[i] || local->region == number)
            continue;
        if (local->kind == LOCAL_INVARIANT)
            put_invariant(g, out, local);
        else if (local->crosses)
            text_printf(out, " %ssim_T%u %s%s = sim_f->sim_v%u[sim_i];",
                        changed[i] || is_array(local) ? "" : "const ", i,
                        is_array(local) ? "&" : "", name_of(g, local), i);
    }
}

static void put_part(Regions *g, unsigned p) {
    const Part *part = &g->parts[p];
    bool invariant = part->kind == PART_DECLARATION;
    for (unsigned i = 0; i < g->n_locals; i++) {
        const Local *local = &g->locals[i];
        if (local->part == p &&
            (local->kind != LOCAL_INVARIANT || local->is_pointer || local->is_const))
            invariant = false;
    }
    if (invariant)
        text_puts(insert(g, part->first), " const ");
    for (unsigned i = part->first; i < part->end; i++) {
        if (region_word(g, i) != R_return)
            continue;
        text_puts(insert(g, i), " { sim_f->sim_gone[sim_i] = 1; --sim_left;");
        text_puts(insert(g, i + 2), " }");
    }
}

static void put_region(Regions *g, unsigned first_part, unsigned last_part) {
    const unsigned first = g->parts[first_part].first, end = g->parts[last_part].end,
                   number = g->parts[first_part].region;
    bool needed[REGION_LOCALS], changed[REGION_LOCALS];
    find_needed(g, first, end, needed, changed);
    put_head(g, insert(g, first), number, needed, changed);
    for (unsigned p = first_part; p <= last_part; p++)
        put_part(g, p);
    Text *out = insert(g, end);
    for (unsigned i = 0; i < g->n_locals; i++) {
        const Local *local = &g->locals[i];
        if (!local->crosses ||
            !(local->region == number || (needed[i] && changed[i] && !is_array(local))))
            continue;
        if (is_array(local))
            text_printf(out, " __builtin_memcpy(&sim_f->sim_v%u[sim_i], &%s, sizeof %s);", i,
                        name_of(g, local), name_of(g, local));
        else
            text_printf(out, " sim_f->sim_v%u[sim_i] = %s;", i, name_of(g, local));
    }
    text_puts(out, " });");
    if (g->returns)
        text_puts(out, " if (sim_left == 0) return;");
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static bool put_all(Regions *g) {
    bool begun = false;
    for (unsigned p = 0; p < g->n_parts; p++) {
        const Part *part = &g->parts[p];
        if (!begun &&
            (part->region != 0 || part->kind == PART_HEAD || part->kind == PART_BARRIER)) {
            if (part->list != 0)
                return false;
            put_frame(g, insert(g, part->first));
            begun = true;
        }
        if (part->kind == PART_BARRIER)
            text_puts(insert(g, part->first),
                      " !sim_b.single ? (void)0 :"); /* not an if, since an else may follow */
        if (part->region == 0)
            continue;
        unsigned last = p;
        while (last + 1 < g->n_parts && g->parts[last + 1].region == part->region)
            last++;
        put_region(g, p, last);
        p = last;
    }
    return true;
}

/* Counts the kernels with each name, up to 2, at the first call. */
static bool count_kernels(Rewriter *r) {
    unsigned last = NOWHERE;
    r->n_named = r->t.n_names;
    r->kernels_named = calloc(r->n_named, 1);
    for (unsigned i = 0; r->kernels_named != NULL && i < r->t.n_tokens; i++) {
        if (r->t.tokens[i].kind != TOKEN_NAME || r->t.tokens[i].name != R___global__)
            continue;
        const unsigned start = declaration_start(&r->t, i);
        if (start == last)
            continue;
        last = start;
        if (token_is(&r->t, start, "template") && !is_bracket(&r->t, start + 1, '<'))
            continue;
        for (unsigned k = i; !is_bracket(&r->t, k, ';') && !is_bracket(&r->t, k, '{'); k++) {
            if (k + 1 >= r->t.n_tokens)
                break;
            const Token *token = &r->t.tokens[k];
            unsigned char *count = &r->kernels_named[token->name];
            const bool named = is_bracket(&r->t, k + 1, '(') || is_bracket(&r->t, k + 1, '<');
            if (token->kind == TOKEN_NAME && named && *count < 2)
                ++*count;
        }
    }
    return r->kernels_named != NULL;
}

/* Whether there is another kernel or declaration with this name. Deciding which is meant would
 * need overload resolution. */
static bool has_namesake(Rewriter *r, unsigned name) {
    if (r->kernels_named == NULL && !count_kernels(r))
        return true;
    const unsigned number = r->t.tokens[name].name;
    return number >= r->n_named || r->kernels_named[number] != 1;
}

bool rewrite_regions(Rewriter *r, unsigned start, unsigned name, unsigned params,
                     unsigned params_end, unsigned body, unsigned end) {
    if (r->forms < REWRITE_REGIONS || end - body > 20000)
        return false;
    bool waits = false;
    for (unsigned i = body; i < end && !waits; i++)
        waits = r->t.tokens[i].kind == TOKEN_NAME && r->t.tokens[i].name == R___syncthreads;
    if (!waits || has_namesake(r, name))
        return false;
    Regions *g = calloc(1, sizeof *g);
    if (g == NULL)
        return false;
    g->r = r;
    g->params = params;
    g->params_end = params_end;
    g->body = body;
    g->end = end;
    bool good = region_names(g) && region_parse(g) && region_classify(g);
    if (good) {
        r->body_end = end;
        r->foreign_end = 0;
        good = put_all(g);
        r->body_end = 0;
    }
    if (good) {
        r->copied = start;
        rewrite_tokens(r, start, name);
        text_printf(r->out, "%ssim_v_", rewrite_inline(r, name));
        r->copied = name;
        rewrite_tokens(r, name, params);
        text_puts(
            r->out,
            "const SimBlock sim_b, const uint3 blockIdx, const dim3 blockDim, const dim3 gridDim");
        if (params < params_end)
            text_puts(r->out, ",");
        rewrite_tokens(r, params, params_end);
        text_puts(r->out, ")");
        unsigned i = rewrite_tokens(r, r->match[params - 1] + 1, body);
        r->body_end = end;
        r->foreign_end = 0;
        for (unsigned k = 0; k < g->n_inserts; k++) {
            i = rewrite_tokens(r, i, g->inserts[k].before);
            if (g->inserts[k].text.data != NULL)
                text_add(r->out, g->inserts[k].text.data, g->inserts[k].text.size);
            r->failed = r->failed || g->inserts[k].text.failed;
        }
        rewrite_tokens(r, i, end + 1);
        r->n_regions++;
    }
    r->body_end = 0;
    for (unsigned k = 0; k < g->n_inserts; k++)
        text_free(&g->inserts[k].text);
    free(g);
    return good;
}
