// A set of points as a bitboard, iterated in index order.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#ifdef __BMI2__
#include <immintrin.h>
#endif

#include "core/types.h"

namespace tengen {

class PointSet {
 public:
  static constexpr int kWords = (kMaxArea + 63) / 64;

  bool has(Point p) const { return (words_[p >> 6] >> (p & 63)) & 1; }
  void add(Point p) { words_[p >> 6] |= 1ull << (p & 63); }
  void remove(Point p) { words_[p >> 6] &= ~(1ull << (p & 63)); }
  void toggle(Point p) { words_[p >> 6] ^= 1ull << (p & 63); }

  bool empty() const {
    std::uint64_t any = 0;
    for (const auto word : words_) any |= word;
    return any == 0;
  }

  int size() const {
    int count = 0;
    for (const auto word : words_) count += std::popcount(word);
    return count;
  }

  // The point with the lowest index; the set must not be empty.
  Point first() const {
    for (int i = 0;; ++i)
      if (words_[i]) return static_cast<Point>(64 * i + std::countr_zero(words_[i]));
  }

  // The point at position `rank` in index order; rank < size().
  Point at(int rank) const {
    for (int i = 0;; ++i) {
      std::uint64_t word = words_[i];
      const int here = std::popcount(word);
      if (rank >= here) {
        rank -= here;
        continue;
      }
#ifdef __BMI2__
      word = _pdep_u64(1ull << rank, word);
#else
      for (; rank > 0; --rank) word &= word - 1;
#endif
      return static_cast<Point>(64 * i + std::countr_zero(word));
    }
  }

  PointSet& operator|=(const PointSet& other) {
    for (int i = 0; i < kWords; ++i) words_[i] |= other.words_[i];
    return *this;
  }
  PointSet& operator&=(const PointSet& other) {
    for (int i = 0; i < kWords; ++i) words_[i] &= other.words_[i];
    return *this;
  }
  PointSet& remove_all(const PointSet& other) {
    for (int i = 0; i < kWords; ++i) words_[i] &= ~other.words_[i];
    return *this;
  }
  friend PointSet operator|(PointSet a, const PointSet& b) { return a |= b; }
  friend PointSet operator&(PointSet a, const PointSet& b) { return a &= b; }
  bool operator==(const PointSet&) const = default;

  template <typename Visit>
  void for_each(Visit visit) const {
    for (int i = 0; i < kWords; ++i)
      for (std::uint64_t word = words_[i]; word; word &= word - 1)
        visit(static_cast<Point>(64 * i + std::countr_zero(word)));
  }

 private:
  std::array<std::uint64_t, kWords> words_{};
};

}  // namespace tengen
