#include "core/geometry.h"

#include <memory>
#include <mutex>

namespace tengen {

Geometry::Geometry(int width, int height) : width_(width), height_(height) {
  line_count_ = {height, width, width + height - 1, width + height - 1};
  for (auto& direction : empty_) direction.fill(~0ull);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const Point p = point(x, y);
      x_[p] = static_cast<std::uint8_t>(x);
      y_[p] = static_cast<std::uint8_t>(y);
      // Diagonals are numbered by x - y and x + y. An offset is the distance from the first point of the line.
      const int rising = x - y + height - 1;
      const int falling = x + y;
      const int lines[kDirections] = {y, x, rising, falling};
      const int offsets[kDirections] = {x, y, x < y ? x : y, x < height - 1 - y ? x : height - 1 - y};
      for (int d = 0; d < kDirections; ++d) {
        const int offset = offsets[d] + kLinePad;
        places_[d][p] = {static_cast<std::uint8_t>(lines[d]), static_cast<std::uint8_t>(offset)};
        empty_[d][lines[d]] &= ~(3ull << (2 * offset));
        if (offset == kLinePad) first_[d][lines[d]] = p;
      }
    }
  }
}

const Geometry& Geometry::of(int width, int height) {
  static std::mutex mutex;
  static std::unique_ptr<Geometry> cache[kMaxSize + 1][kMaxSize + 1];
  const std::lock_guard lock(mutex);
  auto& entry = cache[width][height];
  if (!entry) entry = std::make_unique<Geometry>(width, height);
  return *entry;
}

}  // namespace tengen
