// Random numbers for play: small, fast, and the same on every machine.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/zobrist.h"

namespace tengen {

// xoshiro256** (Blackman and Vigna 2018), seeded by SplitMix64. Any seed is valid, including 0.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) {
    for (auto& word : state_) word = split_mix(seed);
  }

  // A generator made from the state of another one continues its sequence.
  using State = std::array<std::uint64_t, 4>;
  explicit Rng(const State& state) : state_(state) {}
  const State& state() const { return state_; }

  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform over 0 … n - 1 without bias (Lemire 2019); n > 0.
  std::uint32_t below(std::uint32_t n) {
    std::uint64_t product = (next() >> 32) * n;
    if (static_cast<std::uint32_t>(product) < n) {
      const std::uint32_t threshold = (0u - n) % n;
      while (static_cast<std::uint32_t>(product) < threshold) product = (next() >> 32) * n;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

  // Uniform over [0, 1), with 53 random bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  State state_;
};

}  // namespace tengen
