/* Results on stdout.
 *
 * stdout may be full, closed or a broken disk, which stdio tells only when
 * asked. Every program asks once, at the end. */
#ifndef ATTN_BASE_OUTPUT_H
#define ATTN_BASE_OUTPUT_H

/* Flushes and closes stdout. 0, or -1 after reporting that not everything
 * arrived. */
int output_finish(void);

#endif
