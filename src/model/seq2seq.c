/* The recurrent encoder-decoder with attention. */
#include <assert.h>

#include "config/config.h"
#include "corpus/vocab.h"
#include "graph/ops.h"
#include "model/family.h"
#include "model/packing.h"

/* Self-attention must be seen by somebody; and hops have no order that an
 * alignment could go by. */
static int check_self(const struct model *m, const struct config *cfg)
{
    const struct attention *a = &m->decoder.attention;
    const struct self_kind *self = m->encoder.self.kind;
    if (self->run && !a->align->context && !m->decoder.bridge.kind->mean)
        return config_error(cfg, "encoder.self_attention",
                            "nothing reads what '%s' makes when attention.kind "
                            "is '%s'; take another kind, or model.bridge "
                            "'mean'",
                            self->name, a->align->name);
    if (!self->hops || !a->align->context)
        return 0;
    if (a->align->ordered)
        return config_error(cfg, "attention.kind",
                            "'%s' goes by the order of the words, which the "
                            "hops of encoder.self_attention '%s' have not; "
                            "take 'global', 'forward', 'hard' or 'static'",
                            a->align->name, self->name);
    if (a->score->ordered)
        return config_error(cfg, "attention.score",
                            "'%s' goes by the order of the words, which the "
                            "hops of encoder.self_attention '%s' have not; "
                            "take 'additive', 'general', 'dot' or "
                            "'scaled_dot'",
                            a->score->name, self->name);
    return 0;
}

static int declare(struct model *m, const struct config *cfg)
{
    if (encoder_declare(&m->encoder, &m->params, cfg, m->source_size) < 0)
        return -1;
    if (decoder_declare(&m->decoder, &m->params, cfg, &m->encoder,
                        m->target_size) < 0)
        return -1;
    return check_self(m, cfg);
}

static void encode(const struct model *m, struct graph *g,
                   const struct side *source, struct decoder_memory *memory)
{
    memory->request = (struct output_request){ 0 };
    encoder_run(&m->encoder, g, source, &memory->encoded);
    attention_memory_init(&m->decoder.attention, g, memory->encoded.memory,
                          &memory->attention);
}

/* Weights over source words, whatever the decoder has looked at. */
static struct node *word_weights(struct graph *g,
                                 const struct decoder_memory *memory,
                                 const struct ragged *over,
                                 struct node *weights)
{
    struct node *hops = memory->encoded.hops;
    return weights && hops ? weighted_sum(g, weights, hops, over) : weights;
}

static void begin(const struct model *m, struct graph *g,
                  const struct decoder_memory *memory,
                  const struct ragged *over, struct decoder_state *state)
{
    decoder_begin(&m->decoder, g, memory, over, state);
}

static void step(const struct model *m, struct graph *g,
                 const struct decoder_memory *memory, const struct ragged *over,
                 const int *ids, int n, const struct decoder_state *before,
                 struct model_step *out)
{
    const struct decoder *d = &m->decoder;
    struct decoder_inputs inputs;
    struct decoder_step one;
    decoder_inputs(d, g, ids, n, &inputs);
    decoder_step(d, g, memory, over, &inputs, before, &one);
    struct stack features[DECODER_FEATURES];
    for (int k = 0; k < DECODER_FEATURES; k++)
        features[k] = (struct stack){ &one.feature[k], one.feature[k] != NULL };
    struct node *r = decoder_readout(d, g, &inputs, features);
    out->logits = output_logits(&d->output, g, r, &memory->request);
    out->normalised = d->output.kind->normalised;
    out->weights = word_weights(g, memory, over, one.weights);
    out->after = one.after;
}

/* The word before each target word, and the word itself, packed. */
static void shift(struct arena *arena, const struct side *target,
                  const struct packing *pack, int **before, int **gold)
{
    size_t N = (size_t)pack->tokens;
    *before = arena_array(arena, N, sizeof(**before));
    *gold = arena_array(arena, N, sizeof(**gold));
    for (int t = 0; t < pack->steps; t++)
        for (int r = pack->first[t]; r < pack->first[t] + pack->alive[t]; r++) {
            int token = pack->forward[r];
            (*gold)[r] = target->ids[token];
            (*before)[r] = t == 0 ? BOS : target->ids[token - 1];
        }
}

static struct node *view_or_null(struct graph *g, struct node *x, int first,
                                 int rows)
{
    return x ? graph_view(g, x, first, rows) : NULL;
}

/* States have a row for each sentence, in the order of the batch: the ranks
 * of the packing must be in that order, too. */
static bool is_sorted(const struct packing *pack)
{
    for (int b = 0; b < pack->sentences; b++)
        if (pack->order[b] != b)
            return false;
    return true;
}

/* The first n rows: the sentences that are longer than this step. */
static void shrink(struct graph *g, struct decoder_state *state, int n)
{
    for (int i = 0; i < DECODER_STATES; i++)
        state->part[i] = view_or_null(g, state->part[i], 0, n);
}

/* Steps through the target; the features of all steps, packed. */
static void teacher_force(const struct decoder *d, struct graph *g,
                          struct decoder_memory *memory,
                          const struct packing *pack,
                          const struct decoder_inputs *inputs,
                          const float *advantage,
                          struct stack features[DECODER_FEATURES],
                          struct model_trace *trace)
{
    struct ragged over = encoded_rows(&memory->encoded);
    struct node **parts[DECODER_FEATURES];
    for (int k = 0; k < DECODER_FEATURES; k++)
        parts[k] = arena_array(&g->arena, (size_t)pack->steps,
                               sizeof(*parts[k]));
    struct decoder_state state;
    decoder_begin(d, g, memory, &over, &state);
    for (int t = 0; t < pack->steps; t++) {
        int first = pack->first[t], n = pack->alive[t];
        struct decoder_inputs now = {
            graph_view(g, inputs->gates, first, n),
            view_or_null(g, inputs->readout, first, n),
        };
        struct decoder_step one;
        shrink(g, &state, n);
        memory->attention.advantage = advantage ? advantage + first : NULL;
        decoder_step(d, g, memory, &over, &now, &state, &one);
        for (int k = 0; k < DECODER_FEATURES; k++)
            parts[k][t] = one.feature[k];
        if (trace)
            trace->weights[t] = word_weights(g, memory, &over, one.weights);
        state = one.after;
    }
    for (int k = 0; k < DECODER_FEATURES; k++)
        features[k] = (struct stack){ parts[k], parts[k][0] ? pack->steps : 0 };
}

static void sum_pairs(const struct packing *pack, const float *row_nll,
                      double *pair_nll)
{
    for (int b = 0; b < pack->sentences; b++)
        pair_nll[b] = 0;
    for (int t = 0; t < pack->steps; t++)
        for (int i = 0; i < pack->alive[t]; i++)
            pair_nll[pack->order[i]] += (double)row_nll[pack->first[t] + i];
}

/* What the choice at each step cost, for alignments that draw: the sum of
 * -log p of its word and those after it in the sentence, less a baseline, the
 * mean of a word of the other sentences times the number of these words. (A
 * choice cannot change the words before it, and the baseline does not depend
 * on it: the estimate stays right on average, and varies less than with the
 * whole sentence and a moving average, Xu et al. 2015, sec. 4.1; nor is there
 * a state to keep.) */
static void fill_advantage(const struct packing *pack, const float *row_nll,
                           struct arena *arena, float *advantage)
{
    int B = pack->sentences, N = pack->tokens;
    double total = 0;
    double *sum = arena_array(arena, (size_t)B, sizeof(*sum));
    double *to_go = arena_array(arena, (size_t)B, sizeof(*to_go));
    int *words = arena_array(arena, (size_t)B, sizeof(*words));
    for (int i = 0; i < B; i++) {
        sum[i] = to_go[i] = 0;
        words[i] = 0;
    }
    for (int t = 0; t < pack->steps; t++)
        for (int i = 0; i < pack->alive[t]; i++) {
            sum[i] += (double)row_nll[pack->first[t] + i];
            words[i]++;
        }
    for (int i = 0; i < B; i++)
        total += sum[i];
    for (int t = pack->steps - 1; t >= 0; t--)
        for (int i = 0; i < pack->alive[t]; i++) {
            int others = N - words[i], row = pack->first[t] + i;
            double mean = others > 0 ? (total - sum[i]) / others : 0;
            to_go[i] += (double)row_nll[row] - mean;
            advantage[row] = (float)to_go[i];
        }
}

/* What the encoder's hops cost for looking at the same words. */
static double hop_penalty(const struct model *m, struct graph *g,
                          const struct encoded *encoded, float scale)
{
    const struct self_attention *s = &m->encoder.self;
    double sum = 0;
    if (!encoded->hops || s->penalty == 0)
        return 0;
    struct node *y = overlap(g, encoded->hops, s->hops);
    for (int b = 0; b < y->rows; b++) {
        sum += (double)y->value[b];
        if (y->grad)
            y->grad[b] += scale * s->penalty;
    }
    return (double)s->penalty * sum;
}

static struct loss loss(const struct model *m, struct graph *g,
                        const struct batch *batch, float scale,
                        double *pair_nll, struct model_trace *trace)
{
    const struct decoder *d = &m->decoder;
    struct packing pack;
    struct decoder_memory memory;
    struct decoder_inputs inputs;
    struct stack features[DECODER_FEATURES];
    int *before, *gold;

    encode(m, g, &batch->source, &memory);
    packing_make(&pack, &g->arena, &batch->target);
    assert(is_sorted(&pack));
    shift(&g->arena, &batch->target, &pack, &before, &gold);
    decoder_inputs(d, g, before, pack.tokens, &inputs);
    if (trace) {
        trace->steps = pack.steps;
        trace->weights = arena_array(&g->arena, (size_t)pack.steps,
                                     sizeof(*trace->weights));
    }
    bool draws = g->training && d->attention.align->draws;
    float *row_nll = NULL, *advantage = NULL;
    if (pair_nll || draws)
        row_nll = arena_array(&g->arena, (size_t)pack.tokens, sizeof(*row_nll));
    if (draws)
        advantage = arena_array(&g->arena, (size_t)pack.tokens,
                                sizeof(*advantage));
    memory.attention.scale = scale;
    teacher_force(d, g, &memory, &pack, &inputs, advantage, features, trace);
    struct node *readouts = decoder_readout(d, g, &inputs, features);
    struct loss sum = output_loss(&d->output, g, readouts, gold, scale,
                                  row_nll);
    sum.smoothed += hop_penalty(m, g, &memory.encoded, scale);
    if (draws)
        fill_advantage(&pack, row_nll, &g->arena, advantage);
    if (pair_nll)
        sum_pairs(&pack, row_nll, pair_nll);
    return sum;
}

const struct model_family family_seq2seq = {
    .name = "seq2seq",
    .declare = declare,
    .loss = loss,
    .encode = encode,
    .begin = begin,
    .step = step,
};
