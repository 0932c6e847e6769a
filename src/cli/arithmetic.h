/* The arithmetic of the model that attn-bench trains: the embedding E, a
 * bidirectional GRU encoder of H units a direction, a GRU decoder of H units in
 * the style `bahdanau`, additive attention of size H, a readout of size E. */
#ifndef ATTN_CLI_ARITHMETIC_H
#define ATTN_CLI_ARITHMETIC_H

struct arithmetic_model {
    int embedding, hidden; /* E, H */
    int vocabulary;        /* V, of the target */
};

/* What it is done for; tokens are real ones, </s> included. */
struct arithmetic_tokens {
    double source, target;
    double met; /* pairs of a source and a target token in one sentence pair */
};

/* Multiply-adds of the products, forward, each of them once. */
double arithmetic_forward(const struct arithmetic_model *m,
                          const struct arithmetic_tokens *n);

/* Floating-point operations of a training step: a multiply-add is two, and
 * the backward pass costs two forward ones. */
double arithmetic_training(const struct arithmetic_model *m,
                           const struct arithmetic_tokens *n);

/* How many rows the products of a step have: the sentences of the encoder,
 * those or hypotheses of the decoder; and how many those have that need no
 * step: source and target tokens at once. */
struct arithmetic_rows {
    double encoder, decoder, source, target;
};

/* Bytes of the products, forward, where each reads its operands and writes its
 * result once, in float32: for a roofline (Williams, Waterman and Patterson
 * 2009). Backward moves twice as many, as it computes twice as much. */
double arithmetic_bytes(const struct arithmetic_model *m,
                        const struct arithmetic_tokens *n,
                        const struct arithmetic_rows *rows);

#endif
