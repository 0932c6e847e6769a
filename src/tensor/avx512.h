/* What the files on panels share (tensor/panel.h): vectors of 16 cells.
 *
 * All of it carries one target, also what multiplies float32 on processors
 * without bf16: the compiler writes instructions of bf16 only where they are
 * asked for by name. */
#ifndef ATTN_TENSOR_AVX512_H
#define ATTN_TENSOR_AVX512_H

#include <immintrin.h>

#define AVX512_TARGET target("avx512f,avx512bw,avx512vl,avx512bf16")
#define AVX512 __attribute__((AVX512_TARGET))
#define AVX512_INLINE \
    static inline __attribute__((always_inline, unused, AVX512_TARGET))
#define UNROLL _Pragma("GCC unroll 16")

enum { WIDTH = 16 };

/* Rounded up to whole vectors. */
static inline int padded(int cols)
{
    return (cols + WIDTH - 1) / WIDTH * WIDTH;
}

/* The first n lanes: none, some, or all. */
static inline __mmask16 lanes_within(int n)
{
    return n >= WIDTH ? 0xffff : n <= 0 ? 0 : (__mmask16)((1 << n) - 1);
}

#endif
