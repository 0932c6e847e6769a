#include "base/process.h"

#include <sys/resource.h>

/* ru_maxrss counts these. */
#ifdef __APPLE__
#define PEAK_UNIT 1.0
#else
#define PEAK_UNIT 1024.0
#endif

double process_peak(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * PEAK_UNIT / (1 << 20);
}
