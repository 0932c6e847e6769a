/* What tests of attention share: queries over a small memory. */
#ifndef ATTN_UNIT_QUERIES_H
#define ATTN_UNIT_QUERIES_H

#include "graph/ops.h"

/* Five queries; two share a sentence, one sentence has one word. */
static const int over_start[] = { 3, 0, 3, 7, 8 };
static const int over_length[] = { 4, 3, 4, 1, 6 };
static const struct ragged over = { over_start, over_length, 6, NULL };

enum { QUERIES = 5, MEMORY = 14, WIDTH = 6 };

#endif
