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
