/* Section single: one sentence at a time, as in a dialogue. */
#include "cli/bench.h"

#include "cli/bench_report.h"
#include "cli/bench_searches.h"

static int run(struct bench *b)
{
    struct searches_config config = { .what = "single",
                                      .batch = 1,
                                      .sentences = b->set.sentences,
                                      .threads = 1 };
    if (!bench_model(b))
        return -1;
    bench_report_line(b->report,
                      "\nTranslation of the first %d sentences of %s, one at "
                      "a time:",
                      b->set.sentences, b->set.test);
    return searches_measure(b, &config);
}

const struct bench_section section_single = { .name = "single",
                                              .translates = true,
                                              .run = run };
