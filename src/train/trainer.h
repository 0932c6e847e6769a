/* Training, from the configuration to the last checkpoint.
 *
 *     corpus -> ids -> batch -> loss -> gradients -> clip -> optimiser ->
 *     validate -> checkpoint
 *
 * The folder model.path gets checkpoint.npz (to go on from), best.npz (to
 * translate with: the weights, or their average, that did best in validation;
 * without validation text the last ones) and log.tsv. Where checkpoint.npz of
 * the same run is there, training goes on from it, and ends in the same bytes
 * as if it had never been stopped. */
#ifndef ATTN_TRAIN_TRAINER_H
#define ATTN_TRAIN_TRAINER_H

#include <signal.h>
#include <stdbool.h>

struct config;

struct trainer_options {
    bool restart; /* do not go on from a checkpoint */
    bool profile; /* print where the time went to stderr */

    /* Set by signal handlers; the update at hand is finished, all is saved,
     * and training ends. */
    const volatile sig_atomic_t *stop;
};

/* 0 when training has ended, 1 when it was told to stop; -1 after reporting. */
int trainer_run(const struct config *cfg,
                const struct trainer_options *options);

#endif
