/* Matrix products: right to the last place that float32 can give, and, for
 * translation, with bits of a row that do not depend on its neighbours. */
#include "tensor/gemm.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "numbers.h"

/* --- against double precision ------------------------------------------- */

typedef void gemm_fn(int m, int n, int k, const float *x, const float *w,
                     bool add, float *y);

struct form {
    const char *name;
    gemm_fn *gemm;
    bool turned_x, turned_w;
};

static const struct form forms[] = {
    { "gemm_nn", gemm_nn, false, false },
    { "gemm_nt", gemm_nt, false, true },
    { "gemm_tn", gemm_tn, true, false },
    { "gemm_rows", gemm_rows, false, false },
};

enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

/* Element (i, j) of the product, and the sum of absolute terms. */
static double exact(const struct form *f, int m, int n, int k, const float *x,
                    const float *w, int i, int j, double *size)
{
    double sum = 0;
    *size = 0;
    for (int p = 0; p < k; p++) {
        double a = (double)(f->turned_x ? x[(size_t)p * m + i]
                                        : x[(size_t)i * k + p]);
        double b = (double)(f->turned_w ? w[(size_t)j * k + p]
                                        : w[(size_t)p * n + j]);
        sum += a * b;
        *size += fabs(a * b);
    }
    return sum;
}

static void check_element(const struct form *f, int m, int n, int k, int at,
                          double expected, double size, float got)
{
    double bound = (2 + sqrt((double)k)) * 1.2e-7 * size;
    if (!(fabs((double)got - expected) <= bound))
        fail_msg("%s %dx%dx%d: element %d is %.9g, not %.9g", f->name, m, n, k,
                 at, (double)got, expected);
}

static void check_product(const struct form *f, int m, int n, int k, bool add)
{
    enum { GUARD = 20 };
    size_t out = (size_t)m * n;
    float *x = numbers_new((size_t)m * k, 1.0f, 1);
    float *w = numbers_new((size_t)k * n, 1.0f, 2);
    float *before = numbers_new(out + GUARD, 1.0f, 3);
    float *y = numbers_new(out + GUARD, 1.0f, 3);
    for (size_t i = 0; i < out && !add; i++)
        y[i] = NAN; /* fresh memory may hold anything */
    f->gemm(m, n, k, x, w, add, y);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            size_t at = (size_t)i * n + j;
            double size, sum = exact(f, m, n, k, x, w, i, j, &size);
            double start = add ? (double)before[at] : 0;
            check_element(f, m, n, k, (int)at, start + sum, fabs(start) + size,
                          y[at]);
        }
    assert_true(same_bits(y + out, before + out, GUARD));
    free(x);
    free(w);
    free(before);
    free(y);
}

static const struct {
    int m, n, k;
} shapes[] = {
    { 1, 1, 1 },    { 1, 1, 9 },     { 1, 7, 1 },     { 5, 1, 1 },
    { 1, 40, 30 },  { 2, 3, 4 },     { 3, 2, 65 },    { 4, 4, 4 },
    { 7, 5, 3 },    { 8, 16, 32 },   { 13, 17, 19 },  { 15, 31, 63 },
    { 64, 48, 16 }, { 65, 47, 33 },  { 100, 1, 50 },  { 1, 129, 257 },
    { 50, 60, 1 },  { 61, 96, 128 }, { 130, 33, 20 }, { 33, 20, 700 },
};

static void test_products(void **state)
{
    (void)state;
    for (int f = 0; f < FORMS; f++)
        for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
            for (int add = 0; add < 2; add++)
                check_product(&forms[f], shapes[s].m, shapes[s].n, shapes[s].k,
                              add);
}

static void test_random_shapes(void **state)
{
    (void)state;
    for (uint64_t s = 0; s < 120; s++)
        check_product(&forms[s % FORMS], 1 + numbers_pick(40, s, 0),
                      1 + numbers_pick(70, s, 1), 1 + numbers_pick(90, s, 2),
                      numbers_pick(2, s, 3));
}

static void test_no_rows(void **state)
{
    (void)state;
    float x = 1, w = 1, y = 5;
    for (int f = 0; f < FORMS; f++)
        forms[f].gemm(0, 1, 1, &x, &w, false, &y);
    assert_true(y == 5);
}

/* --- rows that do not know their neighbours ------------------------------ */

enum { MOST = 200 };

struct rows {
    int n, k;
    float *x, *w;  // [MOST,k] [k,n]
    float *before; // [MOST,n]
    float *alone;  // [MOST,n] each row multiplied by itself
    float *y;
};

static void rows_make(struct rows *r, int n, int k, bool add)
{
    *r = (struct rows){
        .n = n,
        .k = k,
        .x = numbers_new((size_t)MOST * k, 1.0f, 1),
        .w = numbers_new((size_t)n * k, 1.0f, 2),
        .before = numbers_new((size_t)MOST * n, 1.0f, 3),
        .alone = numbers_new((size_t)MOST * n, 1.0f, 3),
        .y = numbers_new((size_t)MOST * n + 1, 1.0f, 4),
    };
    for (int i = 0; i < MOST; i++)
        gemm_rows(1, n, k, r->x + (size_t)i * k, r->w, add,
                  r->alone + (size_t)i * n);
}

static void rows_release(struct rows *r)
{
    free(r->x);
    free(r->w);
    free(r->before);
    free(r->alone);
    free(r->y);
}

/* Rows first … first + m - 1 together: the same bits as each alone? */
static bool together(const struct rows *r, int m, int first, bool add)
{
    size_t from = (size_t)first * r->n, floats = (size_t)m * r->n;
    float *y = r->y + m % 2; /* at an odd place, too */
    memcpy(y, r->before + from, floats * sizeof(*y));
    gemm_rows(m, r->n, r->k, r->x + (size_t)first * r->k, r->w, add, y);
    return same_bits(y, r->alone + from, floats);
}

/* Every number of rows, for a large matrix some of them; each at a place of
 * its own. Returns the number of rows which failed, or 0. */
static int unstable_rows(int n, int k, bool add)
{
    struct rows r;
    rows_make(&r, n, k, add);
    int step = (long)n * k > 40000 ? 37 : 1, bad = 0;
    for (int m = 1; m <= MOST && !bad; m += m < 14 ? 1 : step)
        if (!together(&r, m, (m * 7) % (MOST + 1 - m), add))
            bad = m;
    rows_release(&r);
    return bad;
}

static const struct {
    int n, k;
} weights[] = {
    { 1, 1 },     { 37, 19 },   { 1, 512 },  { 512, 1 },    { 7, 3 },
    { 17, 33 },   { 64, 64 },   { 3, 700 },  { 100, 1000 }, { 65, 129 },
    { 192, 48 },  { 30, 24 },   { 24, 256 }, { 1536, 512 }, { 512, 1024 },
    { 1537, 99 }, { 2048, 31 }, { 13, 8 },   { 8000, 512 },
};

enum { WEIGHTS = sizeof(weights) / sizeof(weights[0]) };

static void test_rows(void **state)
{
    (void)state;
    for (int s = 0; s < WEIGHTS; s++)
        for (int add = 0; add < 2; add++) {
            int n = weights[s].n, k = weights[s].k;
            int bad = (long)n * k > 2000000 && add ? 0
                                                   : unstable_rows(n, k, add);
            if (bad)
                fail_msg("%d rows times [%d,%d]: some row has other bits "
                         "than alone",
                         bad, k, n);
        }
}

#ifdef ATTN_ONEDNN

/* What the library does on older processors, in a child of its own: it chooses
 * its kernels once. */
static int unstable_shape(const char *instructions)
{
    setenv("DNNL_MAX_CPU_ISA", instructions, 1);
    gemm_thread_init();
    for (int s = 0; s < WEIGHTS; s++)
        if ((long)weights[s].n * weights[s].k <= 20000 &&
            unstable_rows(weights[s].n, weights[s].k, true))
            return s + 1;
    return 0;
}

static void test_rows_on_other_processors(void **state)
{
    (void)state;
    static const char *const sets[] = { "SSE41", "AVX", "AVX2", "AVX512_CORE" };
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(unstable_shape(sets[i]));
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        int s = WEXITSTATUS(status) - 1;
        if (s >= 0)
            fail_msg("%s: rows times [%d,%d] depend on their neighbours",
                     sets[i], weights[s].k, weights[s].n);
    }
}

#else

static void test_rows_on_other_processors(void **state)
{
    (void)state; /* there is one only */
}

#endif

static void test_library_is_named(void **state)
{
    (void)state;
    assert_true(strlen(gemm_library()) > 3);
}

static int set_up(void **state)
{
    (void)state;
    gemm_thread_init();
    return 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_on_other_processors), /* first: it forks */
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_library_is_named),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
