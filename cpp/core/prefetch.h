// A hint to the processor that an address will be accessed soon.
#pragma once

namespace tengen {

inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
  asm volatile("");  // otherwise GCC removes calls to functions that only prefetch, since they have no effect
#endif
}

}  // namespace tengen
