// The symmetries of a board, numbered as in tengen.core.symmetry. Bit 0 swaps left and right, bit 1 swaps top and
// bottom, and then bit 2 swaps columns and rows (square boards only). 0 is the identity.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "core/types.h"

namespace tengen {

inline constexpr int kMaxSymmetries = 8;

class Symmetries {
 public:
  Symmetries(int width, int height) : count_(width == height ? 8 : 4) {
    for (int s = 0; s < count_; ++s) {
      tables_[s].reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          int to_x = s & 1 ? width - 1 - x : x;
          int to_y = s & 2 ? height - 1 - y : y;
          if (s & 4) std::swap(to_x, to_y);
          tables_[s].push_back(static_cast<Point>(to_y * width + to_x));
        }
    }
  }

  int count() const { return count_; }
  // [area]: entry p is the image of point p.
  const Point* table(int symmetry) const { return tables_[symmetry].data(); }

 private:
  int count_;
  std::array<std::vector<Point>, kMaxSymmetries> tables_;
};

}  // namespace tengen
