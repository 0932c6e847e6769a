/* The process itself. */
#ifndef ATTN_BASE_PROCESS_H
#define ATTN_BASE_PROCESS_H

/* The most memory the process has had at once, so far, in MiB. */
double process_peak(void);

#endif
