/* Saves, and training goes on while the files come to the disk.
 *
 * What is to be saved goes to the system at once, so that no copy of it is
 * needed: training waits as long as the system takes to take it in. Checking
 * the file, waiting for the disk and the last step, its name, are left to
 * another thread. One save is on its way at a time; the next waits for it. A
 * file appears whole or not at all (tensor/npz.h). */
#ifndef ATTN_TRAIN_SAVER_H
#define ATTN_TRAIN_SAVER_H

#include <stdbool.h>

#include "model/model_file.h"

struct saver;

/* A block of the layout of the parameters, under "PREFIXname" in the file. */
struct saver_block {
    char prefix[64];
    const float *values;
};

enum { SAVER_BLOCKS = 4 };

/* A file to be written. The texts are taken over. */
struct saver_file {
    char *path; /* taken over */
    struct model_texts texts;
    struct saver_block block[SAVER_BLOCKS];
    int blocks;
};

/* The parameters' names and shapes are borrowed. */
struct saver *saver_new(const struct params *params);

/* Starts saving; 0, or -1 when this or the save before failed, which has been
 * reported. */
int saver_start(struct saver *s, struct saver_file *file);

/* Waits until all is on disk. The same. */
int saver_wait(struct saver *s);
void saver_free(struct saver *s);

#endif
