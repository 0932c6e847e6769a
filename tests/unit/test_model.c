/* Models: gradients of the whole loss for everything that can be configured,
 * one step at a time against all at once, and results that do not depend on
 * the batch. */
#include "model/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "config/config.h"
#include "corpus/vocab.h"
#include "graph/gradcheck.h"
#include "numbers.h"
#include "scratch.h"
#include "settings.h"
#include "tensor/gemm.h"
#include "tensor/vec.h"

/* --- what is built -------------------------------------------------------- */

/* Words of the vocabularies, and of the longest sentence with </s>. */
enum { WORDS = 11, LONGEST = 8 };

/* All that makes a difference to the shape of a model. */
struct plan {
    const struct cell *cell;
    const struct score *score;
    const struct align *kind;
    const struct style *style;
    const struct bridge_kind *bridge;
    const char *tied, *readout;
    const struct output_kind *output;
    int layers;
    bool bidirectional, feeding, residual;
    const char *smoothing, *dropout;
    int hidden; /* even: of the decoder, and of the encoder's output */
    int heads, window;
    const char *memory, *local_mode;
    bool normalized, coverage;
    const struct self_kind *self;
    const char *encoder_norm, *decoder_norm;
};

static const char *describe(const struct plan *p)
{
    static char text[256];
    snprintf(text, sizeof(text),
             "%s %s %s %s %s tied:%s readout:%s output:%s layers:%d%s%s%s "
             "heads:%d memory:%s mode:%s%s%s norm:%s,%s self:%s smoothing:%s "
             "dropout:%s",
             p->cell->name, p->score->name, p->kind->name, p->style->name,
             p->bridge->name, p->tied, p->readout, p->output->name, p->layers,
             p->bidirectional ? " bidirectional" : "",
             p->feeding ? " feeding" : "", p->residual ? " residual" : "",
             p->heads, p->memory, p->local_mode,
             p->normalized ? " normalized" : "", p->coverage ? " coverage" : "",
             p->encoder_norm, p->decoder_norm, p->self->name, p->smoothing,
             p->dropout);
    return text;
}

/* Widths differ where they may, so that no two can be taken for each other. */
static void set_widths(struct config *cfg, const struct plan *p)
{
    bool tied = strcmp(p->tied, "none") != 0;
    set_number(cfg, "model.embedding", p->hidden - (tied ? 1 : 2));
    set_number(cfg, "encoder.hidden",
               p->bidirectional ? p->hidden / 2 : p->hidden);
    set_number(cfg, "decoder.hidden", p->hidden);
    set_number(cfg, "decoder.readout_size", p->hidden - 1);
    set_number(cfg, "attention.size",
               p->heads > 1 ? 2 * p->heads : p->hidden + 1);
    if (p->residual) /* then the first layer has one as well */
        set_number(cfg, "model.embedding", p->hidden);
    if (p->residual && tied)
        set_number(cfg, "decoder.readout_size", p->hidden);
}

static void make_config(struct config *cfg, const struct plan *p)
{
    config_init(cfg);
    set(cfg, "encoder.cell", p->cell->name);
    set(cfg, "decoder.cell", p->cell->name);
    set(cfg, "attention.score", p->score->name);
    set(cfg, "attention.kind", p->kind->name);
    set(cfg, "decoder.style", p->style->name);
    set(cfg, "decoder.readout", p->readout);
    set(cfg, "model.bridge", p->bridge->name);
    set(cfg, "model.tied_embeddings", p->tied);
    set(cfg, "model.output", p->output->name);
    set_number(cfg, "encoder.layers", p->layers);
    set_number(cfg, "decoder.layers", p->layers);
    set(cfg, "encoder.bidirectional", p->bidirectional ? "true" : "false");
    set(cfg, "decoder.input_feeding", p->feeding ? "true" : "false");
    set(cfg, "encoder.residual", p->residual ? "true" : "false");
    set(cfg, "decoder.residual", p->residual ? "true" : "false");
    set_number(cfg, "attention.heads", p->heads);
    set(cfg, "attention.memory", p->memory);
    set(cfg, "attention.local_mode", p->local_mode);
    set(cfg, "attention.normalized", p->normalized ? "true" : "false");
    set(cfg, "attention.coverage", p->coverage ? "true" : "false");
    set(cfg, "encoder.layer_norm", p->encoder_norm);
    set(cfg, "encoder.self_attention", p->self->name);
    set_number(cfg, "encoder.self_size", p->hidden + 3);
    set_number(cfg, "encoder.hops", 3);
    set(cfg, "encoder.penalty", "0.3");
    set(cfg, "decoder.layer_norm", p->decoder_norm);
    set_number(cfg, "attention.window", p->window);
    set_number(cfg, "attention.length_limit", LONGEST);
    set(cfg, "training.label_smoothing", p->smoothing);
    set(cfg, "training.dropout", p->dropout);
    set(cfg, "training.word_dropout", p->dropout);
    set_widths(cfg, p);
}

/* A model of random weights, biases included. */
static struct model *make_model(const struct plan *p, float bound)
{
    struct config cfg;
    make_config(&cfg, p);
    struct model *m = model_new(&cfg, WORDS, WORDS);
    config_release(&cfg);
    if (!m)
        fail_msg("refused: %s", describe(p));
    numbers_fill(m->params.values, m->params.size, bound, 21);
    return m;
}

/* --- plans ------------------------------------------------------------------ */

static int table_size(const void *const *table)
{
    int n = 0;
    while (table[n])
        n++;
    return n;
}

#define TABLE_SIZE(table) table_size((const void *const *)(table))

static int bridge_count(void)
{
    int n = 0;
    while (bridge_kinds[n].name)
        n++;
    return n;
}

/* The number of pairs of cell, score, kind and style. */
static int plan_count(void)
{
    return TABLE_SIZE(cells) * TABLE_SIZE(scores) * TABLE_SIZE(aligns) *
           TABLE_SIZE(styles);
}

/* Takes the last digit of a number of mixed base. */
static int digit(int *number, int base)
{
    int last = *number % base;
    *number /= base;
    return last;
}

/* dot and scaled_dot compare what is equally wide: all of a state, or what
 * heads project; hard goes without heads. */
static void set_memory(struct plan *p, uint64_t seed)
{
    bool equal = strstr(p->score->name, "dot") != NULL;
    bool heads = numbers_pick(3, seed, 8) == 0 && !p->kind->draws;
    p->heads = heads ? 2 + numbers_pick(2, seed, 9) : 1;
    bool halves = numbers_pick(2, seed, 10) && (heads || !equal) &&
                  p->score->keys;
    p->memory = halves ? "key_value" : "shared";
}

/* Hops are in no order; where it matters there are words. Without a context
 * nothing but the bridge may read them. */
static const struct self_kind *pick_self(const struct plan *p, uint64_t seed)
{
    const struct self_kind *self =
        selves[numbers_pick(TABLE_SIZE(selves), seed, 15)];
    bool ordered = p->kind->ordered || p->score->ordered;
    bool unseen = !p->kind->context && !p->bridge->mean;
    return unseen || (self->hops && ordered) ? selves[0] : self;
}

static const struct output_kind *output_named(const char *name)
{
    int i = 0;
    while (strcmp(outputs[i]->name, name) != 0)
        i++;
    return outputs[i];
}

/* Only one of them can be an embedding, too. */
static const struct output_kind *pick_output(const struct plan *p,
                                             uint64_t seed)
{
    return strcmp(p->tied, "none") == 0
               ? outputs[numbers_pick(TABLE_SIZE(outputs), seed, 16)]
               : output_named("full");
}

/* Plan `number` of them; the rest of it is drawn, differently for each turn. */
static struct plan plan_make(int number, uint64_t turn, int hidden)
{
    static const char *const tied[] = { "none", "target", "all" };
    static const char *const readouts[] = { "linear", "maxout", "tanh",
                                            "tanh" };
    static const char *const modes[] = { "paper", "renormalized", "prior" };
    uint64_t seed = turn * 1000 + (uint64_t)number;
    struct plan p = {
        .hidden = hidden, .smoothing = "0", .dropout = "0", .window = 2
    };
    p.style = styles[digit(&number, TABLE_SIZE(styles))];
    p.kind = aligns[digit(&number, TABLE_SIZE(aligns))];
    p.score = scores[digit(&number, TABLE_SIZE(scores))];
    p.cell = cells[digit(&number, TABLE_SIZE(cells))];
    p.bridge = &bridge_kinds[(seed + turn) % (uint64_t)bridge_count()];
    p.tied = tied[numbers_pick(3, seed, 0)];
    p.layers = 1 + numbers_pick(2, seed, 1);
    p.bidirectional = numbers_pick(2, seed, 2);
    p.feeding = numbers_pick(2, seed, 3);
    p.residual = numbers_pick(2, seed, 4);
    p.readout = readouts[numbers_pick(4, seed, 5)];
    p.output = pick_output(&p, seed);
    p.local_mode = modes[numbers_pick(3, seed, 7)];
    set_memory(&p, seed);
    p.normalized = p.score->variants && numbers_pick(2, seed, 11);
    p.coverage = p.score->variants && !p.kind->query_is_summary &&
                 numbers_pick(2, seed, 12);
    p.self = pick_self(&p, seed);
    p.encoder_norm = numbers_pick(2, seed, 13) ? "true" : "false";
    p.decoder_norm = numbers_pick(2, seed, 14) ? "true" : "false";
    p.smoothing = numbers_pick(2, seed, 6) ? "0.15" : "0";
    return p;
}

/* --- batches ---------------------------------------------------------------- */

/* Pair i of a fixed, endless list of pairs. */
static int source_length(int i)
{
    return 1 + numbers_pick(7, 31, (uint64_t)i);
}

static int target_length(int i)
{
    return 1 + numbers_pick(6, 32, (uint64_t)i);
}

static int word(int i, int place, int length, uint64_t side)
{
    return place + 1 == length
               ? EOS
               : numbers_pick(WORDS, side, (uint64_t)i * 64 + (uint64_t)place);
}

static int before(int i, int j)
{
    if (target_length(i) != target_length(j))
        return target_length(i) > target_length(j);
    if (source_length(i) != source_length(j))
        return source_length(i) > source_length(j);
    return i < j;
}

/* As a batch must be: falling target, then source lengths. */
static void sort_pairs(int *pairs, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && before(pairs[j], pairs[j - 1]); j--) {
            int swap = pairs[j];
            pairs[j] = pairs[j - 1];
            pairs[j - 1] = swap;
        }
}

static void make_side(struct side *side, struct arena *arena, const int *pairs,
                      int n, int (*length)(int), uint64_t stream)
{
    int *start = arena_array(arena, (size_t)n + 1, sizeof(*start)), at = 0;
    for (int b = 0; b < n; b++) {
        start[b] = at;
        at += length(pairs[b]);
    }
    start[n] = at;
    int *ids = arena_array(arena, (size_t)at, sizeof(*ids));
    for (int b = 0; b < n; b++)
        for (int t = 0; t < length(pairs[b]); t++)
            ids[start[b] + t] = word(pairs[b], t, length(pairs[b]), stream);
    *side = (struct side){ n, at, start, ids };
}

static void make_batch(struct batch *batch, struct arena *arena,
                       const int *pairs, int n)
{
    make_side(&batch->source, arena, pairs, n, source_length, 41);
    make_side(&batch->target, arena, pairs, n, target_length, 42);
    batch->pair = NULL;
}

/* Four pairs of different lengths, one of them of </s> alone. */
static const int four[] = { 25, 30, 19, 4 };

static void test_four_pairs_differ(void **state)
{
    (void)state;
    int longest = 0;
    for (int i = 0; i < 4; i++) {
        if (i > 0)
            assert_true(before(four[i - 1], four[i]));
        longest = source_length(four[i]) > longest ? source_length(four[i])
                                                   : longest;
    }
    assert_true(longest > source_length(four[0]));
    assert_true(target_length(four[0]) > target_length(four[1]));
    assert_int_equal(target_length(four[3]), 1);
}

/* --- gradients ---------------------------------------------------------------- */

struct trial {
    struct model *model;
    struct gradients grads, unused;
    struct graph g;
    struct arena arena;
    struct batch batch;
    bool random; /* dropout: only a training graph has the function's value */
    struct gradcheck_leaf *leaves;
};

static void trial_init(struct trial *t, struct model *m)
{
    const struct align *kind = m->decoder.attention.align;
    *t = (struct trial){ .model = m,
                         .random = m->decoder.dropout > 0 || kind->expects };
    gradients_init(&t->grads, &m->params);
    gradients_init(&t->unused, &m->params);
    graph_init(&t->g);
    arena_init(&t->arena);
    make_batch(&t->batch, &t->arena, four, 4);
    t->leaves = ARRAY_ALLOC(t->leaves, (size_t)m->params.count);
    for (int i = 0; i < m->params.count; i++) {
        const struct param *p = &m->params.list[i];
        t->leaves[i] = (struct gradcheck_leaf){
            .name = p->name,
            .value = m->params.values + p->offset,
            .grad = t->grads.values + p->offset,
            .size = (size_t)p->rows * (size_t)p->cols,
        };
    }
}

static void trial_release(struct trial *t)
{
    gradients_release(&t->grads, &t->model->params);
    gradients_release(&t->unused, &t->model->params);
    graph_release(&t->g);
    arena_release(&t->arena);
    free(t->leaves);
    model_free(t->model);
}

static double trial_loss(void *arg, bool backward)
{
    struct trial *t = arg;
    const double scale = 0.5;
    graph_reset(&t->g);
    model_prepare(t->model, PRECISION_FP32);
    struct gradients *to = backward ? &t->grads : t->random ? &t->unused : NULL;
    model_bind(t->model, to, &t->g);
    struct loss loss = model_loss(t->model, &t->g, &t->batch, (float)scale,
                                  NULL, NULL);
    if (backward)
        graph_backward(&t->g);
    return scale * loss.smoothed;
}

/* Without a context, only the bridge makes a decoder of the encoder's end. */
static bool reads_encoder(const struct plan *p)
{
    return p->kind->context || p->bridge->dense || p->bridge->copy;
}

static bool is_of_encoder(const char *name)
{
    return strncmp(name, "encoder.", 8) == 0 ||
           strcmp(name, "source.embedding") == 0;
}

/* No parameter is left without a gradient. */
static void check_all_learn(const struct trial *t, const struct plan *p)
{
    for (int i = 0; i < t->model->params.count; i++) {
        const struct gradcheck_leaf *leaf = &t->leaves[i];
        float largest = 0;
        for (size_t k = 0; k < leaf->size; k++)
            largest = fmaxf(largest, fabsf(leaf->grad[k]));
        bool cut = is_of_encoder(leaf->name) && !reads_encoder(p) &&
                   !(strcmp(p->tied, "all") == 0 &&
                     strcmp(leaf->name, "source.embedding") == 0);
        if ((largest == 0) != cut)
            fail_msg("%s: '%s' has %s gradient", describe(p), leaf->name,
                     cut ? "a" : "no");
    }
}

/* The rows of a table that have a gradient are known. */
static void check_touched(const struct trial *t, const struct plan *p)
{
    for (int i = 0; i < t->model->params.count; i++) {
        const struct param *one = &t->model->params.list[i];
        for (int r = 0; r < one->rows && one->table; r++) {
            const float *row = t->leaves[i].grad + (size_t)r * one->cols;
            for (int c = 0; c < one->cols; c++)
                if (row[c] != 0 && !t->grads.touched[i][r])
                    fail_msg("%s: '%s' row %d", describe(p), one->name, r);
        }
    }
}

/* What meets all rows in one product says so, and nothing else does. Where a
 * query is made only once, what makes it is in one product, too. */
static void check_at_once(const struct trial *t, const struct plan *p)
{
    for (int i = 0; i < t->model->params.count; i++) {
        const struct param *one = &t->model->params.list[i];
        int uses = param(&t->g, i)->uses;
        bool once = uses == 1;
        if (uses > 0 && one->at_once != once && !p->kind->query_is_summary)
            fail_msg("%s: '%s' is in %d products", describe(p), one->name,
                     uses);
    }
}

static bool is_normalised(const struct plan *p)
{
    return strcmp(p->encoder_norm, "true") == 0 ||
           strcmp(p->decoder_norm, "true") == 0;
}

/* Differences are taken where the loss is smooth: away from the kinks of
 * maxout (test_ops.c has it), from windows that move, and from vectors to
 * normalise that are so short that their variance may be next to nothing. */
static struct plan smooth(const struct plan *plan)
{
    struct plan p = *plan;
    if (is_normalised(&p))
        p.hidden = 16;
    if (strcmp(p.readout, "maxout") == 0)
        p.readout = "tanh";
    if (strcmp(p.kind->name, "local_p") == 0)
        p.window = LONGEST;
    return p;
}

/* The steepest element of each parameter, and others at random. What is
 * normalised bends more: shorter steps, and more of the rounding in them. */
static int trial_gradcheck(struct trial *t, const struct plan *p,
                           size_t samples, uint64_t seed)
{
    struct gradcheck check = { .function = trial_loss,
                               .arg = t,
                               .leaves = t->leaves,
                               .count = t->model->params.count,
                               .samples = samples,
                               .seed = seed,
                               .step = is_normalised(p) ? 1.0 / 64 : 0,
                               .tolerance = is_normalised(p) ? 5e-4 : 0 };
    return gradcheck(&check);
}

static void check_gradients(const struct plan *plan, size_t samples,
                            uint64_t seed)
{
    struct plan made = smooth(plan), *p = &made;
    struct trial t;
    trial_init(&t, make_model(p, 0.6f));
    if (p->kind->draws) /* test_draws_estimate_the_gradient below */
        trial_loss(&t, true);
    else if (trial_gradcheck(&t, p, samples, seed) < 0)
        fail_msg("%s", describe(p));
    check_all_learn(&t, p);
    check_touched(&t, p);
    check_at_once(&t, p);
    trial_release(&t);
}

static void test_gradients(void **state)
{
    (void)state;
    for (int i = 0; i < plan_count(); i++) {
        struct plan p = plan_make(i, 0, 6);
        check_gradients(&p, i % 8 == 0 ? 3 : 1, (uint64_t)i);
    }
}

/* Heads and halves with each score and kind, whatever the plan says. */
static void test_gradients_of_heads(void **state)
{
    (void)state;
    for (int i = 0; i < plan_count(); i += 7) {
        struct plan p = plan_make(i, 11, 6);
        p.heads = p.kind->draws ? 1 : 3;
        p.memory = p.kind->draws || !p.score->keys ? "shared" : "key_value";
        check_gradients(&p, 2, (uint64_t)i);
    }
}

static const struct align *kind_named(const char *name)
{
    int i = 0;
    while (strcmp(aligns[i]->name, name) != 0)
        i++;
    return aligns[i];
}

/* Every bridge with every cell and style, with and without a context. */
static void test_gradients_of_bridges(void **state)
{
    (void)state;
    for (int i = 0; i < plan_count(); i++) {
        struct plan p = plan_make(i, 7, 6);
        for (int b = 0; b < bridge_count(); b++) {
            p.bridge = &bridge_kinds[b];
            p.self = pick_self(&p, (uint64_t)i);
            p.layers = 1 + b % 2;
            if (p.score == scores[0] && i % 6 == 0)
                check_gradients(&p, 1, 0);
        }
    }
}

/* Every cell with every style, layers and a context, all cells normalised. */
static void test_gradients_of_layer_norm(void **state)
{
    (void)state;
    for (int c = 0; cells[c]; c++)
        for (int s = 0; styles[s]; s++)
            for (int layers = 1; layers <= 2; layers++) {
                struct plan p = plan_make(0, (uint64_t)(20 + c), 6);
                p.cell = cells[c];
                p.style = styles[s];
                p.kind = kind_named("global");
                p.layers = layers;
                p.bidirectional = layers == 1;
                p.feeding = true;
                p.encoder_norm = p.decoder_norm = "true";
                check_gradients(&p, 4, (uint64_t)s);
            }
}

static void test_gradients_with_dropout(void **state)
{
    (void)state;
    for (int i = 0; i < plan_count(); i += 11) {
        struct plan p = plan_make(i, 3, 6);
        p.dropout = "0.2";
        p.layers = 2;
        if (p.kind->draws)
            continue;
        p = smooth(&p);
        struct trial t;
        trial_init(&t, make_model(&p, 0.6f));
        t.g.seed = 5;
        if (trial_gradcheck(&t, &p, 1, 0) < 0)
            fail_msg("%s", describe(&p));
        trial_release(&t);
    }
}

/* --- gradients of what is drawn --------------------------------------------- */

struct scores_part {
    size_t first, size; /* in the block of parameters */
};

/* The parameters of the score: the loss of given choices does not depend on
 * them, so that all of their gradient is REINFORCE's. */
static struct scores_part scores_of(const struct params *p)
{
    struct scores_part part = { p->size, 0 };
    for (int i = 0; i < p->count; i++) {
        const struct param *one = &p->list[i];
        size_t end = one->offset + (size_t)one->rows * (size_t)one->cols;
        if (strncmp(one->name, "attention.", 10) != 0)
            continue;
        part.first = part.first < one->offset ? part.first : one->offset;
        part.size = end - part.first;
    }
    return part;
}

static void move(struct trial *t, const struct scores_part *part,
                 const float *direction, float by)
{
    float *w = t->model->params.values + part->first;
    for (size_t i = 0; i < part->size; i++)
        w[i] += by * direction[i];
}

/* The mean gradient over draws first … first + n - 1, not scaled. */
static void add_gradients(struct trial *t, const struct scores_part *part,
                          uint64_t first, int n, float *sum)
{
    vec_zero(sum, part->size);
    for (int i = 0; i < n; i++) {
        vec_zero(t->grads.values, t->model->params.size);
        t->g.update = first + (uint64_t)i;
        trial_loss(t, true);
        vec_add(sum, t->grads.values + part->first, part->size);
    }
    vec_scale(sum, 1.0f / (float)n, part->size);
}

struct estimate {
    double sum, squares;
    int n;
};

static void estimate_add(struct estimate *e, double x)
{
    e->sum += x;
    e->squares += x * x;
    e->n++;
}

static double estimate_mean(const struct estimate *e)
{
    return e->sum / e->n;
}

static double estimate_variance(const struct estimate *e)
{
    double mean = estimate_mean(e);
    return (e->squares / e->n - mean * mean) / e->n;
}

/* Slopes along the direction: of each draw's gradient, and of each draw's
 * loss by differences, in which some choices come out differently. */
static void two_slopes(struct trial *t, const struct scores_part *part,
                       const float *direction, int n, struct estimate *told,
                       struct estimate *seen)
{
    const float h = 0.1f;
    *told = *seen = (struct estimate){ 0, 0, 0 };
    for (int i = 0; i < n; i++) {
        float *grad = t->grads.values + part->first;
        vec_zero(t->grads.values, t->model->params.size);
        t->g.update = 1000000 + (uint64_t)i;
        trial_loss(t, true);
        estimate_add(told, (double)vec_dot(grad, direction, (int)part->size));
        t->g.update += 1000000;
        move(t, part, direction, h);
        double up = trial_loss(t, false);
        move(t, part, direction, -2 * h);
        double down = trial_loss(t, false);
        move(t, part, direction, h);
        estimate_add(seen, (up - down) / (2 * (double)h));
    }
}

/* On average the gradient is that of the expected loss. The direction is that
 * of the gradient of other draws: where there is something to see. */
static void check_draws(const struct plan *p)
{
    struct trial t;
    struct estimate told, seen;
    trial_init(&t, make_model(p, 1.0f));
    t.random = true;
    t.model->decoder.attention.entropy = 0;
    struct scores_part part = scores_of(&t.model->params);
    float *direction = ARRAY_ALLOC(direction, part.size);
    add_gradients(&t, &part, 0, 800, direction);
    float norm = sqrtf(vec_dot(direction, direction, (int)part.size));
    vec_scale(direction, 1 / norm, part.size);
    two_slopes(&t, &part, direction, 3000, &told, &seen);
    double error = sqrt(estimate_variance(&told) + estimate_variance(&seen));
    double difference = estimate_mean(&told) - estimate_mean(&seen);
    if (estimate_mean(&told) < 8 * error || fabs(difference) > 4 * error)
        fail_msg("%s: slope %g told, %g seen, error %g", describe(p),
                 estimate_mean(&told), estimate_mean(&seen), error);
    free(direction);
    trial_release(&t);
}

static void test_draws_estimate_the_gradient(void **state)
{
    (void)state;
    for (int k = 0; aligns[k]; k++) {
        struct plan p = plan_make(0, 0, 6);
        p.kind = aligns[k];
        p.heads = 1;
        p.memory = "shared";
        p.layers = 1;
        p.smoothing = "0";
        p.normalized = p.coverage = false;
        p.self = selves[0];
        p.encoder_norm = p.decoder_norm = "false";
        if (p.kind->draws)
            check_draws(&p);
    }
}

/* --- one step at a time -------------------------------------------------------- */

static double log_probability(const struct node *logits, int row, int gold)
{
    const float *x = node_row(logits, row);
    double top = (double)x[0], sum = 0;
    for (int v = 1; v < logits->cols; v++)
        top = fmax(top, (double)x[v]);
    for (int v = 0; v < logits->cols; v++)
        sum += exp((double)x[v] - top);
    return (double)x[gold] - top - log(sum);
}

/* A step looks where teacher forcing has looked. */
static void check_looks(const struct model_step *step,
                        const struct model_trace *trace, int t, int b)
{
    const struct node *forced = trace->weights[t];
    assert_int_equal(forced != NULL, step->weights != NULL);
    for (int j = 0; forced && j < forced->cols; j++)
        assert_true(fabsf(node_row(forced, b)[j] -
                          node_row(step->weights, b)[j]) < 1e-5f);
}

/* -log p of each pair, by model_step() for all sentences until the longest
 * one's end. */
static void step_through(const struct model *m, struct graph *g,
                         const struct batch *batch,
                         const struct model_trace *trace, double *pair_nll)
{
    struct decoder_memory memory;
    struct decoder_state now;
    model_encode(m, g, &batch->source, &memory);
    struct ragged over = encoded_rows(&memory.encoded);
    model_begin(m, g, &memory, &over, &now);
    int B = batch->target.sentences;
    int *ids = arena_array(&g->arena, (size_t)B, sizeof(*ids));
    int steps = batch->target.start[1];
    for (int b = 0; b < B; b++)
        pair_nll[b] = 0;
    for (int t = 0; t < steps; t++) {
        int *last = arena_array(&g->arena, (size_t)B, sizeof(*last));
        for (int b = 0; b < B; b++)
            last[b] = t == 0 ? BOS : ids[b];
        struct model_step step;
        model_step(m, g, &memory, &over, last, B, &now, &step);
        for (int b = 0; b < B; b++) {
            int at = batch->target.start[b] + t;
            if (at >= batch->target.start[b + 1])
                continue;
            ids[b] = batch->target.ids[at];
            pair_nll[b] -= log_probability(step.logits, b, ids[b]);
            check_looks(&step, trace, t, b);
        }
        now = step.after;
    }
}

static void check_steps(const struct plan *p)
{
    struct model *m = make_model(p, 1.0f);
    struct arena arena;
    struct graph g;
    struct batch batch;
    double forced[4], stepped[4], trained[4];
    arena_init(&arena);
    graph_init(&g);
    make_batch(&batch, &arena, four, 4);
    model_prepare(m, PRECISION_FP32);
    model_bind(m, NULL, &g);
    struct model_trace trace;
    struct loss loss = model_loss(m, &g, &batch, 1, forced, &trace);
    step_through(m, &g, &batch, &trace, stepped);
    double sum = 0;
    for (int b = 0; b < 4; b++) {
        sum += forced[b];
        if (!(fabs(forced[b] - stepped[b]) < 1e-5 * (1 + forced[b])))
            fail_msg("%s: pair %d: %.9g forced, %.9g step by step", describe(p),
                     b, forced[b], stepped[b]);
    }
    assert_true(fabs(loss.nll - sum) < 1e-5 * sum);
    assert_int_equal(loss.smoothed != loss.nll,
                     p->self->hops || strcmp(p->smoothing, "0") != 0);

    struct gradients grads;
    gradients_init(&grads, &m->params);
    graph_reset(&g);
    model_bind(m, &grads, &g);
    model_loss(m, &g, &batch, 1, trained, NULL);
    bool same = !p->kind->draws && !p->kind->expects;
    for (int b = 0; b < 4 && same; b++)
        assert_true(fabs(forced[b] - trained[b]) < 1e-5 * (1 + forced[b]));
    gradients_release(&grads, &m->params);
    graph_release(&g);
    arena_release(&arena);
    model_free(m);
}

static void test_steps_are_teacher_forcing(void **state)
{
    (void)state;
    for (int i = 0; i < plan_count(); i++)
        for (uint64_t turn = 0; turn < 2; turn++) {
            struct plan p = plan_make(i, turn, 6);
            check_steps(&p);
        }
}

/* --- the batch has no influence -------------------------------------------------- */

enum { POOL = 64 };

/* What a model says of a pair. */
struct saying {
    double nll;
    float weights[LONGEST][LONGEST]; // [T,S]
};

static void note_weights(const struct batch *batch, int row,
                         const struct model_trace *trace, struct saying *said)
{
    const struct side *s = &batch->source, *t = &batch->target;
    int S = s->start[row + 1] - s->start[row];
    int T = t->start[row + 1] - t->start[row];
    for (int i = 0; i < T && trace->weights[i]; i++) {
        const float *from = node_row(trace->weights[i], row);
        memcpy(said->weights[i], from, (size_t)S * sizeof(*from));
        for (int j = S; j < trace->weights[i]->cols; j++)
            assert_true(from[j] == 0);
    }
}

/* Of these pairs, which are sorted, together in a batch. */
static void hear(const struct model *m, const int *pairs, int n,
                 struct saying *said)
{
    struct graph g;
    struct batch batch;
    struct arena arena;
    struct model_trace trace;
    double nll[POOL];
    arena_init(&arena);
    graph_init(&g);
    make_batch(&batch, &arena, pairs, n);
    model_bind(m, NULL, &g);
    model_loss(m, &g, &batch, 1, nll, &trace);
    assert_int_equal(trace.steps, batch.target.start[1]);
    for (int b = 0; b < n; b++) {
        memset(&said[b], 0, sizeof(said[b]));
        said[b].nll = nll[b];
        note_weights(&batch, b, &trace, &said[b]);
    }
    graph_release(&g);
    arena_release(&arena);
}

/* Batches of n of the pool: its pairs first, first + step, … */
static void check_part(const struct model *m, const struct plan *p,
                       const int *pool, const struct saying *all, int first,
                       int n)
{
    int pairs[POOL] = { 0 }, step = n > 1 ? (POOL - 1 - first) / (n - 1) : 1;
    struct saying said[POOL];
    for (int i = 0; i < n; i++)
        pairs[i] = pool[first + i * step];
    hear(m, pairs, n, said);
    for (int i = 0; i < n; i++)
        if (memcmp(&said[i], &all[first + i * step], sizeof(said[i])) != 0)
            fail_msg("%s: pair %d in a batch of %d", describe(p), pairs[i], n);
}

static void check_batches(const struct plan *p)
{
    int pool[POOL];
    struct saying all[POOL];
    struct model *m = make_model(p, 0.7f);
    model_prepare(m, PRECISION_FP32);
    for (int i = 0; i < POOL; i++)
        pool[i] = i;
    sort_pairs(pool, POOL);
    hear(m, pool, POOL, all);
    for (int i = 0; i < POOL; i += 9)
        check_part(m, p, pool, all, i, 1);
    for (int i = 0; i < 40; i += 19)
        check_part(m, p, pool, all, i, 2);
    check_part(m, p, pool, all, 0, 7);
    check_part(m, p, pool, all, 5, 7);
    check_part(m, p, pool, all, 1, 63);
    model_free(m);
}

static void test_batch_has_no_influence(void **state)
{
    (void)state;
    for (int i = 0; i < plan_count(); i += 2) {
        struct plan p = plan_make(i + i / 2 % 2, 1, i % 4 ? 22 : 40);
        check_batches(&p);
    }
}

/* The four sentences, encoded, before the first step of a search. */
struct search {
    struct arena arena;
    struct graph g;
    struct batch batch;
    struct decoder_memory memory;
    struct decoder_state first;
    struct ragged over;
};

static void search_start(struct search *s, struct model *m)
{
    arena_init(&s->arena);
    graph_init(&s->g);
    make_batch(&s->batch, &s->arena, four, 4);
    model_prepare(m, PRECISION_FP32);
    model_bind(m, NULL, &s->g);
    model_encode(m, &s->g, &s->batch.source, &s->memory);
    s->over = encoded_rows(&s->memory.encoded);
    model_begin(m, &s->g, &s->memory, &s->over, &s->first);
}

static void search_end(struct search *s)
{
    graph_release(&s->g);
    arena_release(&s->arena);
}

/* Hypotheses in any order, several of one sentence: a hypothesis' logits,
 * weights and state are those that it has alone. */
static void check_hypotheses(const struct plan *p)
{
    enum { N = 7 };
    static const int sentence[N] = { 2, 0, 0, 3, 1, 2, 0 };
    static const int last[N] = { 4, 5, 5, 1, 7, 3, 9 };
    struct model *m = make_model(p, 0.7f);
    struct search s;
    struct decoder_state picked, own;
    struct model_step together, alone;
    search_start(&s, m);
    int start[N], length[N];
    for (int i = 0; i < N; i++) {
        start[i] = s.memory.encoded.start[sentence[i]];
        length[i] = s.memory.encoded.length[sentence[i]];
    }
    for (int k = 0; k < DECODER_STATES; k++)
        picked.part[k] = s.first.part[k]
                             ? pick_rows(&s.g, s.first.part[k], sentence, N)
                             : NULL;
    struct ragged mixed = { start, length, s.memory.encoded.width, NULL };
    model_step(m, &s.g, &s.memory, &mixed, last, N, &picked, &together);
    for (int i = 0; i < N; i++) {
        struct ragged one = { start + i, length + i, s.memory.encoded.width,
                              NULL };
        for (int k = 0; k < DECODER_STATES; k++)
            own.part[k] = picked.part[k]
                              ? graph_view(&s.g, picked.part[k], i, 1)
                              : NULL;
        model_step(m, &s.g, &s.memory, &one, last + i, 1, &own, &alone);
        bool same = same_bits(node_row(together.logits, i), alone.logits->value,
                              WORDS);
        if (alone.weights)
            same = same &&
                   same_bits(node_row(together.weights, i),
                             alone.weights->value, (size_t)alone.weights->cols);
        for (int k = 0; k < DECODER_STATES; k++)
            if (alone.after.part[k])
                same = same && same_bits(node_row(together.after.part[k], i),
                                         alone.after.part[k]->value,
                                         (size_t)alone.after.part[k]->cols);
        if (!same)
            fail_msg("%s: hypothesis %d", describe(p), i);
    }
    search_end(&s);
    model_free(m);
}

static void test_hypotheses_have_no_influence(void **state)
{
    (void)state;
    for (int i = 0; i < plan_count(); i++) {
        struct plan p = plan_make(i, 2, 22);
        check_hypotheses(&p);
    }
}

/* --- attention -------------------------------------------------------------------- */

/* A Gaussian takes away from a sum; a process may stop nowhere. */
static bool sum_is_right(const struct plan *p, double sum)
{
    bool paper = strcmp(p->kind->name, "local_p") == 0 &&
                 strcmp(p->local_mode, "paper") == 0;
    if (!p->kind->context)
        return sum == 0;
    if (paper)
        return sum > 0 && sum < 1 + 1e-6;
    if (p->kind->expects) /* a mean over the heads */
        return sum >= 0 && sum < 1 + 1e-6;
    return fabs(sum - 1) < 1e-6;
}

/* local_m looks at t - D … t + D and nowhere else. */
static void check_window(const struct plan *p, const struct saying *said, int t,
                         int S)
{
    int centre = t < S - 1 ? t : S - 1;
    for (int j = 0; j < S; j++)
        if ((said->weights[t][j] > 0) != (abs(j - centre) <= p->window))
            fail_msg("%s: step %d, position %d", describe(p), t, j);
}

static void check_weights(const struct plan *p)
{
    struct model *m = make_model(p, 1.5f);
    struct saying said[4];
    model_prepare(m, PRECISION_FP32);
    hear(m, four, 4, said);
    for (int b = 0; b < 4; b++)
        for (int t = 0; t < target_length(four[b]); t++) {
            double sum = 0;
            for (int j = 0; j < LONGEST; j++) {
                assert_true(said[b].weights[t][j] >= 0);
                sum += (double)said[b].weights[t][j];
            }
            if (!sum_is_right(p, sum))
                fail_msg("%s: weights sum to %g", describe(p), sum);
            bool same = same_bits(said[b].weights[t], said[b].weights[0],
                                  LONGEST);
            if (strcmp(p->kind->name, "static") == 0)
                assert_true(same);
            if (strcmp(p->kind->name, "local_m") == 0)
                check_window(p, &said[b], t, source_length(four[b]));
            if (strcmp(p->kind->name, "global") == 0 && t > 0 &&
                source_length(four[b]) > 1)
                assert_false(same);
        }
    model_free(m);
}

/* What the decoder gives to each hop times what the hop gives to word j, for
 * the first step of sentence b. */
static double weight_of_word(const struct decoder_memory *memory,
                             const struct node *weights, int b, int j)
{
    double sum = 0;
    for (int k = 0; k < memory->encoded.length[b]; k++) {
        const float *hop = node_row(memory->encoded.hops,
                                    memory->encoded.start[b] + k);
        sum += (double)node_row(weights, b)[k] * (double)hop[j];
    }
    return sum;
}

static void check_hops(const struct plan *p)
{
    static const int bos[4] = { BOS, BOS, BOS, BOS };
    struct model *m = make_model(p, 1.5f);
    struct search s;
    struct decoder_inputs inputs;
    struct decoder_step hops;
    struct model_step words;
    search_start(&s, m);
    decoder_inputs(&m->decoder, &s.g, bos, 4, &inputs);
    decoder_step(&m->decoder, &s.g, &s.memory, &s.over, &inputs, &s.first,
                 &hops);
    model_step(m, &s.g, &s.memory, &s.over, bos, 4, &s.first, &words);
    for (int b = 0; b < 4; b++)
        for (int j = 0; j < words.weights->cols; j++) {
            double wanted = weight_of_word(&s.memory, hops.weights, b, j);
            double got = (double)node_row(words.weights, b)[j];
            if (!(fabs(got - wanted) < 1e-6))
                fail_msg("%s: pair %d, word %d: %g, not %g", describe(p), b, j,
                         got, wanted);
        }
    search_end(&s);
    model_free(m);
}

static void test_weights_through_hops(void **state)
{
    (void)state;
    int checked = 0;
    for (int i = 0; i < plan_count(); i++) {
        struct plan p = plan_make(i, 4, 6);
        if (!p.self->hops || !p.kind->context)
            continue;
        check_hops(&p);
        checked++;
    }
    assert_true(checked > 0);
}

static void test_weights(void **state)
{
    (void)state;
    for (int i = 0; i < plan_count(); i++) {
        struct plan p = plan_make(i, 4, 6);
        check_weights(&p);
    }
}

/* The logits of a first step; `memory` and `summary` are changed before it. */
static void first_logits(const struct model *m, bool memory, bool summary,
                         float logits[WORDS])
{
    static const int pair[] = { 25 }, bos[] = { BOS };
    struct arena arena;
    struct graph g;
    struct batch batch;
    struct decoder_memory encoded;
    struct decoder_state now;
    struct model_step step;
    arena_init(&arena);
    graph_init(&g);
    make_batch(&batch, &arena, pair, 1);
    model_bind(m, NULL, &g);
    model_encode(m, &g, &batch.source, &encoded);
    struct node *states = encoded.encoded.memory;
    if (memory)
        numbers_fill(states->value, node_size(states), 1.0f, 77);
    for (int l = 0; l < m->encoder.layers && summary; l++)
        numbers_fill(encoded.encoded.last[l][0]->value,
                     (size_t)m->encoder.width, 1.0f, 78);
    struct ragged over = encoded_rows(&encoded.encoded);
    model_begin(m, &g, &encoded, &over, &now);
    model_step(m, &g, &encoded, &over, bos, 1, &now, &step);
    memcpy(logits, step.logits->value, WORDS * sizeof(*logits));
    graph_release(&g);
    arena_release(&arena);
}

/* RNNencdec sees the summary and nothing else, attention sees the memory. */
static void test_what_is_read(void **state)
{
    (void)state;
    for (int i = 0; i < plan_count(); i++) {
        struct plan p = plan_make(i, 5, 6);
        float plain[WORDS], memory[WORDS], summary[WORDS];
        p.bridge = &bridge_kinds[0];
        p.self = selves[0];
        p.heads = 1; /* then attention reads the states themselves */
        p.memory = "shared";
        struct model *m = make_model(&p, 0.8f);
        model_prepare(m, PRECISION_FP32);
        first_logits(m, false, false, plain);
        first_logits(m, true, false, memory);
        first_logits(m, false, true, summary);
        assert_string_equal(p.bridge->name, "dense");
        bool same = same_bits(plain, memory, WORDS);
        if ((same == p.kind->context && !p.kind->expects) ||
            same_bits(plain, summary, WORDS))
            fail_msg("%s", describe(&p));
        model_free(m);
    }
}

/* --- the encoder -------------------------------------------------------------------- */

static void swap_params(struct params *p, const char *one, const char *other)
{
    const struct param *a = params_find(p, one), *b = params_find(p, other);
    if (!a)
        return; /* a cell without it */
    size_t n = (size_t)a->rows * (size_t)a->cols;
    for (size_t i = 0; i < n; i++) {
        float swap = p->values[a->offset + i];
        p->values[a->offset + i] = p->values[b->offset + i];
        p->values[b->offset + i] = swap;
    }
}

static struct side reversed(struct arena *arena, const struct side *side)
{
    int *ids = arena_array(arena, (size_t)side->tokens, sizeof(*ids));
    for (int b = 0; b < side->sentences; b++)
        for (int t = side->start[b]; t < side->start[b + 1]; t++)
            ids[t] = side->ids[side->start[b] + side->start[b + 1] - 1 - t];
    return (struct side){ side->sentences, side->tokens, side->start, ids };
}

/* With the two directions changed, a reversed sentence gives the same states
 * in reversed order, halves changed; and the summary is of the two ends. */
static void check_directions(const struct plan *p)
{
    static const char *const names[] = { "W",         "U",        "b",
                                         "c",         "W_gain",   "U_gain",
                                         "cell_gain", "cell_bias" };
    struct model *m = make_model(p, 0.8f);
    struct arena arena;
    struct graph g;
    struct batch batch;
    struct encoded plain, turned;
    arena_init(&arena);
    graph_init(&g);
    make_batch(&batch, &arena, four, 4);
    struct side back = reversed(&arena, &batch.source);
    model_bind(m, NULL, &g);
    encoder_run(&m->encoder, &g, &batch.source, &plain);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char one[40], other[40];
        snprintf(one, sizeof(one), "encoder.0.forward.%s", names[i]);
        snprintf(other, sizeof(other), "encoder.0.backward.%s", names[i]);
        swap_params(&m->params, one, other);
    }
    encoder_run(&m->encoder, &g, &back, &turned);
    size_t H = (size_t)m->encoder.width / 2;
    for (int b = 0; b < 4; b++) {
        int first = back.start[b], last = back.start[b + 1] - 1;
        for (int t = first; t <= last; t++) {
            const float *x = node_row(plain.memory, t);
            const float *y = node_row(turned.memory, first + last - t);
            assert_true(same_bits(x, y + H, H) && same_bits(x + H, y, H));
        }
        const float *summary = node_row(plain.last[0][0], b);
        assert_true(same_bits(summary, node_row(plain.memory, last), H));
        assert_true(
            same_bits(summary + H, node_row(plain.memory, first) + H, H));
    }
    graph_release(&g);
    arena_release(&arena);
    model_free(m);
}

static void test_directions(void **state)
{
    (void)state;
    for (int c = 0; cells[c]; c++) {
        struct plan p = plan_make(0, 0, 22);
        p.cell = cells[c];
        p.bridge = &bridge_kinds[0];
        p.self = selves[0];
        p.layers = 1;
        p.bidirectional = true;
        p.residual = false;
        p.encoder_norm = "false";
        check_directions(&p);
        p.encoder_norm = "true";
        check_directions(&p);
    }
}

/* --- what is refused ------------------------------------------------------------------ */

static const struct {
    const char *key[3], *value[3], *word;
    int source, target;
} refused[] = {
    { { "encoder.self_attention", "attention.kind" },
      { "own", "none" },
      "model.bridge",
      WORDS,
      WORDS },
    { { "attention.kind", "encoder.self_attention" },
      { "local_m", "structured" },
      "the order of the words",
      WORDS,
      WORDS },
    { { "attention.score", "encoder.self_attention", "attention.memory" },
      { "location", "structured", "shared" },
      "the order of the words",
      WORDS,
      WORDS },
    { { "attention.normalized", "attention.score" },
      { "true", "general" },
      "additive",
      WORDS,
      WORDS },
    { { "attention.coverage", "attention.score" },
      { "true", "location" },
      "additive",
      WORDS,
      WORDS },
    { { "attention.coverage", "attention.kind" },
      { "true", "static" },
      "another kind",
      WORDS,
      WORDS },
    { { "attention.score", "decoder.hidden" },
      { "dot", "12" },
      "general",
      WORDS,
      WORDS },
    { { "model.bridge", "decoder.hidden" },
      { "copy", "12" },
      "model.bridge",
      WORDS,
      WORDS },
    { { "model.bridge", "encoder.layers" },
      { "copy", "2" },
      "layers",
      WORDS,
      WORDS },
    { { "model.bridge", "encoder.cell" },
      { "copy", "lstm" },
      "cell",
      WORDS,
      WORDS },
    { { "model.tied_embeddings", "decoder.readout_size" },
      { "target", "7" },
      "readout_size",
      WORDS,
      WORDS },
    { { "model.tied_embeddings" }, { "all" }, "vocabulary", WORDS, 12 },
    { { "model.tied_embeddings", "model.output" },
      { "target", "adaptive" },
      "'full'",
      WORDS,
      WORDS },
    { { "model.output" }, { "adaptiv" }, "adaptive", WORDS, WORDS },
    { { "encoder.layer_norm", "encoder.cell", "encoder.hidden" },
      { "true", "rnn", "1" },
      "'rnn'",
      WORDS,
      WORDS },
    { { "decoder.layer_norm", "decoder.cell", "decoder.hidden" },
      { "true", "lstm", "1" },
      "'lstm'",
      WORDS,
      WORDS },
    { { "decoder.style" }, { "bahdanow" }, "bahdanau", WORDS, WORDS },
    { { "encoder.cell" }, { "gur" }, "gru", WORDS, WORDS },
    { { "attention.kind" }, { "globall" }, "global", WORDS, WORDS },
    { { "attention.score" }, { "additiv" }, "additive", WORDS, WORDS },
    { { "model.bridge" }, { "dence" }, "dense", WORDS, WORDS },
    { { "model.type" }, { "seq2sec" }, "seq2seq", WORDS, WORDS },
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct config cfg;
        struct plan p = plan_make(0, 0, 6);
        p.tied = "none";
        p.output = output_named("full");
        p.layers = 1;
        p.bridge = &bridge_kinds[0];
        p.normalized = p.coverage = false;
        p.self = selves[0];
        make_config(&cfg, &p);
        for (int k = 0; k < 3 && refused[i].key[k]; k++)
            set(&cfg, refused[i].key[k], refused[i].value[k]);
        capture_start();
        struct model *m = model_new(&cfg, refused[i].source, refused[i].target);
        const char *said = capture_stop();
        assert_null(m);
        assert_holds(said, refused[i].word);
        assert_holds(said, refused[i].key[0]);
        config_release(&cfg);
    }
}

int main(void)
{
    gemm_thread_init();
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_four_pairs_differ),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_gradients_of_heads),
        cmocka_unit_test(test_gradients_of_bridges),
        cmocka_unit_test(test_gradients_of_layer_norm),
        cmocka_unit_test(test_gradients_with_dropout),
        cmocka_unit_test(test_draws_estimate_the_gradient),
        cmocka_unit_test(test_steps_are_teacher_forcing),
        cmocka_unit_test(test_batch_has_no_influence),
        cmocka_unit_test(test_hypotheses_have_no_influence),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_weights_through_hops),
        cmocka_unit_test(test_what_is_read),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
