/* asm.c - inline PTX: asm("add.u32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b)) becomes calls of
 * functions in sim_ptx.h.
 *
 * The function's name is the instruction's first word with those modifiers that change the result;
 * the types at its end become template arguments. An instruction without a function is an error
 * that names it. */
#include "simulator/compiler/rewrite.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERANDS = 64, MAX_REGISTERS = 64, MAX_PARTS = 16, MAX_ARGUMENTS = 12 };

typedef struct {
    Rewriter *r;
    unsigned token; /* where errors are reported */
    unsigned n_operands;
    char registers[MAX_REGISTERS][32]; /* declared by .reg, as written */
    unsigned n_registers;
    bool carry; /* an instruction has set the carry */
    Text out;
} Ptx;

/* PTX types and their C++ names. */
static const char *const types[][2] = {
    {"b8", "unsigned char"},
    {"u8", "unsigned char"},
    {"s8", "signed char"},
    {"b16", "unsigned short"},
    {"u16", "unsigned short"},
    {"s16", "short"},
    {"b32", "unsigned"},
    {"u32", "unsigned"},
    {"s32", "int"},
    {"b64", "unsigned long long"},
    {"u64", "unsigned long long"},
    {"s64", "long long"},
    {"f32", "float"},
    {"f64", "double"},
    {"pred", "bool"},
};
/* Modifiers without effect here: better precision, stricter order, a single address space. */
static const char *const ignored[] = {
    "approx",  "ftz",   "noftz", "full",    "sync",     "aligned", "global",  "shared",
    "local",   "const", "param", "generic", "volatile", "relaxed", "acquire", "release",
    "acq_rel", "sc",    "weak",  "cta",     "gpu",      "sys",     "cluster", "gl",
    "ca",      "cg",    "cs",    "lu",      "cv",       "wb",      "wt",      "nc",
    "L1",      "L2",    "vec",   "uni",     "mmio",
};
/* Instructions without a result. */
static const char *const silent[] = {
    "st",        "red",       "membar", "fence", "bar",     "barrier", "prefetch",
    "prefetchu", "nanosleep", "trap",   "brkpt", "pmevent", "discard",
};

static bool is_in_list(const char *word, const char *const *list, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(word, list[i]) == 0)
            return true;
    }
    return false;
}
#define AMONG(word, list) is_in_list(word, list, sizeof(list) / sizeof *(list))

static const char *type_of(const char *word) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(word, types[i][0]) == 0)
            return types[i][1];
    }
    return NULL;
}

/* ---- operands -------------------------------------------------------------------------------- */

static char *trim(char *s) {
    while (isspace((unsigned char)*s))
        s++;
    for (size_t n = strlen(s); n > 0 && isspace((unsigned char)s[n - 1]); n--)
        s[n - 1] = 0;
    return s;
}

/* Splits s at top-level commas. Returns the number of parts. */
static unsigned split(char *s, char **parts) {
    unsigned n = 0;
    int depth = 0;
    char *start = s;
    for (;; s++) {
        if (*s == '[' || *s == '{')
            depth++;
        if (*s == ']' || *s == '}')
            depth--;
        if ((*s != ',' || depth != 0) && *s != 0)
            continue;
        const bool last = *s == 0;
        *s = 0;
        start = trim(start);
        if (*start != 0 || !last) {
            if (n == MAX_ARGUMENTS)
                return n + 1;
            parts[n++] = start;
        }
        if (last)
            return n;
        start = s + 1;
    }
}

static void add_register_name(Text *out, const char *name) {
    text_puts(out, "pgs_v_");
    for (; *name != 0; name++) {
        const char c = isalnum((unsigned char)*name) ? *name : '_';
        text_add(out, &c, 1);
    }
}

static bool operand(Ptx *p, Text *out, char *s);

/* Writes s if it has the form [register+offset]. */
static bool address_operand(Ptx *p, Text *out, char *s) {
    char *end = strrchr(s, ']');
    if (end == NULL)
        return false;
    *end = 0;
    char *sign = strpbrk(s + 2, "+-");
    char kind = sign != NULL ? *sign : '+';
    if (sign != NULL)
        *sign = 0;
    text_puts(out, "pgs_ptx_address(");
    if (!operand(p, out, s + 1))
        return false;
    text_printf(out, ", %c(%s))", kind, sign != NULL ? trim(sign + 1) : "0");
    return true;
}

/* Writes s if it has the form %name.x. */
static bool special_register(Ptx *p, Text *out, const char *s) {
    char name[64];
    size_t n = 0;
    for (s++; *s != 0 && n + 1 < sizeof name; s++)
        name[n++] = *s == '.' ? '_' : *s;
    name[n] = 0;
    char function[96];
    snprintf(function, sizeof function, "pgs_ptx_r_%s", name);
    const unsigned known = p->r->t.n_names;
    if (lex_name(&p->r->t, function, strlen(function)) >= known)
        return false;
    text_printf(out, "%s()", function);
    return true;
}

static bool constant(Text *out, char *s) {
    if (s[0] == '0' && (s[1] | 32) == 'f' && strlen(s) == 10) {
        text_printf(out, "pgs_ptx_float(0x%su)", s + 2);
        return true;
    }
    if (s[0] == '0' && (s[1] | 32) == 'd' && strlen(s) == 18) {
        text_printf(out, "pgs_ptx_double(0x%sull)", s + 2);
        return true;
    }
    if (strcmp(s, "WARP_SZ") == 0) {
        text_puts(out, "32");
        return true;
    }
    if (isdigit((unsigned char)*s) || (*s == '-' && isdigit((unsigned char)s[1]))) {
        size_t n = strlen(s);
        if (n > 1 && s[n - 1] == 'U' && !(s[1] == 'x'))
            s[n - 1] = 'u';
        text_printf(out, "(%s)", s);
        return true;
    }
    return false;
}

/* Writes an operand as an expression. Returns false if s is not an operand. */
static bool operand(Ptx *p, Text *out, char *s) {
    s = trim(s);
    if (*s == '!') {
        text_puts(out, "!");
        return operand(p, out, s + 1);
    }
    if (*s == '[')
        return address_operand(p, out, s);
    if (*s == '%' && isdigit((unsigned char)s[1])) {
        char *end;
        const unsigned long number = strtoul(s + 1, &end, 10);
        if (*end != 0 || number >= p->n_operands)
            return false;
        text_printf(out, "pgs_a%lu", number);
        return true;
    }
    for (unsigned i = 0; i < p->n_registers; i++) {
        if (strcmp(p->registers[i], s) == 0) {
            add_register_name(out, s);
            return true;
        }
    }
    return *s == '%' ? special_register(p, out, s) : constant(out, s);
}

/* ---- instructions ---------------------------------------------------------------------------- */

static bool declare_registers(Ptx *p, char *s) {
    char *type = s + strspn(s, " \t\n.");
    char *names = type + strcspn(type, " \t\n");
    if (*names == 0)
        return false;
    *names++ = 0;
    const char *cxx = type_of(type);
    char *parts[MAX_ARGUMENTS];
    const unsigned n = split(names, parts);
    if (cxx == NULL || n > MAX_ARGUMENTS)
        return false;
    for (unsigned i = 0; i < n; i++) {
        char *angle = strchr(parts[i], '<'); /* r<4>: r0 to r3 */
        const unsigned long count = angle != NULL ? strtoul(angle + 1, NULL, 10) : 1;
        if (angle != NULL)
            *angle = 0;
        for (unsigned long k = 0; k < count; k++) {
            if (p->n_registers == MAX_REGISTERS)
                return false;
            char *name = p->registers[p->n_registers];
            const int size = angle != NULL ? snprintf(name, 32, "%s%lu", parts[i], k)
                                           : snprintf(name, 32, "%s", parts[i]);
            if (size >= 32)
                return false;
            p->n_registers++;
            text_printf(&p->out, "%s ", cxx);
            add_register_name(&p->out, name);
            text_puts(&p->out, " = 0; ");
        }
    }
    return true;
}

static bool store(Ptx *p, char *to, const char *value) {
    if (strcmp(trim(to), "_") == 0) {
        text_printf(&p->out, "(void)(%s); ", value);
        return true;
    }
    text_puts(&p->out, "pgs_ptx_set(");
    if (!operand(p, &p->out, to))
        return false;
    text_printf(&p->out, ", %s); ", value);
    return true;
}

/* Handles ld and st with .v2 or .v4, and mov between a pair and a whole. */
static bool vector_instruction(Ptx *p, const char *base, const char *type, char *first,
                               char *second) {
    const bool load = strcmp(base, "ld") == 0, out = strcmp(base, "st") == 0;
    char *list = load || (!out && *first == '{') ? first : second,
         *other = list == first ? second : first;
    char *parts[MAX_ARGUMENTS], *end = strrchr(list, '}');
    if (*list != '{' || end == NULL)
        return false;
    *end = 0;
    const unsigned n = split(list + 1, parts);
    Text value = {0};
    bool ok = n == 2 || ((load || out) && n == 4);
    if (ok && !load && !out) {
        if (list == first) {
            text_printf(&p->out, "pgs_ptx_unpack<%s>(", type);
            ok = operand(p, &p->out, parts[0]) &&
                 (text_puts(&p->out, ", "), operand(p, &p->out, parts[1])) &&
                 (text_puts(&p->out, ", "), operand(p, &p->out, other));
            text_puts(&p->out, "); ");
        } else {
            text_printf(&value, "pgs_ptx_pack<%s>(", type);
            ok = operand(p, &value, parts[0]) &&
                 (text_puts(&value, ", "), operand(p, &value, parts[1]));
            text_puts(&value, ")");
            ok = ok && store(p, other, value.data);
        }
    } else if (ok) {
        Text address = {0};
        ok = operand(p, &address, other);
        for (unsigned i = 0; ok && i < n; i++) {
            if (load) {
                char text[400];
                ok = snprintf(text, sizeof text, "pgs_ptx_ld<%s>(%s + %u * sizeof(%s))", type,
                              address.data, i, type) < (int)sizeof text &&
                     store(p, parts[i], text);
            } else {
                text_printf(&p->out, "pgs_ptx_st<%s>(%s + %u * sizeof(%s), ", type, address.data, i,
                            type);
                ok = operand(p, &p->out, parts[i]);
                text_puts(&p->out, "); ");
            }
        }
        text_free(&address);
    }
    text_free(&value);
    return ok;
}

typedef struct {
    char name[128], arguments[128]; /* of the function to call: template arguments */
    const char *base, *last_type;
    unsigned vector; /* 2 or 4, else 0 */
    bool carry;      /* reads or writes the carry */
} Instruction;

/* Splits the name at its dots. Cache hints such as L1::evict_last are dropped. */
static bool read_name(Ptx *p, Instruction *self, char *s) {
    char *const name = self->name, *const arguments = self->arguments;
    const size_t size = sizeof self->name, most = sizeof self->arguments;
    *self = (Instruction){.name = "pgs_ptx_", .last_type = "unsigned"};
    for (char *word = s; word != NULL;) {
        char *next = strchr(word, '.');
        if (next != NULL)
            *next++ = 0;
        const char *type = type_of(word);
        if (self->base == NULL) {
            self->base = word;
            strncat(name, word, size - strlen(name) - 1);
            self->carry = strcmp(word, "addc") == 0 || strcmp(word, "subc") == 0 ||
                          strcmp(word, "madc") == 0;
            if (self->carry && !p->carry) {
                rewrite_error(p->r, p->token,
                              "inline PTX: %s uses the carry of an instruction in another asm "
                              "statement; put both in one",
                              word);
                return false;
            }
        } else if (type != NULL) {
            if (arguments[0] != 0)
                strncat(arguments, ", ", most - strlen(arguments) - 1);
            strncat(arguments, type, most - strlen(arguments) - 1);
            self->last_type = type;
        } else if (strcmp(word, "v2") == 0 || strcmp(word, "v4") == 0) {
            self->vector = (unsigned)(word[1] - '0');
        } else if (strstr(word, "::") == NULL && !AMONG(word, ignored) &&
                   !(strcmp(word, "rn") == 0 && strcmp(self->base, "cvt") != 0)) {
            if (strcmp(word, "cc") == 0)
                self->carry = p->carry = true;
            strncat(name, "_", size - strlen(name) - 1);
            strncat(name, word, size - strlen(name) - 1);
        }
        word = next;
    }
    return true;
}

/* Writes a call of the function, and stores its result. */
static bool call_function(Ptx *p, Instruction *self, char **parts, unsigned n) {
    const bool result = !AMONG(self->base, silent);
    char *second = result && n > 0 ? strchr(parts[0], '|')
                                   : NULL; /* a second result: a predicate */
    if (second != NULL) {
        *second++ = 0;
        strncat(self->name, "_p", sizeof self->name - strlen(self->name) - 1);
    }
    const unsigned known = p->r->t.n_names;
    if (lex_name(&p->r->t, self->name, strlen(self->name)) >= known || (result && n == 0)) {
        rewrite_error(
            p->r, p->token,
            "inline PTX: the simulator has no instruction `%s` (%s); write it in CUDA C++",
            self->base, self->name + 8);
        return false;
    }
    Text call = {0};
    text_puts(&call, self->name);
    if (self->arguments[0] != 0)
        text_printf(&call, "<%s>", self->arguments);
    text_puts(&call, second != NULL ? "(pgs_flag, " : "(");
    bool ok = true;
    for (unsigned i = result ? 1 : 0; ok && i < n; i++) {
        if (i > (result ? 1u : 0u))
            text_puts(&call, ", ");
        ok = operand(p, &call, parts[i]);
        if (!ok)
            rewrite_error(p->r, p->token,
                          "inline PTX: `%s` is not an operand that the simulator knows", parts[i]);
    }
    if (self->carry)
        text_puts(&call, n > 1 ? ", pgs_carry" : "pgs_carry");
    text_puts(&call, ")");
    if (ok && !result) {
        text_printf(&p->out, "%s; ", call.data);
    } else if (ok) {
        text_puts(&p->out, second != NULL ? "{ bool pgs_flag; " : "{ ");
        ok = store(p, parts[0], call.data) && (second == NULL || store(p, second, "pgs_flag"));
        text_puts(&p->out, "} ");
    }
    text_free(&call);
    return ok;
}

/* Translates one instruction, without its semicolon. */
static bool instruction(Ptx *p, char *s) {
    s = trim(s);
    if (*s == 0)
        return true;
    if (strncmp(s, ".reg", 4) == 0)
        return declare_registers(p, s + 4);
    if (*s == '@') {
        char *end = s + strcspn(s, " \t\n");
        if (*end == 0)
            return false;
        *end = 0;
        text_puts(&p->out, "if (");
        if (!operand(p, &p->out, s + 1))
            return false;
        text_puts(&p->out, ") ");
        s = trim(end + 1);
    }
    char *rest = s + strcspn(s, " \t\n");
    if (*rest != 0)
        *rest++ = 0;
    Instruction self;
    if (!read_name(p, &self, s))
        return false;
    char *parts[MAX_ARGUMENTS];
    const unsigned n = split(rest, parts);
    if (n > MAX_ARGUMENTS)
        return false;
    const char *base = self.base;
    if (n == 2 && (self.vector != 0 || parts[0][0] == '{' || parts[1][0] == '{') &&
        (strcmp(base, "ld") == 0 || strcmp(base, "st") == 0 || strcmp(base, "mov") == 0)) {
        text_puts(&p->out, "{ ");
        const bool ok = vector_instruction(p, base, self.last_type, parts[0], parts[1]);
        text_puts(&p->out, "} ");
        return ok;
    }
    return call_function(p, &self, parts, n);
}

/* Translates the whole text: instructions end with semicolons, braces limit the scope of
 * registers. */
static bool translate(Ptx *p, char *s) {
    char *start = s;
    int list = 0; /* inside the braces of a vector */
    for (;; s++) {
        const char c = *s;
        if (s[0] == '/' && s[1] == '/') {
            while (*s != 0 && *s != '\n')
                *s++ = ' ';
            s--;
            continue;
        }
        if (c == '{' || c == '}') {
            const bool scope = list == 0 && start + strspn(start, " \t\n\r") == s;
            if (scope) {
                text_add(&p->out, &c, 1);
                text_puts(&p->out, " ");
                start = s + 1;
            } else {
                list += c == '{' ? 1 : -1;
            }
        }
        if (c == ';' || c == 0) {
            *s = 0;
            char line[200];
            snprintf(line, sizeof line, "%s", trim(start));
            const bool failed = p->r->failed;
            if (!instruction(p, start)) {
                if (p->r->failed == failed)
                    rewrite_error(p->r, p->token,
                                  "inline PTX: the simulator does not understand `%s`", line);
                return false;
            }
            start = s + 1;
            if (c == 0)
                return true;
        }
    }
}

/* ---- the statement --------------------------------------------------------------------------- */

/* Joins the string literals from token i on, with escapes decoded. Returns the index after them. */
static unsigned read_strings(const Rewriter *r, unsigned i, unsigned end, Text *out) {
    for (; i < end && (r->t.tokens[i].kind == TOKEN_STRING || r->t.tokens[i].kind == TOKEN_MARKER);
         i++) {
        if (r->t.tokens[i].kind == TOKEN_MARKER)
            continue;
        const char *s = r->t.text + r->t.tokens[i].start, *stop = s + r->t.tokens[i].size;
        while (s < stop && *s != '"')
            s++; /* a prefix */
        for (s++; s < stop - 1; s++) {
            char c = *s;
            if (c == '\\' && s + 1 < stop - 1) {
                c = *++s;
                if (c == 'n' || c == 'r')
                    c = '\n';
                if (c == 't')
                    c = ' ';
            }
            if (c == '%' && s + 1 < stop - 1 && s[1] == '%')
                s++; /* %% is a % */
            text_add(out, &c, 1);
        }
    }
    return i;
}

/* Among system headers only NVIDIA's contain PTX; assembly in others is for this processor. */
static bool is_ptx(Rewriter *r, unsigned i) {
    unsigned line;
    int size;
    if (!r->t.tokens[i].system)
        return true;
    const char *file = rewrite_location(r, i, &line, &size), *found = strstr(file, "/cuda/");
    return found != NULL && found < file + size &&
           strncmp(file, compiler_headers(), strlen(compiler_headers())) != 0;
}

/* Binds names to the operands, which begin at token k; end: the closing bracket. */
static void bind_operands(Rewriter *r, Ptx *p, unsigned k, unsigned end) {
    for (int section = 0; k < end; k++) {
        const Token *token = &r->t.tokens[k];
        if (token_is(&r->t, k, "::"))
            section += 2;
        else if (is_bracket(&r->t, k, ':'))
            section++;
        if (section < 3 && token->kind == TOKEN_STRING) {
            Text constraint = {0};
            k = read_strings(r, k, end, &constraint);
            text_free(&constraint);
            if (!is_bracket(&r->t, k, '(') || r->match[k] == 0 || p->n_operands == MAX_OPERANDS)
                break;
            text_printf(&p->out, section == 1 ? "auto &pgs_a%u = (" : "const auto pgs_a%u = (",
                        p->n_operands++);
            rewrite_flat(r, &p->out, k + 1, r->match[k], true);
            text_puts(&p->out, "); ");
            k = r->match[k];
        }
    }
}

unsigned rewrite_asm(Rewriter *r, unsigned i) {
    unsigned open = i + 1;
    if (!is_ptx(r, i))
        return i;
    const bool failed = r->failed;
    const size_t logged = r->log->size;
    while (r->t.tokens[open].kind == TOKEN_NAME)
        open++; /* volatile */
    if (!is_bracket(&r->t, open, '(') || r->match[open] == 0)
        return i;
    const unsigned end = r->match[open];
    Ptx p = {.r = r, .token = i};
    Text code = {0};
    unsigned k = read_strings(r, open + 1, end, &code);
    if (code.data == NULL || *trim(code.data) == 0) { /* a compiler barrier */
        text_free(&code);
        return i;
    }
    text_puts(&p.out, "do { unsigned pgs_carry = 0; (void)pgs_carry; ");
    bind_operands(r, &p, k, end);
    const bool ok = translate(&p, code.data);
    for (unsigned a = 0; a < p.n_operands; a++)
        text_printf(&p.out, "(void)pgs_a%u; ", a);
    text_puts(&p.out, "} while (0)");
    if (!ok && r->t.tokens[i].system && !failed) { /* most of a library is unused: report the error
                                                    * in the assembler only if this is used */
        r->failed = false;
        r->log->size = logged;
        if (r->log->data != NULL)
            r->log->data[logged] = 0;
        text_free(&code);
        text_free(&p.out);
        return i;
    }
    if (ok && p.out.data != NULL)
        text_puts(r->out, p.out.data);
    /* Write as many lines as there were, so that the lines below keep their numbers. */
    const char *last = r->t.text + r->t.tokens[end].start;
    for (const char *s = r->t.text + r->t.tokens[i].start; s < last; s++) {
        if (*s == '\n')
            text_puts(r->out, "\n");
    }
    text_free(&code);
    text_free(&p.out);
    return end + 1;
}
