#include "model/encoder.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "config/config.h"
#include "graph/ops.h"
#include "model/names.h"
#include "model/packing.h"

static void declare_cell(struct cell_weights *w, const struct cell *cell,
                         struct params *p, int layer, const char *direction,
                         struct cell_shape shape)
{
    char *prefix = xasprintf("encoder.%d.%s", layer, direction);
    shape.at_once = true;
    cell_declare(w, cell, p, prefix, &shape);
    free(prefix);
}

int encoder_declare(struct encoder *e, struct params *p,
                    const struct config *cfg, int vocabulary)
{
    static const char *const direction[] = { "forward", "backward" };
    const struct cell *cell = cell_named(cfg, "encoder.cell");
    if (!cell || (cfg->encoder.layer_norm &&
                  cell_check_norm(cell, cfg->encoder.hidden, cfg,
                                  "encoder.layer_norm") < 0))
        return -1;
    *e = (struct encoder){
        .layers = cfg->encoder.layers,
        .directions = cfg->encoder.bidirectional ? 2 : 1,
        .residual = cfg->encoder.residual,
        .dropout = (float)cfg->training.dropout,
        .word_dropout = (float)cfg->training.word_dropout,
    };
    e->width = e->directions * cfg->encoder.hidden;
    e->embedding = params_declare(p,
                                  &(struct param){ .name = "source.embedding",
                                                   .rows = vocabulary,
                                                   .cols = cfg->model.embedding,
                                                   .init = INIT_EMBEDDING,
                                                   .table = true });
    for (int l = 0; l < e->layers; l++)
        for (int d = 0; d < e->directions; d++)
            declare_cell(&e->cell[l][d], cell, p, l, direction[d],
                         (struct cell_shape){
                             .input = l == 0 ? cfg->model.embedding : e->width,
                             .hidden = cfg->encoder.hidden,
                             .layer_norm = cfg->encoder.layer_norm });
    return self_declare(&e->self, p, cfg, e->width);
}

/* Runs the cell over a packed input; the states of each step. */
static void recur(const struct cell_weights *w, struct graph *g,
                  const struct packing *pack, struct node *x,
                  struct node **steps[CELL_STATES])
{
    struct node *inputs = cell_inputs(g, w, x); // [N,gH]
    struct node *now[CELL_STATES] = { NULL, NULL };
    int count = w->cell->states;
    for (int s = 0; s < count; s++) {
        now[s] = graph_zeros(g, pack->sentences, w->hidden);
        steps[s] = arena_array(&g->arena, (size_t)pack->steps,
                               sizeof(*steps[s]));
    }
    for (int t = 0; t < pack->steps; t++) {
        struct node *a = graph_view(g, inputs, pack->first[t], pack->alive[t]);
        struct node *before[CELL_STATES] = { NULL, NULL };
        for (int s = 0; s < count; s++)
            before[s] = graph_view(g, now[s], 0, pack->alive[t]);
        cell_step(g, w, a, NULL, before, now);
        for (int s = 0; s < count; s++)
            steps[s][t] = now[s];
    }
}

/* The row, among packed ones, of the state in which each sentence ends. */
static const int *last_rows(struct graph *g, const struct packing *pack,
                            const struct side *source, int direction)
{
    int *rows = arena_array(&g->arena, (size_t)pack->sentences, sizeof(*rows));
    for (int b = 0; b < pack->sentences; b++)
        rows[b] = direction == 0 ? pack->row[source->start[b + 1] - 1]
                                 : pack->back_row[source->start[b]];
    return rows;
}

/* One layer in all its directions: x[N,I] -> [N,M], and where it ended. */
static struct node *run_layer(const struct encoder *e, struct graph *g,
                              const struct packing *pack,
                              const struct side *source, int layer,
                              struct node *x, struct node *last[CELL_STATES])
{
    const int *read[DIRECTIONS] = { pack->forward, pack->backward };
    const int *back[DIRECTIONS] = { pack->row, pack->back_row };
    struct picks all[DIRECTIONS], ends[CELL_STATES][DIRECTIONS];
    int states = e->cell[layer][0].cell->states;
    for (int d = 0; d < e->directions; d++) {
        struct node **steps[CELL_STATES];
        recur(&e->cell[layer][d], g, pack,
              pick_rows(g, x, read[d], pack->tokens), steps);
        all[d] = (struct picks){ { steps[0], pack->steps }, back[d] };
        const int *end = last_rows(g, pack, source, d);
        for (int s = 0; s < states; s++)
            ends[s][d] = (struct picks){ { steps[s], pack->steps }, end };
    }
    for (int s = 0; s < states; s++)
        last[s] = pick_stacked(g, ends[s], e->directions, pack->sentences);
    return pick_stacked(g, all, e->directions, pack->tokens);
}

/* The rows of the memory are the words of the source. */
static void count_words(struct graph *g, const struct side *source,
                        struct encoded *out)
{
    int B = source->sentences;
    int *length = arena_array(&g->arena, (size_t)B, sizeof(*length));
    for (int b = 0; b < B; b++) {
        length[b] = source->start[b + 1] - source->start[b];
        if (length[b] > out->width)
            out->width = length[b];
    }
    out->sentences = B;
    out->start = source->start;
    out->length = length;
}

void encoder_run(const struct encoder *e, struct graph *g,
                 const struct side *source, struct encoded *out)
{
    memset(out, 0, sizeof(*out));
    struct packing pack;
    packing_make(&pack, &g->arena, source);
    struct node *x = lookup(g, param(g, e->embedding), source->ids,
                            source->tokens);
    x = dropout(g, dropout_rows(g, x, e->word_dropout), e->dropout);
    for (int l = 0; l < e->layers; l++) {
        struct node *y = run_layer(e, g, &pack, source, l, x, out->last[l]);
        if (e->residual && x->cols == y->cols)
            y = add(g, y, x);
        x = l + 1 < e->layers ? dropout(g, y, e->dropout) : y;
    }
    out->memory = x;
    count_words(g, source, out);
    self_run(&e->self, g, out);
}
