/* Section translation: a whole text, in batches. */
#include "cli/bench.h"

#include "cli/bench_report.h"
#include "cli/bench_searches.h"

static int run(struct bench *b)
{
    static const struct searches_config config = { .what = "translation",
                                                   .batch = BENCH_BATCH };
    if (!bench_model(b))
        return -1;
    bench_report_line(b->report,
                      "\nTranslation of %s in batches of %d; output words "
                      "with </s>:",
                      b->set.test, BENCH_BATCH);
    return searches_measure(b, &config);
}

const struct bench_section section_translation = { .name = "translation",
                                                   .translates = true,
                                                   .run = run };
