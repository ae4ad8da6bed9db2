// A board that knows, at every moment, what a stone of either colour would make on every empty point.
//
// make and unmake refresh only the points in reach of the stone, and keep with them: how many points offer each threat,
// which points offer a five, a four or a three, the sum of point values, and the candidate set. Every tactical question
// of the search is then a lookup.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/board.h"
#include "core/point_set.h"
#include "patterns/shapes.h"

namespace tengen {

// Worth of an empty point for a colour, by the code of its four shapes. Supplied by eval/.
struct PointValues {
  std::array<std::array<std::int16_t, kShapeCodes>, 2> value{};
};

class PatternBoard {
 public:
  // `values` must outlive the board. Win length 4 or 5.
  PatternBoard(const Board& board, const PointValues& values);

  const Board& board() const { return board_; }
  const Rules& rules() const { return board_.rules(); }
  const Geometry& geometry() const { return board_.geometry(); }
  int reach() const { return tables_->reach(); }
  Colour to_move() const { return board_.to_move(); }
  bool is_empty(Point p) const { return board_.is_empty(p); }
  std::uint64_t hash() const { return board_.hash(); }

  void make(Point point);
  void unmake();
  void pass() { board_.pass(); }

  // What a stone of `colour` would make on the empty point.
  Threat threat(Colour colour, Point p) const { return static_cast<Threat>(threats_[colour][p]); }
  LineShape shape(Colour colour, int direction, Point p) const {
    return static_cast<LineShape>(colour == kBlack ? shapes_[direction][p] & 15 : shapes_[direction][p] >> 4);
  }
  ShapeCode code(Colour colour, Point p) const { return codes_[colour][p]; }

  // The shape as it would be with an enemy stone of `colour` on the empty point `block` of the same line.
  LineShape shape_if_blocked(Colour colour, int direction, Point p, Point block) const;

  // How many empty points offer exactly this threat.
  int count(Colour colour, Threat threat) const { return counts_[colour][threat]; }

  // Empty points where a stone of `colour` makes five; a four of any kind; an open three but no four.
  // Points that may be fouls are in neither: see doubtful().
  const PointSet& fives(Colour colour) const { return fives_[colour]; }
  const PointSet& fours(Colour colour) const { return fours_[colour]; }
  const PointSet& threes(Colour colour) const { return threes_[colour]; }

  // Empty points where black in renju may commit a foul.
  const PointSet& doubtful() const { return doubtful_; }

  // Empty points near a stone; the centre of an empty board.
  PointSet candidates() const;
  // Points near `point`, occupied ones included.
  const PointSet& neighbourhood(Point point) const { return neighbours_[point]; }
  const PointSet& occupied() const { return occupied_; }

  // The threat of a point if the shape along one of its lines were another.
  Threat threat_with(Colour colour, Point p, int direction, LineShape other) const;

  // Sum of point values, black's minus white's.
  int value_sum() const { return value_sum_; }

  // Whether black may play `p` in renju. Asks the exact foul finder only where a foul is possible.
  bool is_legal(Colour colour, Point p) const;

  // Empty text when the incremental state agrees with the stones, else what does not.
  std::string check() const;

 private:
  struct Change {
    Point point;
    std::uint8_t direction;
    std::uint8_t shapes;
    std::array<ShapeCode, 2> codes;
  };
  static int sign(Colour colour) { return colour == kBlack ? 1 : -1; }

  void refresh_all();
  void refresh_around(Point point);
  void set_code(Colour colour, Point p, ShapeCode code);
  void count_in(Colour colour, Point p);
  void count_out(Colour colour, Point p);
  void toggle_sets(Colour colour, Point p, Threat t);

  Board board_;
  const PatternTables* tables_;
  const ShapeCodes* shape_codes_;
  const PointValues* values_;
  const PointSet* neighbours_;  // by point

  std::array<std::array<std::uint8_t, kMaxArea>, kDirections> shapes_{};
  std::array<std::array<ShapeCode, kMaxArea>, 2> codes_{};
  std::array<std::array<std::uint8_t, kMaxArea>, 2> threats_{};
  std::array<std::array<std::int16_t, threat::kCount>, 2> counts_{};
  std::array<PointSet, 2> fives_;
  std::array<PointSet, 2> fours_;
  std::array<PointSet, 2> threes_;
  PointSet doubtful_;
  PointSet occupied_;
  int value_sum_ = 0;

  std::vector<PointSet> near_;               // per ply: points near a stone, occupied ones included
  std::vector<std::uint32_t> first_change_;  // per ply: where its entries in changes_ begin
  std::vector<Change> changes_;
};

}  // namespace tengen
