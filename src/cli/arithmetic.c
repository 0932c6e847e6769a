#include "cli/arithmetic.h"

double arithmetic_forward(const struct arithmetic_model *m,
                          const struct arithmetic_tokens *n)
{
    double E = m->embedding, H = m->hidden, V = m->vocabulary, M = 2 * H;
    double encoder = 2 * 3 * H * (E + H);
    double keys = M * H;
    double cell = 3 * H * (E + M + H);
    double query = H * H;
    double score_and_context = H + M;
    double readout = (H + M + E) * E;
    double output = E * V;
    return n->source * (encoder + keys) +
           n->target * (cell + query + readout + output) +
           n->met * score_and_context;
}

double arithmetic_training(const struct arithmetic_model *m,
                           const struct arithmetic_tokens *n)
{
    return 3 * 2 * arithmetic_forward(m, n);
}

/* Floats of x[rows,k] w[k,n] -> y[rows,n] until `tokens` rows are done. */
static double floats(double tokens, double rows, double k, double n)
{
    return tokens * (k + n) + tokens / rows * k * n;
}

double arithmetic_bytes(const struct arithmetic_model *m,
                        const struct arithmetic_tokens *n,
                        const struct arithmetic_rows *rows)
{
    double E = m->embedding, H = m->hidden, V = m->vocabulary, M = 2 * H;
    double encoder = floats(n->source, rows->source, E, 6 * H) +
                     2 * floats(n->source, rows->encoder, H, 3 * H);
    double keys = floats(n->source, rows->source, M, H);
    double cell = floats(n->target, rows->target, E, 3 * H) +
                  floats(n->target, rows->decoder, M, 3 * H) +
                  floats(n->target, rows->decoder, H, 3 * H);
    double query = floats(n->target, rows->decoder, H, H);
    double score_and_context = n->met * (H + M);
    double readout = floats(n->target, rows->target, H + M + E, E);
    double output = floats(n->target, rows->target, E, V);
    return 4 * (encoder + keys + cell + query + score_and_context + readout +
                output);
}
