/* The precision that a model computes in: --precision of the programs. */
#ifndef ATTN_CLI_COMPUTING_H
#define ATTN_CLI_COMPUTING_H

struct model_file;

/* Prepares the model for search in the precision of this name; NULL: in that
 * of its configuration. 0, or -1 after reporting: there is no such name, or this
 * machine has no such products. */
int computing_prepare(struct model_file *f, const char *name);

#endif
