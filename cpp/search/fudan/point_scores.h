// The stones of a position and the scores of every point for both colours, updated incrementally.
//
// A point has a score for each colour and direction: the value of a stone of that colour there, which may be on the
// board or hypothetical. A new stone changes scores only along its four lines, and on each line only the scores in
// the direction of that line. Two techniques from the report reduce the work along a line:
//   blocked-direction update: for each colour, the update stops at the first enemy stone;
//   peer update: adjacent stones of a colour have the same score along their line, so the second one copies it.
// Neither affects the scores.
#pragma once

#include <array>
#include <cstdint>

#include "core/board.h"
#include "core/point_set.h"
#include "search/fudan/shapes.h"

namespace tengen::fudan {

enum class Evaluation : std::uint8_t { kDictionary, kTable };

struct ScoreOptions {
  Keys keys = Keys::kAll;
  Evaluation evaluation = Evaluation::kDictionary;
  bool blocked_update = true;
  bool peer_update = true;  // not used with the table, where a look-up is as cheap as a copy
};

class PointScores {
 public:
  // The rules must be freestyle or standard, with win length 5.
  PointScores(const ScoreOptions& options, const Board& board);

  const Geometry& geometry() const { return *geometry_; }
  int area() const { return geometry_->area(); }
  int stones() const { return stones_; }
  bool is_empty(Point point) const { return cells_[point] == kEmpty; }

  // Zobrist key of the stones.
  std::uint64_t hash() const { return hash_; }

  // Place a stone on an empty point, or remove a stone. Colours need not alternate.
  void place(Point point, Colour colour);
  void remove(Point point);

  // 0 on a stone of the other colour.
  Score score(Colour colour, Point point) const { return totals_[colour][point]; }
  Score score(Colour colour, Point point, int direction) const { return scores_[colour][point][direction]; }

  // Sum of the scores of all of a colour's stones.
  std::int64_t stone_sum(Colour colour) const { return stone_sums_[colour]; }

  // The empty points next to a stone.
  const PointSet& neighbours() const { return neighbours_; }

 private:
  void toggle(Point point, Colour colour);
  void count_neighbours(Point point, int change);
  void update_lines(Point point);
  void update_side(Point point, int direction, int step);
  Score compute(Colour colour, Point point, int direction) const;
  void set(Colour colour, Point point, int direction, Score score);

  const Geometry* geometry_;
  const ScoreDictionary* dictionary_;
  const LineTable* table_;  // null if the dictionary is used directly
  bool only_five_wins_;
  bool blocked_update_;
  bool peer_update_;

  std::array<Cell, kMaxArea> cells_{};
  std::array<std::array<std::array<std::uint32_t, kMaxLines>, kDirections>, 2> lines_{};  // stones by colour
  std::array<std::array<std::uint32_t, kMaxLines>, kDirections> walls_{};
  std::array<std::array<std::array<Score, kDirections>, kMaxArea>, 2> scores_{};
  std::array<std::array<Score, kMaxArea>, 2> totals_{};
  std::array<std::int64_t, 2> stone_sums_{};
  std::array<std::uint8_t, kMaxArea> stones_near_{};
  PointSet neighbours_;
  std::uint64_t hash_ = 0;
  int stones_ = 0;
};

}  // namespace tengen::fudan
