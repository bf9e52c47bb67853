/* graph.h - graphs and their nodes (graph.c), and executable graphs (program.c). */
#ifndef PYGPU_SIM_GRAPH_H
#define PYGPU_SIM_GRAPH_H

#include <pthread.h>

#include "simulator/driver/work.h"

typedef struct SimNode SimNode;
typedef struct {
    SimNode **list;
    size_t n;
} SimNodes; /* of one graph, which owns them */

typedef struct SimGraph {
    SimObject object;
    pthread_mutex_t lock;
    SimNodes nodes; /* counted references, in a valid order of execution */
} SimGraph;

struct SimNode {
    SimObject object;
    size_t index; /* index in its graph */
    CUgraphNodeType type;
    SimWork work;
    SimNodes after;
};

CUresult sim_graph_new(SimGraph **out);
CUresult sim_graph_take(CUgraph handle, SimGraph **out);
/* Takes over work, even if it fails. Needs the graph's lock, unless nobody else has the graph
 * yet. */
CUresult sim_graph_add(SimGraph *graph, SimWork *work, const SimNodes *after, SimNode **out);
/* Adds nodes that are missing. */
CUresult sim_nodes_merge(SimNodes *to, const SimNodes *from);

void sim_program_keep(SimProgram *program);
void sim_program_drop(SimProgram *program);
CUresult sim_program_run(SimProgram *program, SimContext *context, SimOrigin origin,
                         SimError *error);

#endif
