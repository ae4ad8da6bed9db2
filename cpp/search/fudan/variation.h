// A line of play of bounded length.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>

#include "core/types.h"

namespace tengen::fudan {

// Maximum depth in plies for all searches in this folder.
inline constexpr int kMaxPlies = 40;

class Variation {
 public:
  Variation() = default;
  Variation(std::initializer_list<Point> moves) : size_(static_cast<int>(moves.size())) {
    std::copy(moves.begin(), moves.end(), moves_.begin());
  }
  Variation(Point first, const Variation& rest) {
    moves_[0] = first;
    size_ = 1 + std::min(rest.size_, kMaxPlies - 1);
    std::copy_n(rest.moves_.begin(), size_ - 1, moves_.begin() + 1);
  }

  const Point* begin() const { return moves_.data(); }
  const Point* end() const { return moves_.data() + size_; }

 private:
  std::array<Point, kMaxPlies> moves_;
  int size_ = 0;
};

}  // namespace tengen::fudan
