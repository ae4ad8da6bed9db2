// TENGEN_CPU_DISPATCH: compile a hot function twice, for AVX2 and for baseline x86-64. The loader selects the version
// at program start. Sanitizers are not initialised at that time and would crash, so sanitizer builds do not use
// dispatch.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__AVX2__)
#define TENGEN_CPU_DISPATCH __attribute__((target_clones("avx2", "default")))
#else
#define TENGEN_CPU_DISPATCH
#endif
