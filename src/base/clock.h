/* Time. */
#ifndef ATTN_BASE_CLOCK_H
#define ATTN_BASE_CLOCK_H

/* Seconds since some moment; never runs backwards. */
double clock_seconds(void);

#endif
