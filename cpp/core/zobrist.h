// Zobrist hashing: one random word for each colour and point, the same on every machine.
#pragma once

#include <array>
#include <cstdint>

#include "core/types.h"

namespace tengen {

// SplitMix64 (Steele, Lea, Flood 2014): a mixer with full period that turns a counter into random words.
inline constexpr std::uint64_t split_mix(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15ull;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

struct Zobrist {
  std::array<std::array<std::uint64_t, kMaxArea>, 2> stone{};
  std::uint64_t white_to_move = 0;

  constexpr Zobrist() {
    std::uint64_t state = 0x74656E67656Eull;  // "tengen"
    for (auto& colour : stone)
      for (auto& key : colour) key = split_mix(state);
    white_to_move = split_mix(state);
  }
};

inline constexpr Zobrist kZobrist{};

}  // namespace tengen
