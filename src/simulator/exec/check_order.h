/* check_order.h - the interface of check_order.c for check.c. */
#ifndef PYGPU_SIM_CHECK_ORDER_H
#define PYGPU_SIM_CHECK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Order Order;

__attribute__((visibility("hidden"))) Order *order_new(
    void); /* NULL if out of memory; kept forever, as its worker is */
__attribute__((visibility("hidden"))) void order_block(Order *order, unsigned threads);
__attribute__((visibility("hidden"))) void order_fence(Order *order, unsigned thread);
__attribute__((visibility("hidden"))) void order_atomic(Order *order, unsigned thread,
                                                        uintptr_t address, bool write);
__attribute__((visibility("hidden"))) unsigned order_time(const Order *order, unsigned thread);
/* Whether what thread `past` did at a time precedes what `thread` does now. */
__attribute__((visibility("hidden"))) bool order_before(const Order *order, unsigned past,
                                                        unsigned time, unsigned thread);

#endif
