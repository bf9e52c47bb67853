/* graph.h - graphs and their nodes (graph.c), and graphs that can run (program.c). */
#ifndef PYGPU_SIM_GRAPH_H
#define PYGPU_SIM_GRAPH_H

#include <pthread.h>

#include "simulator/driver/work.h"

typedef struct SimNode SimNode;
typedef struct {
    SimNode **list;
    size_t n;
} SimNodes; /* of one graph, which keeps them */

typedef struct SimGraph {
    SimObject object;
    pthread_mutex_t lock;
    SimNodes nodes; /* counted; in an order in which they can run */
} SimGraph;

struct SimNode {
    SimObject object;
    size_t index; /* in its graph */
    CUgraphNodeType type;
    SimWork work;
    SimNodes after;
};

CUresult sim_graph_new(SimGraph **out);
CUresult sim_graph_take(CUgraph handle, SimGraph **out);
/* The graph takes work over, also on failure. Under the graph's lock, or before anybody else has
 * it. */
CUresult sim_graph_add(SimGraph *graph, SimWork *work, const SimNodes *after, SimNode **out);
/* Adds what is not there yet. */
CUresult sim_nodes_merge(SimNodes *to, const SimNodes *from);

void sim_program_keep(SimProgram *program);
void sim_program_drop(SimProgram *program);
CUresult sim_program_run(SimProgram *program, SimContext *context, SimError *error);

#endif
