/* chain_end.c - a reduction with which a chain ends: its launches. */
#include "array/chain.h"

/* The memory of an operand of the plan, by its number there. 0, or -1 with an exception. */
static int put_operand(Args *args, const Chain *chain, int number) {
    const ChainEnd *end = &chain->end;
    const ChainStep *step = &chain->steps[end->source];
    if (number == PLAN_RESULT) {
        return args_array(args, end->memory, end->out.offset);
    }
    return number >= 0 ? args_array(args, step->objects[0], step->offsets[0])
                       : args_array(args, end->scratch, 0);
}

static void put_numbers(Args *args, PyObject *numbers) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(numbers); i++) {
        args_put(args, PyTuple_GET_ITEM(numbers, i));
    }
}

PyObject *chain_launch_end(const Chain *chain) {
    const Plan *plan = chain->end.plan;
    PyObject *event = Py_NewRef(Py_None);
    for (int i = 0; i < plan->n_steps && event != NULL; i++) {
        const Step *step = &plan->steps[i];
        Args args;
        int failed = args.n = args.n_owned = 0;
        for (int k = 0; k < step->n && !failed; k++) {
            failed = put_operand(&args, chain, step->operands[k]) < 0;
        }
        put_numbers(&args, step->numbers);
        Py_SETREF(event, failed ? NULL
                                : table_launch(chain->table, step->kernel, chain->queue,
                                               step->sizes, step->local, &args));
        args_clear(&args);
    }
    return event;
}

int chain_put_end(Args *args, const ChainEnd *end) {
    return end->scratch != NULL ? args_array(args, end->scratch, 0)
                                : args_array(args, end->memory, end->out.offset);
}

PyObject *chain_launch_join(const Chain *chain, PyObject *join) {
    const ChainEnd *end = &chain->end;
    Args args;
    args.n = args.n_owned = 0;
    PyObject *event = NULL;
    if (args_array(&args, end->scratch, 0) == 0 &&
        args_array(&args, end->memory, end->out.offset) == 0) {
        put_numbers(&args, PyTuple_GET_ITEM(join, 3));
        event = table_launch(chain->table, PyTuple_GET_ITEM(join, 0), chain->queue,
                             PyTuple_GET_ITEM(join, 1), PyTuple_GET_ITEM(join, 2), &args);
    }
    args_clear(&args);
    return event;
}
