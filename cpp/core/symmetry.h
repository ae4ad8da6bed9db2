// The symmetries of a board, numbered as in tengen.core.symmetry: bit 0 mirrors left and right, bit 1 up and down, bit
// 2 then exchanges columns and rows (square boards only). 0 is the identity.
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
      tables_[s].resize(static_cast<std::size_t>(width * height));
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          int to_x = s & 1 ? width - 1 - x : x;
          int to_y = s & 2 ? height - 1 - y : y;
          if (s & 4) std::swap(to_x, to_y);
          tables_[s][static_cast<std::size_t>(y * width + x)] = static_cast<Point>(to_y * width + to_x);
        }
    }
  }

  int count() const { return count_; }
  // [area]: entry p is the point that p goes to.
  const Point* table(int symmetry) const { return tables_[symmetry].data(); }

 private:
  int count_;
  std::array<std::vector<Point>, kMaxSymmetries> tables_;
};

}  // namespace tengen
