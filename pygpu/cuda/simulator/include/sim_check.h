/* sim_check.h - PYGPU_SIM_CHECK: every access to memory is reported to the library before it happens.
 *
 * The C++ compiler inserts the calls (-fsanitize=thread); its own runtime library is not used, these functions take its place. They must
 * not be instrumented themselves. */
#ifndef PYGPU_SIM_CHECK_H
#define PYGPU_SIM_CHECK_H

#pragma GCC system_header
#include "sim_core.h"

#if defined(__clang__)
#define SIM_HOOK_ATTRIBUTES used, weak, noinline, visibility("hidden"), disable_sanitizer_instrumentation, no_sanitize("thread")
#else
#define SIM_HOOK_ATTRIBUTES used, weak, noinline, visibility("hidden"), no_sanitize("thread")
#endif
/* Compilers know the names, with types of their own; so they are given as names for the linker only. */
#define SIM_NAMED(T, name, symbol, ...) \
    extern "C" __attribute__((SIM_HOOK_ATTRIBUTES)) T sim_hook_##name(__VA_ARGS__) __asm__(symbol); \
    extern "C" T sim_hook_##name(__VA_ARGS__)
#define SIM_HOOK(T, name, ...) SIM_NAMED(T, name, "__tsan_" #name, __VA_ARGS__)

#define SIM_TELL(address, size, kind) \
    do { \
        SimContext *c_ = sim_here(); \
        c_->runtime->access(c_, (const void *)(address), size, kind, __builtin_return_address(0)); \
    } while (0)

SIM_HOOK(void, init, ) {}
SIM_HOOK(void, func_entry, void *) {}
SIM_HOOK(void, func_exit, ) {}
SIM_HOOK(void, vptr_update, void **, void *) {}
SIM_HOOK(void, vptr_read, void **) {}
SIM_HOOK(void, read_range, void *p, unsigned long n) { SIM_TELL(p, n, SIM_ACCESS_UNALIGNED); }
SIM_HOOK(void, write_range, void *p, unsigned long n) { SIM_TELL(p, n, SIM_ACCESS_UNALIGNED | SIM_ACCESS_WRITE); }
/* Compilers call the C library's names, or some of them names of their own. By bytes: a call of memcpy would come back here. */
#define SIM_COPIES(prefix, tag) \
    SIM_NAMED(void *, tag##memcpy, prefix "memcpy", void *to, const void *from, unsigned long n) { \
        if (n == 0) return to; \
        SIM_TELL(from, n, SIM_ACCESS_UNALIGNED); \
        SIM_TELL(to, n, SIM_ACCESS_UNALIGNED | SIM_ACCESS_WRITE); \
        for (unsigned long i = 0; i < n; i++) ((volatile char *)to)[i] = ((const char *)from)[i]; \
        return to; \
    } \
    SIM_NAMED(void *, tag##memmove, prefix "memmove", void *to, const void *from, unsigned long n) { \
        if (n == 0) return to; \
        const bool down = (unsigned long)to - (unsigned long)from < n; \
        SIM_TELL(from, n, SIM_ACCESS_UNALIGNED); \
        SIM_TELL(to, n, SIM_ACCESS_UNALIGNED | SIM_ACCESS_WRITE); \
        for (unsigned long i = 0; i < n; i++) ((volatile char *)to)[down ? n - 1 - i : i] = ((const char *)from)[down ? n - 1 - i : i]; \
        return to; \
    } \
    SIM_NAMED(void *, tag##memset, prefix "memset", void *to, int value, unsigned long n) { \
        if (n == 0) return to; \
        SIM_TELL(to, n, SIM_ACCESS_UNALIGNED | SIM_ACCESS_WRITE); \
        for (unsigned long i = 0; i < n; i++) ((volatile char *)to)[i] = (char)value; \
        return to; \
    }
SIM_COPIES("", c_)
SIM_COPIES("__tsan_", tsan_)
#undef SIM_COPIES
SIM_HOOK(void, atomic_thread_fence, int) {
    SIM_TELL(0, 0, SIM_ACCESS_FENCE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
SIM_HOOK(void, atomic_signal_fence, int) {}

#define SIM_PLAIN(n) \
    SIM_HOOK(void, read##n, void *p) { SIM_TELL(p, n, 0); } \
    SIM_HOOK(void, write##n, void *p) { SIM_TELL(p, n, SIM_ACCESS_WRITE); } \
    SIM_HOOK(void, unaligned_read##n, void *p) { SIM_TELL(p, n, SIM_ACCESS_UNALIGNED); } \
    SIM_HOOK(void, unaligned_write##n, void *p) { SIM_TELL(p, n, SIM_ACCESS_UNALIGNED | SIM_ACCESS_WRITE); } \
    SIM_HOOK(void, volatile_read##n, void *p) { SIM_TELL(p, n, 0); } \
    SIM_HOOK(void, volatile_write##n, void *p) { SIM_TELL(p, n, SIM_ACCESS_WRITE); } \
    SIM_HOOK(void, read_write##n, void *p) { \
        SIM_TELL(p, n, 0); \
        SIM_TELL(p, n, SIM_ACCESS_WRITE); \
    }
SIM_PLAIN(1) SIM_PLAIN(2) SIM_PLAIN(4) SIM_PLAIN(8) SIM_PLAIN(16)
#undef SIM_PLAIN

#define SIM_UPDATE(bits, T, name) \
    SIM_HOOK(T, atomic##bits##_##name, volatile T *p, T value, int) { \
        SIM_TELL(p, bits / 8, SIM_ACCESS_ATOMIC | SIM_ACCESS_WRITE | SIM_ACCESS_UPDATE); \
        return __atomic_##name(p, value, __ATOMIC_SEQ_CST); \
    }
#define SIM_EXCHANGE(bits, T, name) \
    SIM_HOOK(int, atomic##bits##_compare_exchange_##name, volatile T *p, T *expected, T wanted, int, int) { \
        SIM_TELL(p, bits / 8, SIM_ACCESS_ATOMIC | SIM_ACCESS_WRITE | SIM_ACCESS_UPDATE); \
        return __atomic_compare_exchange_n(p, expected, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }
#define SIM_ATOMICS(bits, T) \
    SIM_HOOK(T, atomic##bits##_load, const volatile T *p, int) { \
        SIM_TELL(p, bits / 8, SIM_ACCESS_ATOMIC); \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST); \
    } \
    SIM_HOOK(void, atomic##bits##_store, volatile T *p, T value, int) { \
        SIM_TELL(p, bits / 8, SIM_ACCESS_ATOMIC | SIM_ACCESS_WRITE); \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST); \
    } \
    SIM_HOOK(T, atomic##bits##_exchange, volatile T *p, T value, int) { \
        SIM_TELL(p, bits / 8, SIM_ACCESS_ATOMIC | SIM_ACCESS_WRITE); \
        return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST); \
    } \
    SIM_HOOK(T, atomic##bits##_compare_exchange_val, volatile T *p, T expected, T wanted, int, int) { \
        SIM_TELL(p, bits / 8, SIM_ACCESS_ATOMIC | SIM_ACCESS_WRITE | SIM_ACCESS_UPDATE); \
        __atomic_compare_exchange_n(p, &expected, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return expected; \
    } \
    SIM_EXCHANGE(bits, T, strong) SIM_EXCHANGE(bits, T, weak) \
    SIM_UPDATE(bits, T, fetch_add) SIM_UPDATE(bits, T, fetch_sub) SIM_UPDATE(bits, T, fetch_and) SIM_UPDATE(bits, T, fetch_or) \
    SIM_UPDATE(bits, T, fetch_xor) SIM_UPDATE(bits, T, fetch_nand)
SIM_ATOMICS(8, unsigned char)
SIM_ATOMICS(16, unsigned short)
SIM_ATOMICS(32, unsigned)
SIM_ATOMICS(64, unsigned long)
#undef SIM_ATOMICS
#undef SIM_UPDATE
#undef SIM_EXCHANGE

#endif
