/* Models in files (the container: tensor/npz.h).
 *
 * A model file holds every parameter under its dotted name, and the texts
 * config.yaml, source.vocab, target.vocab, progress.yaml: a translation needs
 * nothing else. A checkpoint of a training run holds further arrays, whose
 * names start with "training/" (moments of the optimiser, the average).
 *
 * A model is stored in one of three precisions, which is that of its matrices
 * NAME; what has one row or one column is float32 always:
 *
 *     fp32   NAME         float32 [rows,cols]
 *     bf16   NAME.bf16    uint16 [rows,cols], the upper halves of float32s;
 *                         in NumPy: (x.astype('<u4') << 16).view('<f4')
 *     int8   NAME.int8    int8 [rows,cols], -127 to 127, and
 *            NAME.scale   float32 [cols], a factor for each column; of
 *                         embeddings [rows], a factor for each row
 *
 * Reading gives float32 parameters in any case. How numbers are rounded:
 * tensor/quantize.h. */
#ifndef ATTN_MODEL_MODEL_FILE_H
#define ATTN_MODEL_MODEL_FILE_H

#include <stddef.h>

#include "config/config.h"
#include "corpus/vocab.h"
#include "tensor/npz.h"
#include "tensor/precision.h"

struct model;
struct params;

/* The texts of a model file; owned. */
struct model_texts {
    char *config, *source_vocab, *target_vocab, *progress;
    size_t config_len, source_vocab_len, target_vocab_len, progress_len;
};

void model_texts_release(struct model_texts *t);

/* What a model file gives. */
struct model_file {
    struct config config;
    struct vocab source, target;
    struct model *model;
    enum precision precision; /* as stored */
    char *progress;           /* progress.yaml, ends in '\0' */
    size_t progress_len;
};

/* Opens and reads everything but a checkpoint's further arrays. With reader
 * not NULL, the open reader is handed over for these, else they are passed
 * over. Search needs model_prepare() then. `threads` as for workers_new(). 0,
 * or -1 after reporting; release in both cases. */
int model_file_read(struct model_file *f, const char *path, int threads,
                    struct npz_reader **reader);
void model_file_release(struct model_file *f);

/* Puts texts, and arrays of the layout of p, each name after `prefix`. */
int model_file_put_texts(struct npz_writer *w, const struct model_texts *t);
int model_file_get_texts(struct npz_reader *r, struct model_texts *t);
int model_file_put_params(struct npz_writer *w, const struct params *p,
                          const char *prefix, const float *values);

/* Puts the parameters rounded to a precision. */
int model_file_put_rounded(struct npz_writer *w, const struct params *p,
                           enum precision precision);

/* Reads those of fp32 back. */
int model_file_get_params(struct npz_reader *r, const struct params *p,
                          const char *prefix, float *values);

#endif
