// Hot loops compiled twice: for machines with AVX2 and for all others; the right one is chosen when the program starts.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__AVX2__)
#define TENGEN_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define TENGEN_CLONES
#endif
