/* asm.c - inline PTX. */
#include "rewrite.h"

unsigned rewrite_asm(Rewriter *r, unsigned i) {
    rewrite_error(r, i, "inline PTX (asm) is not supported by the simulator");
    return i;
}
