/* Signals while matrices are multiplied. */
#include "base/signals.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "numbers.h"
#include "tensor/gemm.h"

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
    (void)number;
    alarms++;
}

static void alarm_every(int microseconds)
{
    struct itimerval timer = { { 0, microseconds }, { 0, microseconds } };
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Signals hurt no product, and not the heap around it. */
static void test_signals(void **state)
{
    (void)state;
    enum { ROWS = 60, WIDTH = 24, DEPTH = 96, SIZE = ROWS * WIDTH };
    float *x = ARRAY_ALLOC(x, ROWS * DEPTH), *w = ARRAY_ALLOC(w, WIDTH * DEPTH);
    float *first = ARRAY_ALLOC(first, SIZE);
    gemm_thread_init();
    numbers_fill(x, ROWS * DEPTH, 1, 1);
    numbers_fill(w, WIDTH * DEPTH, 1, 2);
    gemm_nn(ROWS, WIDTH, DEPTH, x, w, false, first);
    signals_catch(SIGALRM, on_alarm, false);
    alarm_every(100);
    for (int i = 0; i < 60000; i++) {
        float *y = ARRAY_ALLOC(y, SIZE + 4 * (i % 13));
        gemm_nn(ROWS, WIDTH, DEPTH, x, w, false, y);
        assert_memory_equal(y, first, SIZE * sizeof(*first));
        free(y);
    }
    alarm_every(0);
    assert_true(alarms > 10);
    free(first);
    free(w);
    free(x);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
