#include "search/beam.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/profile.h"
#include "corpus/vocab.h"
#include "model/model.h"
#include "search/shortlist.h"
#include "search/topk.h"
#include "tensor/vec.h"

/* A word of a hypothesis; hypotheses share their beginnings. */
struct word {
    int id;
    const struct word *before;
    const float *weights; // [|x|] or NULL
};

/* A row of the batch: a hypothesis that has not ended. */
struct row {
    int sentence;
    double log_probability;
    const struct word *last;
};

struct candidate {
    int row; /* the row it continues */
    int id;
    double log_probability;
};

struct task {
    int length, limit;        /* |x|, and most words put out */
    struct hypothesis *ended; // [K]
    int count;
};

/* Memory: `graph` for what lives one step (behind a mark) and the encoder's
 * output (before it), `state` for the states of two steps in turn, `words` for
 * what lives until the next search. */
struct beam {
    const struct model *model;
    struct graph graph;
    struct arena state[2], words;
    size_t peak;
};

/* One search on its way. */
struct search {
    struct beam *beam;
    const struct beam_config *config;
    struct decoder_memory memory;
    struct task *task;                  // [B]
    const struct columns **listed;      // [B] the words there are; NULL: all
    struct row *row, *next_row;         // [B K]
    int *parent, *ids, *start, *length; // [B K]
    double *log_p;                      // [B K] of the rows, and
    int *sentence;                      // [B K] their sentences
    int rows;
    float *block;                /* maxima of V / VEC_BLOCK blocks */
    struct candidate *candidate; // [K K]
    struct topk_entry *top;      // [K]
};

struct beam *beam_new(const struct model *model)
{
    struct beam *b = xcalloc(1, sizeof(*b));
    b->model = model;
    graph_init(&b->graph);
    return b;
}

void beam_free(struct beam *b)
{
    if (!b)
        return;
    graph_release(&b->graph);
    arena_release(&b->state[0]);
    arena_release(&b->state[1]);
    arena_release(&b->words);
    free(b);
}

void beam_set_profile(struct beam *b, struct profile *profile)
{
    b->graph.profile = profile;
}

size_t beam_peak(const struct beam *b)
{
    return arena_peak(&b->graph.arena) + arena_peak(&b->state[0]) +
           arena_peak(&b->state[1]) + arena_peak(&b->words);
}

static void *words_array(struct search *s, int n, size_t size)
{
    return arena_array(&s->beam->words, (size_t)n, size);
}

static void search_init(struct search *s, struct beam *b,
                        const struct side *source,
                        const struct beam_config *config)
{
    int B = source->sentences, K = config->size;
    *s = (struct search){ .beam = b, .config = config };
    s->task = words_array(s, B, sizeof(*s->task));
    s->row = words_array(s, B * K, sizeof(*s->row));
    s->next_row = words_array(s, B * K, sizeof(*s->next_row));
    s->parent = words_array(s, B * K, sizeof(int));
    s->ids = words_array(s, B * K, sizeof(int));
    s->start = words_array(s, B * K, sizeof(int));
    s->length = words_array(s, B * K, sizeof(int));
    s->log_p = words_array(s, B * K, sizeof(*s->log_p));
    s->sentence = words_array(s, B * K, sizeof(int));
    s->block = words_array(s, b->model->target_size / VEC_BLOCK + 1,
                           sizeof(float));
    s->candidate = words_array(s, K * K, sizeof(*s->candidate));
    s->top = words_array(s, K, sizeof(*s->top));
    for (int i = 0; i < B; i++) {
        int length = source->start[i + 1] - source->start[i];
        s->task[i] = (struct task){
            .length = length,
            .limit = (int)(config->length_factor * (float)length) + 5,
            .ended = words_array(s, K, sizeof(struct hypothesis)),
        };
        s->row[i] = (struct row){ .sentence = i };
        s->ids[i] = BOS;
    }
    s->rows = B;
}

/* The words that each sentence may have. */
static void list_words(struct search *s, const struct side *source)
{
    struct beam *b = s->beam;
    if (!s->config->shortlist)
        return;
    profile_enter(b->graph.profile, "shortlist", PROFILE_FORWARD);
    s->listed = words_array(s, source->sentences, sizeof(*s->listed));
    for (int i = 0; i < source->sentences; i++) {
        const int *ids, *sentence = source->ids + source->start[i];
        int n = shortlist_words(s->config->shortlist, sentence,
                                s->task[i].length, &b->words, &ids);
        s->listed[i] = model_gather(b->model, &b->graph, ids, n);
    }
}

/* Which rows of the memory belong to each hypothesis. */
static struct ragged rows_over(struct search *s)
{
    for (int i = 0; i < s->rows; i++) {
        s->start[i] = s->memory.encoded.start[s->row[i].sentence];
        s->length[i] = s->memory.encoded.length[s->row[i].sentence];
    }
    return (struct ragged){ s->start, s->length, s->memory.encoded.width,
                            NULL };
}

/* log p of an entry of a row of logits, as cross_entropy() computes it */
static double entry_log(float logit, float top, double log_sum)
{
    return (double)(float)((double)(logit - top) - log_sum);
}

/* Adds the K best continuations of a row to the candidates. */
static int expand(struct search *s, int r, const struct model_step *out,
                  int candidates)
{
    const struct columns *list = s->listed ? s->listed[s->row[r].sentence]
                                           : NULL;
    int V = list ? list->size : s->beam->model->target_size;
    float *logits = node_row(out->logits, r);
    float top = vec_block_max(s->block, logits, V);
    double log_sum = 0;
    if (out->normalised)
        top = 0;
    else
        log_sum = log((double)vec_exp_total(logits, top, V));
    logits[BOS] = -INFINITY;
    if (!s->config->allow_unk)
        logits[UNK] = -INFINITY;
    int found = topk(s->top, s->config->size, logits, s->block, V);
    for (int k = 0; k < found && isfinite(s->top[k].value); k++)
        s->candidate[candidates++] = (struct candidate){
            .row = r,
            .id = list ? list->index[s->top[k].index] : s->top[k].index,
            .log_probability = s->row[r].log_probability +
                               entry_log(s->top[k].value, top, log_sum),
        };
    return candidates;
}

/* Best first; ties by row, then by word, so that the order is one. */
static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->log_probability != y->log_probability)
        return x->log_probability > y->log_probability ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static const struct word *new_word(struct search *s, const struct candidate *c,
                                   const struct node *weights)
{
    struct word *w = words_array(s, 1, sizeof(*w));
    *w = (struct word){ .id = c->id, .before = s->row[c->row].last };
    if (s->config->weights && weights) {
        int S = s->task[s->row[c->row].sentence].length;
        float *copy = words_array(s, S, sizeof(*copy));
        vec_copy(copy, node_row(weights, c->row), (size_t)S);
        w->weights = copy;
    }
    return w;
}

/* Unrolls the words of a hypothesis into arrays. */
static void end_hypothesis(struct search *s, struct task *task,
                           const struct word *last, double log_probability)
{
    int words = 0;
    for (const struct word *w = last; w; w = w->before)
        words++;
    bool ended = last->id == EOS, weights = last->weights != NULL;
    int *ids = words_array(s, words, sizeof(*ids));
    const float **rows = weights ? words_array(s, words, sizeof(*rows)) : NULL;
    int i = words;
    for (const struct word *w = last; w; w = w->before) {
        ids[--i] = w->id;
        if (weights)
            rows[i] = w->weights;
    }
    task->ended[task->count++] = (struct hypothesis){
        .ids = ids,
        .len = words - ended,
        .ended = ended,
        .log_probability = log_probability,
        .score = log_probability / pow(words, (double)s->config->normalize),
        .weights = rows,
    };
}

/* Continues one sentence, rows first … last - 1, with its best candidates. */
static int choose(struct search *s, int first, int last, int step,
                  const struct model_step *out, int next)
{
    struct task *task = &s->task[s->row[first].sentence];
    int candidates = 0;
    for (int r = first; r < last; r++)
        candidates = expand(s, r, out, candidates);
    if (candidates == 0) /* weights that give no numbers: end here */
        s->candidate[candidates++] = (struct candidate){
            first, EOS, s->row[first].log_probability
        };
    qsort(s->candidate, (size_t)candidates, sizeof(*s->candidate),
          compare_candidates);
    int room = s->config->size - task->count;
    for (int i = 0; i < candidates && i < room; i++) {
        const struct candidate *c = &s->candidate[i];
        const struct word *w = new_word(s, c, out->weights);
        if (c->id == EOS || step + 1 >= task->limit) {
            end_hypothesis(s, task, w, c->log_probability);
            continue;
        }
        s->next_row[next] = (struct row){ s->row[c->row].sentence,
                                          c->log_probability, w };
        s->ids[next] = c->id;
        s->parent[next] = c->row;
        next++;
    }
    return next;
}

/* The rows of the next step; s->parent says where each comes from. */
static int advance(struct search *s, int step, const struct model_step *out)
{
    int next = 0;
    for (int first = 0, last; first < s->rows; first = last) {
        last = first + 1;
        while (last < s->rows &&
               s->row[last].sentence == s->row[first].sentence)
            last++;
        next = choose(s, first, last, step, out, next);
    }
    struct row *swap = s->row;
    s->row = s->next_row;
    s->next_row = swap;
    return next;
}

/* Copies the parents' states out of the graph. */
static void keep_states(struct search *s, const struct decoder_state *after,
                        int rows, struct arena *arena,
                        struct decoder_state *kept)
{
    arena_reset(arena);
    memset(kept, 0, sizeof(*kept));
    for (int i = 0; i < DECODER_STATES; i++) {
        const struct node *from = after->part[i];
        if (!from)
            continue;
        struct node *to = arena_alloc(arena, sizeof(*to));
        memset(to, 0, sizeof(*to));
        to->rows = rows;
        to->cols = from->cols;
        to->value = arena_array(arena, node_size(to), sizeof(float));
        for (int r = 0; r < rows; r++)
            vec_copy(node_row(to, r), node_row(from, s->parent[r]),
                     (size_t)from->cols);
        kept->part[i] = to;
    }
}

/* No more is asked of the words than search will take. */
static void request_best(struct search *s)
{
    for (int i = 0; i < s->rows; i++) {
        s->log_p[i] = s->row[i].log_probability;
        s->sentence[i] = s->row[i].sentence;
    }
    s->memory.request = (struct output_request){ .best = s->config->size,
                                                 .log_p = s->log_p,
                                                 .sentence = s->sentence,
                                                 .words = s->listed };
}

static void search_run(struct search *s, struct decoder_state *state)
{
    struct beam *b = s->beam;
    struct arena_mark mark = graph_mark(&b->graph);
    for (int step = 0; s->rows > 0; step++) {
        struct ragged over = rows_over(s);
        struct model_step out;
        request_best(s);
        model_step(b->model, &b->graph, &s->memory, &over, s->ids, s->rows,
                   state, &out);
        profile_enter(b->graph.profile, "choose words", PROFILE_FORWARD);
        s->rows = advance(s, step, &out);
        profile_enter(b->graph.profile, "keep states", PROFILE_FORWARD);
        keep_states(s, &out.after, s->rows, &b->state[step % 2], state);
        graph_rewind(&b->graph, mark);
    }
}

static int compare_hypotheses(const void *a, const void *b)
{
    const struct hypothesis *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    return x->len ? memcmp(x->ids, y->ids, (size_t)x->len * sizeof(*x->ids))
                  : 0;
}

void beam_search(struct beam *b, const struct side *source,
                 const struct beam_config *config, struct beam_result *results)
{
    struct search s;
    struct decoder_state state;
    graph_reset(&b->graph);
    arena_reset(&b->words);
    model_bind(b->model, NULL, &b->graph);
    search_init(&s, b, source, config);
    list_words(&s, source);
    model_encode(b->model, &b->graph, source, &s.memory);
    struct ragged over = rows_over(&s);
    model_begin(b->model, &b->graph, &s.memory, &over, &state);
    search_run(&s, &state);
    for (int i = 0; i < source->sentences; i++) {
        struct task *task = &s.task[i];
        assert(task->count > 0);
        qsort(task->ended, (size_t)task->count, sizeof(*task->ended),
              compare_hypotheses);
        results[i] = (struct beam_result){ task->ended, task->count };
    }
}
