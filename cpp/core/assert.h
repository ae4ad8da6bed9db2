// TENGEN_ASSERT: a condition that holds unless the native code itself has a bug.
//
// Active in builds with the CMake option TENGEN_ASSERTS, which `make test-sanitize` uses. In all other builds the
// condition is compiled but never evaluated, so an assertion may be expensive. Arguments that come from outside are not
// asserted but checked: see core/checked.h.
#pragma once

#ifdef TENGEN_ASSERTS
#include <cstdio>
#include <cstdlib>

namespace tengen {
[[noreturn]] inline void fail_assertion(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
  std::abort();
}
}  // namespace tengen

#define TENGEN_ASSERT(...) \
  ((__VA_ARGS__) ? static_cast<void>(0) : ::tengen::fail_assertion(#__VA_ARGS__, __FILE__, __LINE__))
#else
#define TENGEN_ASSERT(...) static_cast<void>(sizeof((__VA_ARGS__) ? 1 : 0))
#endif
