// The lines of a board: for each point and direction, the line through the point and its offset in that line.
#pragma once

#include <array>
#include <cstdint>

#include "core/types.h"

namespace tengen {

// A line is one 64-bit word with two bits per cell (see Cell) and kLinePad cells of wall before its first point. A line
// has at most 22 points, so that 22 + 2 * 5 cells fill the word. With five cells of wall on both sides, one shift
// extracts any window of +-5 cells around a point.
inline constexpr int kLinePad = 5;
inline constexpr int kMaxLines = 2 * kMaxSize - 1;

struct LinePlace {
  std::uint8_t line;    // number among the lines in this direction
  std::uint8_t offset;  // cell in the word, including the padding: 5 for the first point of the line
};

class Geometry {
 public:
  Geometry(int width, int height);

  // The shared instance for a board size. It exists until the program ends.
  static const Geometry& of(int width, int height);

  int width() const { return width_; }
  int height() const { return height_; }
  int area() const { return width_ * height_; }
  int x(Point point) const { return x_[point]; }
  int y(Point point) const { return y_[point]; }
  Point point(int x, int y) const { return static_cast<Point>(y * width_ + x); }
  bool contains(int x, int y) const { return x >= 0 && x < width_ && y >= 0 && y < height_; }
  LinePlace place(int direction, Point point) const { return places_[direction][point]; }

  // Difference between the indices of neighbours along a direction.
  int step(int direction) const { return kStepY[direction] * width_ + kStepX[direction]; }
  int line_count(int direction) const { return line_count_[direction]; }
  std::uint64_t empty_line(int direction, int line) const { return empty_[direction][line]; }

  // The point at a given cell of a line; the inverse of place().
  Point point_on_line(int direction, int line, int offset) const {
    return static_cast<Point>(first_[direction][line] + (offset - kLinePad) * step(direction));
  }

 private:
  int width_;
  int height_;
  std::array<std::array<LinePlace, kMaxArea>, kDirections> places_{};
  std::array<std::array<std::uint64_t, kMaxLines>, kDirections> empty_{};
  std::array<std::array<Point, kMaxLines>, kDirections> first_{};  // the point at offset kLinePad of each line
  std::array<int, kDirections> line_count_{};
  std::array<std::uint8_t, kMaxArea> x_{};
  std::array<std::uint8_t, kMaxArea> y_{};
};

}  // namespace tengen
