#include "patterns/stone_shapes.h"

#include <algorithm>
#include <bit>

namespace tengen {
namespace {

// For each length of the middle row: the longest outer row that is distinguished, and the number of the first shape.
struct Family {
  int longest_outer;
  int first_shape;
};
constexpr Family kFamilies[] = {{}, {3, 0}, {3, 36}, {2, 72}, {0, 93}, {0, 96}, {0, 99}};
constexpr int kLongestRow = 6;

// Number that describes one side of a row: the length of the outer row and whether the side is blocked. `next` is the
// cell after the row, `outer` the length of the row after that cell, `behind` the cell after the outer row.
int side_of(const Family& family, bool is_next_empty, int outer, bool is_behind_empty) {
  if (!is_next_empty) return 1;
  if (outer == 0 || family.longest_outer == 0) return 0;
  return 2 * std::min(outer, family.longest_outer) + !is_behind_empty;
}

int shape_of(int length, int side, int other_side) {
  if (length >= kLongestRow) return kFamilies[kLongestRow].first_shape;
  const auto [low, high] = std::minmax(side, other_side);
  return kFamilies[length].first_shape + high * (high + 1) / 2 + low;
}

// Add the stones of a line to the counts, or subtract them if `sign` is -1.
void count_line(std::uint64_t line, int sign, StoneShapeCounts& counts) {
  for (const Colour colour : {kBlack, kWhite}) {
    const std::uint64_t own = stones_in_line(line, colour);
    for (std::uint64_t left = own; left;) {
      const int first = std::countr_zero(left) / 2;
      const int length = std::countr_one(left >> (2 * first)) / 2;
      const int end = first + length;
      left &= ~0ull << (2 * end);
      const Family& family = kFamilies[std::min(length, kLongestRow)];
      // The walls before and after a line are five cells wide, so no cell below is outside the word.
      const bool is_below_empty = cell_in_line(line, first - 1) == kEmpty;
      const int below = is_below_empty ? std::countl_one(own << (64 - 2 * (first - 1))) / 2 : 0;
      const bool is_above_empty = cell_in_line(line, end) == kEmpty;
      const int above = is_above_empty ? std::countr_one(own >> (2 * (end + 1))) / 2 : 0;
      const int low = side_of(family, is_below_empty, below, cell_in_line(line, first - 2 - below) == kEmpty);
      const int high = side_of(family, is_above_empty, above, cell_in_line(line, end + 1 + above) == kEmpty);
      auto& count = counts[colour][shape_of(length, low, high)];
      count = static_cast<std::int16_t>(count + sign * length);
    }
  }
}

void count_lines(const Board& board, Point point, int sign, StoneShapeCounts& counts) {
  for (int d = 0; d < kDirections; ++d) count_line(board.line_at(d, point), sign, counts);
}

}  // namespace

StoneShapeBoard::StoneShapeBoard(const Board& board) : board_(board), first_changes_{0} {
  const Geometry& geometry = board.geometry();
  for (int d = 0; d < kDirections; ++d)
    for (int line = 0; line < geometry.line_count(d); ++line) count_line(board.line(d, line), 1, counts_);
}

void StoneShapeBoard::make(Point point) {
  StoneShapeCounts delta{};
  count_lines(board_, point, -1, delta);
  board_.make(point);
  count_lines(board_, point, 1, delta);
  first_changes_.push_back(changes_.size());
  for (const Colour colour : {kBlack, kWhite}) {
    for (int shape = 0; shape < kStoneShapes; ++shape) {
      const std::int16_t amount = delta[colour][shape];
      if (amount == 0) continue;
      counts_[colour][shape] = static_cast<std::int16_t>(counts_[colour][shape] + amount);
      changes_.push_back({colour, static_cast<std::uint8_t>(shape), amount});
    }
  }
}

void StoneShapeBoard::unmake() {
  board_.unmake();
  visit_changes([this](Colour colour, int shape, int amount) {
    counts_[colour][shape] = static_cast<std::int16_t>(counts_[colour][shape] - amount);
  });
  changes_.resize(first_changes_.back());
  first_changes_.pop_back();
}

}  // namespace tengen
